#===- untrusted_cases.py - files nobody should trust ---------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Models with side files and graphs that are wrong on purpose."""

from case_list import Variant, case
from onnx_writer import Model, chunk, node, number, tensor

def external(entries, dims=(4,)):
    m = Model()
    m.input("x", "f32", [4])
    m.weight("w", "f32", list(dims), external=entries)
    m.node("Add", ["x", "w"], ["y"], name="add")
    m.output("y")
    return m


@case
def s01_external_data_stays_inside():
    variants = []
    for name, location in {
            "up": "../secret.bin", "absolute": "/etc/passwd",
            "inside_out": "a/../../b", "empty": "", "link": "link.bin",
            "folder": "sub", "missing": "nothing.bin"}.items():
        variants.append(Variant(name, external({"location": location}),
                                errors=["external data"]))
    variants.append(Variant("good", external({"location": "sub/good.bin",
                                              "offset": 3, "length": 16}),
                            {"x": ([4], [0.0] * 4)},
                            {"y": ([4], [1.0, 2.0, 3.0, 4.0])},
                            text=["#nn.file<"]))
    return variants


@case
def s04_external_extents():
    good = {"location": "sub/good.bin"}
    errors = {
        "negative": (dict(good, offset=-1), [4]),
        "petabytes": (dict(good, length=2**60), [4]),
        "past_the_end": (dict(good, offset=2**62, length=16), [4]),
        "one_past_the_end": (dict(good, offset=4, length=16), [4]),
        "other_length": (dict(good, length=12), [4]),
        "unknown_key": (dict(good, address=7), [4]),
        "no_number": (dict(good, offset="0x10"), [4]),
        "overflow": (good, [2**33, 2**33]),
        "hidden_overflow": (good, [2**62, 2**62, 0]),
        "negative_dim": (good, [-4]),
    }
    return [Variant(name, external(entries, dims), errors=["'w'"])
            for name, (entries, dims) in errors.items()]


@case
def broken_graphs():
    def start():
        m = Model()
        m.input("x", "f32", [2])
        return m

    dangling = start()
    dangling.node("Relu", ["nowhere"], ["y"], name="relu")
    dangling.output("y")
    cycle = start()
    cycle.node("Add", ["x", "b"], ["a"], name="first")
    cycle.node("Relu", ["a"], ["b"], name="second")
    cycle.output("b")
    twice = start()
    twice.node("Relu", ["x"], ["y"], name="first")
    twice.node("Relu", ["x"], ["y"], name="second")
    twice.output("y")
    unordered = start()
    unordered.node("Relu", ["a"], ["y"], name="second")
    unordered.node("Add", ["x", "x"], ["a"], name="first")
    unordered.output("y")
    missing = start()
    missing.node("Relu", ["x"], ["a"], name="relu")
    missing.output("y")
    short = start()
    short.weight("w", "f32", [2], data=b"\0\0\0\0")
    short.node("Add", ["x", "w"], ["y"], name="add")
    short.output("y")
    long = start()
    long.weight("w", "f32", [2], data=b"\0" * 4000)
    long.node("Add", ["x", "w"], ["y"], name="add")
    long.output("y")
    segment = start()
    segment.graph += chunk(5, tensor("w", "f32", [2], [1.0, 2.0])
                           + chunk(3, number(1, 0) + number(2, 8)))
    segment.node("Add", ["x", "w"], ["y"], name="add")
    segment.output("y")
    attribute = start()
    attribute.node("Relu", ["x"], ["y"], name="relu", slope=0.5)
    attribute.output("y")
    kind = start()
    kind.node("Softmax", ["x"], ["y"], name="softmax", axis=1.0)
    kind.output("y")
    arity = start()
    arity.node("Add", ["x"], ["y"], name="add")
    arity.output("y")
    two_faults = start()
    two_faults.node("Softmax", ["x"], ["a"], name="one", axis=7)
    two_faults.node("Flatten", ["x"], ["b"], name="two", axis=9)
    two_faults.node("Add", ["a", "b"], ["y"], name="three")
    two_faults.output("y")
    return [
        Variant("dangling", dangling,
                errors=["'relu' (Relu) reads 'nowhere'"]),
        Variant("cycle", cycle, errors=["'first' (Add)", "'second' (Relu)",
                                        "cycle"]),
        Variant("twice", twice,
                errors=["'second' (Relu) defines 'y'", "'first' (Relu)"]),
        Variant("unordered", unordered, {"x": ([2], [-1.0, 2.0])},
                {"y": ([2], [0.0, 4.0])}),
        Variant("missing_output", missing, errors=["output 'y'"]),
        Variant("short_data", short, errors=["'w'", "1 elements, expected 2"]),
        Variant("long_data", long,
                errors=["'w'", "4000 bytes of data, expected 8"]),
        Variant("segment", segment, errors=["stored in segments"]),
        Variant("unknown_attribute", attribute,
                errors=["unknown attribute 'slope'"]),
        Variant("attribute_type", kind,
                errors=["'axis' is of type FLOAT, expected INT"]),
        Variant("arity", arity, errors=["'add' (Add): input 1 is missing"]),
        Variant("all_faults", two_faults,
                errors=["'one' (Softmax): axis is 7",
                        "'two' (Flatten): axis is 9"]),
    ]


# ---- Running -------------------------------------------------------------------
