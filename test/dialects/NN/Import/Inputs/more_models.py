#===- more_models.py - models of the tests of options and exports -------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""more_models.py FOLDER writes the models below to FOLDER/NAME.onnx."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from onnx_writer import Model, Tensor, tensor  # noqa: E402


def unnamed():
    m = Model()
    m.input("x", "f32", [None, None, "time"])
    m.node("Relu", ["x"], ["y"], name="relu")
    m.output("y")
    return m


def fixed():
    m = Model()
    m.input("x", "f32", [2, 3, 4])
    m.weight("target", "i64", [2], [2, -1])
    m.weight("w", "f32", [12, 2])
    m.node("Reshape", ["x", "target"], ["h"], name="reshape")
    m.node("MatMul", ["h", "w"], ["y"], name="product")
    m.output("y")
    return m


def inference():
    m = Model(opset=13)
    m.input("x", "f32", [2, 3, 4, 4])
    m.weight("w", "f32", [3, 3, 1, 1])
    m.weight("gamma", "f32", [3], [1.0, 2.0, 3.0])
    m.weight("beta", "f32", [3], [0.5, 0.5, 0.5])
    m.weight("mean", "f32", [3], [0.1, 0.2, 0.3])
    m.weight("variance", "f32", [3], [1.0, 2.0, 0.5])
    m.weight("ratio", "f32", [], [0.25])
    m.node("Conv", ["x", "w"], ["a"], name="conv")
    m.node("BatchNormalization", ["a", "gamma", "beta", "mean", "variance"],
           ["b"], name="bn")
    m.node("Dropout", ["b", "ratio"], ["c"], name="drop")
    m.node("Relu", ["c"], ["y"], name="relu")
    m.output("y", "f32", [2, 3, 4, 4])
    return m


def folded_batch_norm():
    m = Model(opset=13)
    m.input("x", "f32", [2, 3, 4, 4])
    m.weight("onnx::Conv_17", "f32", [3, 3, 1, 1])
    m.weight("onnx::Conv_18", "f32", [3])
    m.node("Conv", ["x", "onnx::Conv_17", "onnx::Conv_18"], ["y"],
           name="conv")
    m.output("y")
    return m


def shared_statistic():
    m = Model(opset=15)
    m.input("x", "f32", [2, 3])
    for name, value in {"zeros": 0.0, "ones": 1.0}.items():
        m.weight(name, "f32", [3], [value] * 3)
    m.node("BatchNormalization", ["x", "ones", "zeros", "zeros", "ones"],
           ["b", "", ""], name="bn", training_mode=1)
    m.node("Add", ["b", "zeros"], ["y"], name="add")
    m.output("y", "f32", [2, 3])
    return m


def constant_weights():
    m = Model(opset=9, ir_version=3)
    m.input("x", "f32", [2, 4])
    m.input("shape", "i64", [2])
    m.weight("shape", "i64", [2], [4, 3])
    m.node("ConstantOfShape", ["shape"], ["w"], name="filler",
           value=Tensor(tensor("", "f32", [1], [0.25])))
    m.node("Constant", [], ["b"], name="constant",
           value=Tensor(tensor("", "f32", [3], [1.0, 2.0, 3.0])))
    m.node("Gemm", ["x", "w", "b"], ["h"], name="gemm")
    m.node("Softmax", ["h"], ["y"], name="softmax")
    m.output("y", "f32", [2, 3])
    return m


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for build in (unnamed, fixed, inference, folded_batch_norm,
                  shared_statistic, constant_weights):
        build().save(os.path.join(folder, build.__name__ + ".onnx"))


if __name__ == "__main__":
    main()
