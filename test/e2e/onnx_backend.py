#===- onnx_backend.py - ONNX's operator tests through whole programs ----===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Compiles models of ONNX's backend tests and compares what they predict.

    onnx_backend.py PARTITA DATA WORK LEAST PATTERN...

DATA is a folder of test folders. The first floating-point input stays data, the
others become weights, and a weight of zero is added to the input, because a
program that trains nothing is refused. A model that the compiler refuses must
be refused with a diagnostic; one that it accepts must predict the expected
values. Fails when a model is wrong or fewer than LEAST are right.
"""

import fnmatch
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


def load_tensor(path):
    tensor = TensorProto()
    with open(path, "rb") as file:
        tensor.ParseFromString(file.read())
    return numpy_helper.to_array(tensor)


def rewrite(model, inputs):
    """The data input's name; the model becomes one that can be trained."""
    graph = model.graph
    data = next(i for i in graph.input
                if i.type.tensor_type.elem_type == FLOAT
                and inputs[i.name].ndim > 0)
    for entry in list(graph.input):
        if entry.name == data.name:
            continue
        graph.initializer.append(
            numpy_helper.from_array(inputs[entry.name], entry.name))
        graph.input.remove(entry)
    graph.initializer.append(numpy_helper.from_array(
        np.zeros([1], np.float32), "partita_zero"))
    for node in graph.node:
        for i, name in enumerate(node.input):
            if name == data.name:
                node.input[i] = "partita_sum"
    graph.node.insert(0, helper.make_node(
        "Add", [data.name, "partita_zero"], ["partita_sum"], "partita_add"))
    return data.name


def check(partita, folder, work):
    """None, "refused: ...", or what is wrong."""
    model = onnx.load(os.path.join(folder, "model.onnx"))
    data = os.path.join(folder, "test_data_set_0")
    inputs = {}
    values = [*model.graph.input, *model.graph.output]
    if not all(v.type.HasField("tensor_type") for v in values):
        return "refused: not only tensors go in and come out"
    if any((n.op_type == "Dropout" and len(n.input) > 2)
           or any(a.name == "training_mode" and a.i for a in n.attribute)
           for n in model.graph.node):
        return "refused: predictions are made in inference mode"
    for i, entry in enumerate(model.graph.input):
        inputs[entry.name] = load_tensor(os.path.join(data, f"input_{i}.pb"))
    expected = load_tensor(os.path.join(data, "output_0.pb"))
    output = model.graph.output[0].name
    if expected.dtype != np.float32 or expected.ndim == 0:
        return "refused: no tensor of float32 comes out"
    try:
        name = rewrite(model, inputs)
    except StopIteration:
        return "refused: no tensor of float32 goes in"
    if expected.shape[0] != inputs[name].shape[0]:
        return "refused: the result has another batch than the data"
    shutil.rmtree(work, ignore_errors=True)
    os.makedirs(os.path.join(work, "data"))
    path = os.path.join(work, "model.onnx")
    onnx.save(model, path)
    file_name = re.sub(r"[^A-Za-z0-9_.-]", "_", name) + ".npy"
    np.save(os.path.join(work, "data", file_name), inputs[name])

    program = os.path.join(work, "program")
    run = subprocess.run([partita, "compile", path, "--loss", "mse",
                          "--output", output, "-o", program],
                         capture_output=True, text=True, errors="replace")
    if run.returncode == 1 and "error: " in run.stderr:
        return "refused: " + run.stderr.strip().splitlines()[0]
    if run.returncode != 0:
        return f"compile ends with {run.returncode}: {run.stderr[-300:]}"
    result = os.path.join(work, "result")
    run = subprocess.run([program, "--data", os.path.join(work, "data"),
                          "--predict", result, "--quiet"],
                         capture_output=True, text=True, errors="replace")
    if run.returncode != 0:
        return f"program ends with {run.returncode}: {run.stderr[-300:]}"
    if os.path.isdir(result):
        result = os.path.join(
            result, re.sub(r"[^A-Za-z0-9_.-]", "_", output) + ".npy")
    found = np.load(result)
    if found.shape != expected.shape:
        return f"shape {found.shape}, expected {expected.shape}"
    if not np.allclose(found, expected, rtol=1e-4, atol=1e-5,
                       equal_nan=True):
        return f"values differ by {np.abs(found - expected).max():g}"
    return None


def main():
    partita, data, work, least = sys.argv[1:5]
    right, refused, wrong = 0, 0, 0
    for name in sorted(os.listdir(data)):
        if not any(fnmatch.fnmatch(name, p) for p in sys.argv[5:]):
            continue
        message = check(partita, os.path.join(data, name),
                        os.path.join(work, name))
        if message and message.startswith("refused"):
            refused += 1
            if os.environ.get("SHOW_REFUSED"):
                print(f"{name}: {message}")
        elif message:
            wrong += 1
            print(f"wrong: {name}: {message}")
        else:
            right += 1
            shutil.rmtree(os.path.join(work, name))
    print(f"{right} right, {refused} refused, {wrong} wrong")
    return 1 if wrong or right < int(least) else 0


if __name__ == "__main__":
    sys.exit(main())
