#===- large_model - a model with much weight -----------------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Compile a model with 256 MB of weights; the text stays below a megabyte.

usage: large_model.py PARTITA WORKDIR

The compiler's peak memory must stay below 1.5 times the file.
"""

import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

WIDE, NARROW = 8192, 4096


def make_model(path):
    rng = np.random.default_rng(0)

    def weight(name, rows, columns):
        data = rng.standard_normal((rows, columns), dtype=np.float32) * 0.01
        return helper.make_tensor(
            name, TensorProto.FLOAT, [rows, columns], data.tobytes(), raw=True
        )

    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w0"], ["h"], name="fc0"),
            helper.make_node("Relu", ["h"], ["r"], name="relu"),
            helper.make_node("MatMul", ["r", "w1"], ["y"], name="fc1"),
        ],
        "large",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", NARROW])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", NARROW])],
        [weight("w0", NARROW, WIDE), weight("w1", WIDE, NARROW)],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)]
    )
    model.ir_version = 8
    onnx.save(model, path)


def main():
    if sys.argv[1] == "--make":
        make_model(sys.argv[2])
        return
    partita, workdir = sys.argv[1:]
    os.makedirs(workdir, exist_ok=True)
    model = os.path.join(workdir, "large.onnx")
    # A process counts the memory of the one it was forked from, so this one
    # stays small until the compiler has run.
    subprocess.run([sys.executable, __file__, "--make", model], check=True)
    size = os.path.getsize(model)
    ir = os.path.join(workdir, "ir")
    command = [partita, "compile", model, "--batch", "4", "--ranks", "2"]
    command += ["--save-temps", ir, "--emit=source", "--quiet"]
    command += ["-o", os.path.join(workdir, "source")]
    # Linux counts in KiB.
    _, status, usage = os.wait4(subprocess.Popen(command).pid, 0)
    peak = usage.ru_maxrss * 1024
    if status != 0:
        sys.exit("the compiler failed")
    text = max(
        os.path.getsize(os.path.join(ir, name)) for name in os.listdir(ir)
    )
    print(f"model {size} bytes, peak memory {peak}, largest text {text}")
    if peak > 1.5 * size:
        sys.exit("the compiler took more than 1.5 times the model's size")
    if text > 1_000_000:
        sys.exit("the IR has more than a megabyte")
    with open(model, "rb") as file:
        original = file.read()
    weights = os.path.join(workdir, "source", "weights.safetensors")
    with open(weights, "rb") as file:
        written = file.read()
    # The weights arrive unchanged.
    if len(written) < WIDE * NARROW * 8 or written[-1024:] not in original:
        sys.exit("the weights were not copied")


if __name__ == "__main__":
    main()
