#===- cases.py - reported faults of other importers, as models ----------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Small models of what importers get wrong, with the right answers.

    cases.py CASE TOOL FOLDER

writes the models of CASE to FOLDER and runs TOOL (partita-import-tool) on them.
A model either gives values, which nn_interpreter.py computes from the imported
module, or is refused with diagnostics that hold the listed texts.
"""

import math
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import untrusted_cases  # noqa: E402,F401 adds its cases to the list
from case_list import CASES, Variant, case, one_node, ramp  # noqa: E402
from onnx_writer import (Graph, Model, Reference, Tensor, chunk,  # noqa: E402
                         node, tensor)


# ---- A: meaning of operators -------------------------------------------------


@case
def a01_softmax_flattens_up_to_opset_12():
    x = ([2, 3, 4], [0.0] * 24)
    flat = ([2, 3, 4], [1 / 12] * 24)
    last = ([2, 3, 4], [1 / 4] * 24)
    return [
        Variant("opset_11", one_node("Softmax", {"x": [2, 3, 4]}, 11),
                {"x": x}, {"y": flat}),
        Variant("opset_12_axis_2",
                one_node("Softmax", {"x": [2, 3, 4]}, 12, axis=2),
                {"x": x}, {"y": last}),
        Variant("opset_13", one_node("Softmax", {"x": [2, 3, 4]}, 13),
                {"x": x}, {"y": last}),
        Variant("opset_13_axis_1",
                one_node("Softmax", {"x": [2, 3, 4]}, 13, axis=1),
                {"x": x}, {"y": ([2, 3, 4], [1 / 3] * 24)}),
        Variant("log_opset_11", one_node("LogSoftmax", {"x": [2, 3, 4]}, 11),
                {"x": x}, {"y": ([2, 3, 4], [-2.4849066] * 24)}),
    ]


def reshape(shape, target, opset=17, **attributes):
    m = Model(opset=opset)
    m.input("x", "f32", shape)
    m.weight("target", "i64", [len(target)], target)
    m.node("Reshape", ["x", "target"], ["y"], name="reshape", **attributes)
    m.output("y")
    return m


@case
def a03_reshape_zero_copies():
    return [
        Variant("three", reshape([2, 2, 3, 2], [-1, 0, 0]),
                {"x": ramp(2, 2, 3, 2)}, {"y": ramp(4, 2, 3)}),
        Variant("four", reshape([2, 2, 3, 2, 4], [0, -1, 0, 0]),
                {"x": ramp(2, 2, 3, 2, 4)}, {"y": ramp(2, 8, 3, 2)}),
        Variant("beyond", reshape([2, 2], [4, 1, 0]),
                errors=["'reshape' (Reshape)", "copies dimension 2"]),
    ]


@case
def a05_reshape_allowzero():
    return [
        Variant("inferred", reshape([1, 32, 5, 5], [-1, 2, 4, 4, 5, 5],
                                    allowzero=1),
                {"x": ramp(1, 32, 5, 5)}, {"y": ramp(1, 2, 4, 4, 5, 5)}),
        Variant("both", reshape([1, 2048, 1, 0], [-1, 1, 1, 0, 0, 2048],
                                allowzero=1),
                errors=["'reshape' (Reshape)", "both 0 and -1"]),
    ]


@case
def a06_average_pool_ceil():
    y = [1.5555556, 3.3333333, 2.0, 6.3333333, 11.0, 6.0, 4.5, 7.5, 4.0]
    return [
        Variant(f"opset_{opset}",
                one_node("AveragePool", {"x": [1, 1, 4, 4]}, opset,
                         kernel_shape=[3, 3], strides=[2, 2],
                         pads=[1, 1, 1, 1], ceil_mode=1,
                         count_include_pad=1),
                {"x": ramp(1, 1, 4, 4, start=1.0)}, {"y": ([1, 1, 3, 3], y)})
        for opset in (10, 19)
    ]


@case
def a08_average_pool_auto_pad():
    # Columns 0..5, rows of two; two begin and two end pads count.
    x = ramp(1, 1, 6, 2)
    columns = [[r * 2 + c for r in range(6)] for c in range(2)]
    y = []
    for r in range(6):
        for c in range(2):
            y.append(sum(columns[c][max(0, r - 2):r + 3]) / 5)
    return [
        Variant(f"opset_{opset}",
                one_node("AveragePool", {"x": [1, 1, 6, 2]}, opset,
                         kernel_shape=[5, 1], auto_pad="SAME_LOWER",
                         count_include_pad=1),
                {"x": x}, {"y": ([1, 1, 6, 2], y)})
        for opset in (11, 19)
    ]


@case
def a09_asymmetric_pads():
    x = ramp(1, 1, 4, 4)
    pool = one_node("AveragePool", {"x": [1, 1, 4, 4]}, 17,
                    kernel_shape=[2, 2], pads=[0, 0, 1, 1])
    y = []
    for r in range(4):
        for c in range(4):
            cells = [x[1][i * 4 + j] for i in (r, r + 1) for j in (c, c + 1)
                     if i < 4 and j < 4]
            y.append(sum(cells) / len(cells))
    line = one_node("AveragePool", {"x": [1, 1, 4]}, 17, kernel_shape=[2],
                    pads=[0, 1])
    conv = Model()
    conv.input("x", "f32", [1, 1, 4, 4])
    conv.weight("w", "f32", [1, 1, 2, 2], [1.0, 0.0, 0.0, 1.0])
    conv.node("Conv", ["x", "w"], ["y"], name="conv", pads=[0, 0, 1, 1])
    conv.output("y")
    z = [x[1][r * 4 + c] + (x[1][r * 4 + c + 5] if r < 3 and c < 3 else 0.0)
         for r in range(4) for c in range(4)]
    return [
        Variant("pool", pool, {"x": x}, {"y": ([1, 1, 4, 4], y)}),
        Variant("pool_1d", line, {"x": ([1, 1, 4], [0.0, 2.0, 4.0, 6.0])},
                {"y": ([1, 1, 4], [1.0, 3.0, 5.0, 6.0])}),
        Variant("conv", conv, {"x": x}, {"y": ([1, 1, 4, 4], z)}),
    ]


def pool_and_concat(other):
    m = Model()
    m.input("x", "f32", [1, 1, 5, 5])
    m.input("z", "f32", [1, 1, other, other])
    m.node("MaxPool", ["x"], ["p"], name="pool", kernel_shape=[2, 2],
           strides=[2, 2], ceil_mode=1)
    m.node("Relu", ["z"], ["r"], name="relu")
    m.node("Concat", ["p", "r"], ["y"], name="join", axis=1)
    m.output("y")
    return m


@case
def a11_max_pool_ceil_shape():
    maxima = [6.0, 8.0, 9.0, 16.0, 18.0, 19.0, 21.0, 23.0, 24.0]
    return [
        Variant("fits", pool_and_concat(3),
                {"x": ramp(1, 1, 5, 5), "z": ramp(1, 1, 3, 3)},
                {"y": ([1, 2, 3, 3], maxima + ramp(9)[1])}),
        Variant("clashes", pool_and_concat(2),
                errors=["'join' (Concat)", "node 'pool' (MaxPool)",
                        "node 'relu' (Relu)"]),
    ]


@case
def a12_gemm_bias_shapes():
    a = ramp(2, 3)
    b = ramp(2, 3, start=1.0)
    # A times B transposed, times 0.5.
    rows = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    columns = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    product = [0.5 * sum(p * q for p, q in zip(r, c))
               for r in rows for c in columns]
    variants = []
    for name, shape in {"vector": [2], "one": [1], "scalar": [],
                        "column": [2, 1], "row": [1, 2], "full": [2, 2],
                        "absent": None}.items():
        m = Model()
        m.input("a", "f32", [2, 3])
        m.input("b", "f32", [2, 3])
        inputs, bias = ["a", "b"], [0.0] * 4
        if shape is not None:
            count = 1
            for size in shape:
                count *= size
            values = [float(i + 1) for i in range(count)]
            m.weight("c", "f32", shape, values)
            inputs.append("c")
            bias = [2.0 * (values[0] if count == 1
                           else values[i] if count == 4
                           else values[i % 2] if shape != [2, 1]
                           else values[i // 2]) for i in range(4)]
        m.node("Gemm", inputs, ["y"], name="gemm", transB=1, alpha=0.5,
               beta=2.0)
        m.output("y")
        variants.append(
            Variant(name, m, {"a": a, "b": b},
                    {"y": ([2, 2], [p + q for p, q in zip(product, bias)])}))
    return variants


@case
def a13_gemm_bias_does_not_fit():
    m = Model()
    m.input("a", "f32", ["n", 3])
    m.weight("b", "f32", [3, 1])
    m.weight("c", "f32", [1, 4])
    m.node("Gemm", ["a", "b", "c"], ["y"], name="gemm")
    m.output("y")
    return [Variant("wide", m, options=["--batch", "5"],
                    errors=["node 'gemm' (Gemm)", "'c' of shape 1x4",
                            "the product's shape 5x1"])]


@case
def a14_broadcast_with_leading_ones():
    return [
        Variant("left", one_node("Add", {"a": [1, 1, 5], "b": [5]}, 17),
                {"a": ramp(1, 1, 5), "b": ramp(5)},
                {"y": ramp(1, 1, 5, step=2.0)}),
        Variant("right", one_node("Sub", {"a": [5], "b": [1, 1, 5]}, 17),
                {"a": ramp(5), "b": ramp(1, 1, 5, step=3.0)},
                {"y": ramp(1, 1, 5, step=-2.0)}),
    ]


@case
def a15_half_precision_encodings():
    variants = []
    values = [0.25, 0.5, 1.0, 2.0, float("inf"), float("nan")]
    for kind in ("f16", "bf16"):
        for encoding in ("raw", "typed"):
            for how in ("weight", "folded"):
                m = Model()
                m.input("x", "f32", [6])
                m.weight("w", kind, [6], values, encoding=encoding)
                source = "w"
                if how == "folded":
                    m.node("Constant", [], ["c"], name="constant",
                           value=Tensor(tensor("", kind, [6], values,
                                               encoding)))
                    source = "c"
                m.node("Cast", [source], ["f"], name="cast", to=1)
                m.node("Add", ["x", "f"], ["y"], name="add")
                m.output("y")
                variants.append(
                    Variant(f"{kind}_{encoding}_{how}", m,
                            {"x": ([6], [0.0] * 6)}, {"y": ([6], values)},
                            text=[f"tensor<6x{kind}>"]
                            if how == "weight" else ["tensor<6xf32>"]))
    return variants


@case
def a16_clip_optional_bounds():
    x = ([4], [-2.0, -0.5, 0.5, 2.0])

    def clip(inputs, kind="f32", opset=12, **attributes):
        m = Model(opset=opset)
        m.input("x", kind, [4])
        m.weight("low", kind, [], [-1])
        m.weight("high", kind, [], [1])
        m.node("Clip", inputs, ["y"], name="clip", **attributes)
        m.output("y", kind)
        return m

    whole = ([4], [-20, -1, 0, 20])
    return [
        Variant("max", clip(["x", "", "high"], opset=11), {"x": x},
                {"y": ([4], [-2.0, -0.5, 0.5, 1.0])}),
        Variant("min", clip(["x", "low"], opset=11), {"x": x},
                {"y": ([4], [-1.0, -0.5, 0.5, 2.0])}),
        Variant("neither", clip(["x"], opset=11), {"x": x}, {"y": x}),
        Variant("both", clip(["x", "low", "high"]), {"x": x},
                {"y": ([4], [-1.0, -0.5, 0.5, 1.0])}),
        Variant("attributes", clip(["x"], opset=6 + 1, max=1.0), {"x": x},
                {"y": ([4], [-2.0, -0.5, 0.5, 1.0])}),
        Variant("integers", clip(["x", "", "high"], kind="i32"),
                {"x": whole}, {"y": ([4], [-20, -1, 0, 1])}),
    ]


def batch_norm(opset, outputs, **attributes):
    m = Model(opset=opset)
    m.input("x", "f32", [2, 3, 2, 2])
    for name, value in {"gamma": 1.0, "beta": 0.0, "mean": 0.0,
                        "variance": 1.0}.items():
        m.weight(name, "f32", [3], [value] * 3)
    m.node("BatchNormalization", ["x", "gamma", "beta", "mean", "variance"],
           ["y", "m", "v", "sm", "sv"][:outputs], name="bn", **attributes)
    m.output("y")
    return m


@case
def a17_batch_norm_modes():
    trains = ["nn.batch_norm global", "nn.variable @mean state",
              "nn.variable @variance state"]
    frozen = ["nn.batch_norm frozen", "nn.variable @mean constant"]
    momentum = ["momentum = 0.89999997615814208"]
    return [
        Variant("one_result", batch_norm(15, 1, training_mode=1,
                                         momentum=0.9),
                text=trains + momentum),
        Variant("three_results", batch_norm(15, 3, training_mode=1),
                text=trains + momentum),
        Variant("five_results", batch_norm(9, 5), text=trains),
        Variant("inference", batch_norm(15, 1), text=frozen),
        Variant("inference_opset_9", batch_norm(9, 1), text=frozen),
        Variant("chosen", batch_norm(9, 1), text=["nn.batch_norm local"],
                options=["--batch-norm=local"]),
    ]


@case
def a18_if_is_refused():
    then = Graph(chunk(1, node("Add", ["a", "b"], ["t"]))
                 + chunk(2, "then") + chunk(12, chunk(1, "t")))
    m = Model()
    m.input("cond", "bool", [])
    m.input("a", "f32", [2])
    m.input("b", "f32", [2])
    m.node("If", ["cond"], ["y"], name="branch", then_branch=then,
           else_branch=then)
    m.output("y")
    return [Variant("if", m, errors=["unsupported op If (node branch)",
                                     "fixed control flow"])]


@case
def a21_local_functions():
    m = Model(opset=17, domains={"my": 1})
    inner = [node("Constant", [], ["c"], value_int=Reference("inner")),
             node("Cast", ["c"], ["f"], to=1),
             node("Add", ["X", "f"], ["Y"])]
    m.function("my", "f1", ["X"], ["Y"], ["inner"], inner)
    m.function("my", "f2", ["x"], ["y"], ["outer"],
               [node("f1", ["x"], ["y"], domain="my",
                     inner=Reference("outer"))])
    m.input("x", "f32", [3])
    m.node("f2", ["x"], ["y"], name="call", domain="my", outer=1)
    m.output("y")
    loop = Model(opset=17, domains={"my": 1})
    loop.function("my", "f", ["x"], ["y"], [],
                  [node("f", ["x"], ["t"], domain="my"),
                   node("f", ["t"], ["y"], domain="my")])
    loop.input("x", "f32", [3])
    loop.node("f", ["x"], ["y"], name="call", domain="my")
    loop.output("y")
    return [
        Variant("two_levels", m, {"x": ([3], [0.0] * 3)},
                {"y": ([3], [1.0] * 3)}),
        Variant("recursion", loop, errors=["does it call itself"]),
    ]


@case
def a22_initializers_listed_as_inputs():
    variants = []
    for version in (3, 8):
        m = Model(opset=9, ir_version=version)
        m.input("x", "f32", ["batch", 2])
        if version == 3:
            m.input("w", "f32", [2, 2])
        m.weight("w", "f32", [2, 2], [1.0, 2.0, 3.0, 4.0])
        m.node("MatMul", ["x", "w"], ["y"], name="product")
        m.output("y")
        variants.append(Variant(
            f"ir_{version}", m, {"x": ([1, 2], [1.0, 1.0])},
            {"y": ([1, 2], [4.0, 6.0])}, options=["--batch", "1"],
            text=["nn.variable @w parameter",
                  "@forward(%arg0: tensor<1x2xf32>"]))
    return variants


@case
def a23_names():
    names = ["a-b", "a_b", "a--b", "gpu_0/data_0", "10", "class", "n" * 300,
             "größe", 'quo"te', "new\nline"]
    m = Model()
    m.input("x y", "f32", [2])
    previous = "x y"
    for i, name in enumerate(names):
        m.weight(name, "f32", [2], [float(i), 1.0])
        previous = m.node("Add", [previous, name], [f"{name}/sum"])
    m.node("Identity", [previous], ["the result"], name="last")
    m.output("the result")
    total = float(sum(range(len(names))))
    return [Variant("all", m, {"x y": ([2], [0.0, 0.0])},
                    {"the result": ([2], [total, float(len(names))])})]


@case
def a24_invalid_ranks():
    conv = Model()
    conv.input("x", "f32", [1, 1, 4, 4])
    conv.weight("w", "f32", [], [1.0])
    conv.weight("b", "f32", [1, 1, 1, 1, 1], [1.0])
    conv.node("Conv", ["x", "w", "b"], ["y"], name="conv")
    conv.output("y")
    gemm = Model(opset=7)
    gemm.input("a", "f32", [2, 3])
    gemm.weight("b", "f32", [], [1.0])
    gemm.weight("c", "f32", [1], [1.0])
    gemm.node("Gemm", ["a", "b", "c"], ["y"], name="gemm", transB=823)
    gemm.output("y")
    return [
        Variant("conv", conv, errors=["'conv' (Conv)", "rank 0"]),
        Variant("gemm", gemm, errors=["'gemm' (Gemm)", "rank 0"]),
    ]


def resize(shape, scales=None, sizes=None, **attributes):
    m = Model(opset=13)
    m.input("x", "f32", shape)
    inputs = ["x", ""]
    if scales:
        m.weight("scales", "f32", [len(scales)], scales)
        inputs.append("scales")
    else:
        m.weight("sizes", "i64", [len(sizes)], sizes)
        inputs += ["", "sizes"]
    m.node("Resize", inputs, ["y"], name="resize", **attributes)
    m.output("y")
    return m


@case
def a26_resize_axes_and_borders():
    # Origins -0.25, 0.25, 0.75, ...: floor and clamp.
    picks = [max(0, math.floor((i + 0.5) / 2 - 0.5)) for i in range(8)]
    x = ramp(1, 1, 4, 4)
    y = [x[1][4 * r + c] for r in picks for c in picks]
    # Origins (i + 0.5) / 3, rounded up and clamped.
    wide = [min(9, math.ceil((i + 0.5) / 3)) for i in range(30)]
    big = ramp(4, 4, 10, 10)
    z = [big[1][100 * n + 10 * r + c] for n in range(16) for r in wide
         for c in wide]
    return [
        Variant("floor", resize([1, 1, 4, 4], [1.0, 1.0, 2.0, 2.0],
                                mode="nearest", nearest_mode="floor"),
                {"x": x}, {"y": ([1, 1, 8, 8], y)}),
        Variant("middle_axes", resize([1, 36, 42, 384], [1.0, 2.0, 2.0, 1.0],
                                      mode="nearest"),
                text=["-> tensor<1x72x42x384xf32>",
                      "-> tensor<1x72x84x384xf32>"]),
        Variant("ceil", resize([4, 4, 10, 10], sizes=[4, 4, 30, 30],
                               mode="nearest", nearest_mode="ceil",
                               coordinate_transformation_mode=
                               "tf_half_pixel_for_nn"),
                {"x": big}, {"y": ([4, 4, 30, 30], z)}),
        Variant("no_size", resize([1, 1, 4, 4], [1.0, 1.0, 0.1, 0.1],
                                  mode="nearest"),
                errors=["'resize' (Resize)", "no usable size"]),
    ]


@case
def a29_shape_chain():
    m = Model()
    m.input("x", "f32", ["n", 16, 4, 4])
    m.node("Shape", ["x"], ["s"], name="shape")
    m.node("Cast", ["s"], ["f"], name="to_float", to=1)
    for name, values in {"zero": [0], "one": [1]}.items():
        m.weight(name, "i64", [1], values)
    m.node("Slice", ["f", "zero", "one"], ["part"], name="slice")
    m.node("Squeeze", ["part"], ["n1"], name="squeeze")
    m.node("Cast", ["n1"], ["n2"], name="to_int", to=7)
    m.node("Unsqueeze", ["n2", "zero"], ["n3"], name="unsqueeze")
    m.weight("rest", "i64", [2], [256, -1])
    m.node("Concat", ["n3", "rest"], ["target"], name="concat", axis=0)
    m.node("Reshape", ["x", "target"], ["y"], name="reshape")
    m.output("y")
    return [Variant("chain", m, {"x": ramp(3, 16, 4, 4)},
                    {"y": ramp(3, 256, 1)}, options=["--batch", "3"],
                    text=["nn.reshape"], absent=["nn.cast", "nn.slice"])]


@case
def a30_rank_zero():
    m = Model()
    m.input("x", "f32", [])
    m.weight("w", "f32", [], [2.0])
    m.node("Add", ["x", "w"], ["y"], name="add")
    m.output("y", "f32", [])
    return [
        Variant("constant", m, {"x": ([], [1.0])}, {"y": ([], [3.0])},
                text=["tensor<f32>"], absent=["tensor<1xf32>"]),
        Variant("trained", m, {"x": ([], [1.0])}, {"y": ([], [3.0])},
                text=["nn.variable @w parameter : tensor<f32>"],
                options=["--train-constants"]),
    ]


@case
def a32_quantized_models_are_refused():
    m = Model(opset=13)
    m.input("x", "i8", [2, 3])
    m.weight("scale", "f32", [3], [0.5, 2.0, 10.0])
    m.weight("zero", "i8", [3], [0, 1, -1])
    m.node("DequantizeLinear", ["x", "scale", "zero"], ["y"],
           name="dequantize", axis=1)
    m.output("y")
    return [Variant("refused", m,
                    errors=["unsupported op DequantizeLinear (node "
                            "dequantize)", "before quantization"])]


@case
def a33_unknown_operators():
    m = Model(domains={"acme": 1})
    m.input("x", "f32", [2])
    m.node("Foo", ["x"], ["a"], name="n7", domain="acme")
    m.node("NotAnOperator", ["a"], ["b"], name="n8")
    m.node("Bar", ["b"], ["y"], name="n9", domain="acme")
    m.output("y")
    fused = Model(domains={"com.microsoft": 1})
    fused.input("x", "f32", [2])
    fused.node("FusedConv", ["x"], ["y"], name="n1", domain="com.microsoft")
    fused.output("y")
    new = Model(opset=999)
    new.input("x", "f32", ["batch", 1, 4])
    new.weight("w", "f32", [1, 1, 1])
    new.node("Conv", ["x", "w"], ["y"], name="conv")
    new.output("y")
    return [
        Variant("all_listed", m,
                errors=["unsupported op acme::Foo (node n7)",
                        "unsupported op NotAnOperator (node n8)",
                        "unsupported op acme::Bar (node n9)"]),
        Variant("optimised", fused,
                errors=["com.microsoft::FusedConv (node n1); the model was "
                        "optimised for inference"]),
        Variant("opset_999", new,
                errors=["unsupported opset 999",
                        "unsupported op Conv (node conv) at opset 999",
                        "--batch N or --dim batch=N"]),
    ]


@case
def a34_look_ups_by_data():
    def look_up(elements, indices, axis=0, table="f32", many=()):
        m = Model()
        m.input("x", "f32", ["n", 2])
        if many:
            m.weight("i", elements, [len(many)], list(many))
        else:
            m.input("i", elements, indices)
        m.weight("w", table, [3, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        m.node("Gather", ["w", "i"], ["g"], name="embed", axis=axis)
        m.node("ReduceSum", ["g", "first"], ["s"], name="sum", keepdims=0)
        m.weight("first", "i64", [1], [0])
        m.node("Add", ["x", "s"], ["y"], name="add")
        m.output("y")
        return m

    x = ([1, 2], [0.0, 0.0])
    tied = Model()
    tied.input("i", "i64", ["n", 2])
    tied.weight("w", "f32", [3, 2], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    tied.node("Gather", ["w", "i"], ["h"], name="embed")
    tied.node("Transpose", ["w"], ["t"], name="turn", perm=[1, 0])
    tied.node("MatMul", ["h", "t"], ["y"], name="head")
    tied.output("y")
    many = [0, 1, 0, 2, 2, 1, 0, 0] * 5
    return [
        # Rows 2, 0 and, from the end, 2.
        Variant("tokens", look_up("i64", [3]),
                {"x": x, "i": ([3], [2, 0, -1])},
                {"y": ([1, 2], [11.0, 14.0])}, options=["--batch", "1"],
                text=["nn.gather", "limit = 3 : i64", "nn.limit = 3 : i64",
                      "nn.variable @w parameter"]),
        Variant("columns", look_up("i32", [2], axis=1),
                {"x": x, "i": ([2], [1, -2])}, {"y": ([1, 2], [12.0, 9.0])},
                options=["--batch", "1"], text=["nn.limit = 2 : i64"]),
        # Known indices in many runs are one look-up, in few runs slices.
        Variant("many", look_up("i64", None, many=many), {"x": x},
                {"y": ([1, 2], [100.0, 140.0])}, options=["--batch", "1"],
                text=["nn.gather"], absent=["nn.slice"]),
        Variant("few", look_up("i64", None, many=many[:3]), {"x": x},
                {"y": ([1, 2], [5.0, 8.0])}, options=["--batch", "1"],
                text=["nn.slice"], absent=["nn.gather"]),
        Variant("tied", tied, {"i": ([1, 2], [0, 2])},
                {"y": ([1, 2, 3], [5.0, 11.0, 17.0, 17.0, 39.0, 61.0])},
                options=["--batch", "1"], text=["nn.variable @w parameter"],
                absent=["%1 = nn.read", "@w#"]),
        Variant("short", look_up("i8", [3]), options=["--batch", "1"],
                errors=["node 'embed' (Gather): the indices, input 'i' of "
                        "shape 3 from the model's inputs, must be integers of "
                        "32 or 64 bits"]),
        Variant("real", look_up("f32", [3]), options=["--batch", "1"],
                errors=["the indices, input 'i' of shape 3 from the model's "
                        "inputs, must be integers"]),
        Variant("outside", look_up("i64", None, many=[0, 3]),
                options=["--batch", "1"],
                errors=["index 3 is outside dimension 0"]),
    ]


# ---- C: weights --------------------------------------------------------------


@case
def c14_shared_weight():
    m = Model()
    m.input("x", "f32", [2, 2])
    m.weight("w", "f32", [2, 2], [1.0, 0.0, 0.0, 2.0])
    m.node("MatMul", ["x", "w"], ["h"], name="first")
    m.node("MatMul", ["h", "w"], ["y"], name="second")
    m.output("y")
    return [Variant("twice", m, {"x": ([2, 2], [1.0] * 4)},
                    {"y": ([2, 2], [1.0, 4.0, 1.0, 4.0])},
                    text=["nn.variable @w parameter"], absent=["%2 = nn.read",
                                                                "@w#"])]


@case
def c15_integer_paths():
    m = Model()
    m.input("x", "f32", [2, 3])
    m.weight("w", "f32", [3], [0.5, 1.5, 2.5])
    m.weight("unused", "f32", [4])
    m.weight("index", "f32", [3], [1.0, 2.0, 3.0])
    m.node("Mul", ["x", "w"], ["h"], name="scale")
    m.node("Cast", ["index"], ["i"], name="to_int", to=7)
    m.node("Cast", ["i"], ["f"], name="to_float", to=1)
    m.node("Add", ["h", "f"], ["z"], name="add")
    m.node("Shape", ["w"], ["s"], name="shape")
    m.node("Reshape", ["z", "target"], ["y"], name="reshape")
    m.weight("target", "i64", [2], [3, -1])
    m.output("y")
    m.output("s", "i64")
    return [Variant("stops", m, {"x": ([2, 3], [1.0] * 6)},
                    {"y": ([3, 2], [1.5, 3.5, 5.5, 1.5, 3.5, 5.5]),
                     "s": ([1], [3])},
                    text=["nn.variable @w parameter",
                          "nn.variable @index constant"],
                    absent=["@unused", "@target"])]


@case
def c17_what_is_a_parameter():
    def model():
        m = Model(opset=9, ir_version=3)
        m.input("x", "f32", [1, 4])
        m.input("shape", "i64", [2])
        m.weight("shape", "i64", [2], [4, 2])
        m.node("ConstantOfShape", ["shape"], ["w"], name="filler",
               value=Tensor(tensor("", "f32", [1], [0.25])))
        m.node("Constant", [], ["b"], name="constant",
               value=Tensor(tensor("", "f32", [2], [1.0, 2.0])))
        m.node("Constant", [], ["two"], name="scalar",
               value=Tensor(tensor("", "f32", [], [2.0])))
        m.node("Gemm", ["x", "w", "b"], ["h"], name="gemm")
        m.node("Mul", ["h", "two"], ["y"], name="mul")
        m.output("y")
        return m

    x, y = {"x": ([1, 4], [1.0] * 4)}, {"y": ([1, 2], [4.0, 6.0])}
    return [
        Variant("constants", model(), x, y, absent=["parameter"]),
        Variant("trained", model(), x, y, options=["--train-constants"],
                text=["nn.variable @w parameter : tensor<4x2xf32> = "
                      "dense<2.500000e-01>",
                      "nn.variable @b parameter"],
                absent=["@two", "@shape"]),
    ]


def place_side_files(folder):
    """What the external data of the S cases may and may not reach."""
    import struct
    os.makedirs(os.path.join(folder, "sub"), exist_ok=True)
    with open(os.path.join(folder, "sub", "good.bin"), "wb") as file:
        file.write(b"abc" + struct.pack("<4f", 1.0, 2.0, 3.0, 4.0))
    link = os.path.join(folder, "link.bin")
    if not os.path.islink(link):
        os.symlink(os.path.join("sub", "good.bin"), link)


def compare_values(variant, text):
    import nn_interpreter
    import torch

    def of(entry, dtype=None):
        shape, numbers = entry
        value = torch.tensor(numbers, dtype=dtype)
        return value.reshape(shape)

    module = nn_interpreter.Module(text)
    results = module.run({name: of(entry)
                          for name, entry in variant.inputs.items()})
    for name, entry in variant.outputs.items():
        expected = of(entry, results[name].dtype)
        if list(results[name].shape) != entry[0]:
            return f"{name} has shape {list(results[name].shape)}, " \
                   f"expected {entry[0]}"
        if not torch.allclose(results[name].double(), expected.double(),
                              rtol=1e-5, atol=1e-6, equal_nan=True):
            return f"{name} is {results[name].tolist()}, expected " \
                   f"{expected.tolist()}"
    return None


def run(variant, tool, folder):
    """None, or what is wrong."""
    path = os.path.join(folder, variant.name + ".onnx")
    variant.model.save(path)

    def call(*options):
        return subprocess.run([tool, *variant.options, *options, path],
                              capture_output=True, text=True,
                              errors="replace")

    pretty = call()
    if variant.errors is not None:
        if pretty.returncode != 1:
            return f"exit code {pretty.returncode}, expected 1: " \
                   f"{pretty.stderr.strip()}"
        for text in variant.errors:
            if text not in pretty.stderr:
                return f"no {text!r} in {pretty.stderr.strip()!r}"
        return None
    if pretty.returncode != 0:
        return pretty.stderr.strip()
    module = re.sub(" +", " ", pretty.stdout)
    for text in variant.text:
        if text not in module:
            return f"no {text!r} in {module}"
    for text in variant.absent:
        if text in module:
            return f"{text!r} in {module}"
    if variant.outputs:
        return compare_values(variant, call("--generic").stdout)
    return None


def main():
    name, tool, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    place_side_files(folder)
    failed = False
    for variant in CASES[name]():
        message = run(variant, tool, folder)
        print(f"{name}: {variant.name}: {message or 'right'}")
        failed |= message is not None
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
