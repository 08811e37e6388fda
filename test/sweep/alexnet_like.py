#!/usr/bin/env python3
#===- alexnet_like - writes a small network built as AlexNet is ----------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Writes alexnet_like.onnx: the layers of Krizhevsky et al., NIPS'12, in their
order (strided convolution, LRN, overlapping pools, convolutions in two groups,
three fully connected layers), with few channels and small images.

usage: alexnet_like.py OUT.onnx
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def main():
    draw = np.random.default_rng(7)
    nodes, weights = [], []

    def weight(name, shape):
        fan = np.prod(shape[1:]) if len(shape) > 1 else shape[0]
        data = draw.normal(0, np.sqrt(2.0 / fan), shape)
        if len(shape) == 1:
            data *= 0.1
        weights.append(
            numpy_helper.from_array(data.astype(np.float32), name))
        return name

    def node(kind, inputs, name, **attributes):
        nodes.append(
            helper.make_node(kind, inputs, [name + "_y"], name, **attributes))
        return name + "_y"

    def conv(x, name, shape, group=1, **attributes):
        inputs = [x, weight(name + ".weight", shape),
                  weight(name + ".bias", shape[:1])]
        y = node("Conv", inputs, name, group=group, **attributes)
        return node("Relu", [y], "relu_" + name)

    def pool(x, name):
        return node("MaxPool", [x], name, kernel_shape=[3, 3], strides=[2, 2])

    def lrn(x, name):
        return node("LRN", [x], name, size=5, alpha=1e-2, beta=0.75, bias=2.0)

    def fc(x, name, shape):
        return node("Gemm", [x, weight(name + ".weight", shape),
                             weight(name + ".bias", shape[:1])], name, transB=1)

    x = conv("input", "conv1", (8, 3, 5, 5), strides=[2, 2],
             pads=[2, 2, 2, 2])
    x = pool(lrn(x, "norm1"), "pool1")
    x = conv(x, "conv2", (12, 4, 5, 5), 2, pads=[2, 2, 2, 2])
    x = pool(lrn(x, "norm2"), "pool2")
    x = conv(x, "conv3", (16, 12, 3, 3), pads=[1, 1, 1, 1])
    x = conv(x, "conv4", (16, 8, 3, 3), 2, pads=[1, 1, 1, 1])
    x = conv(x, "conv5", (12, 8, 3, 3), 2, pads=[1, 1, 1, 1])
    x = pool(x, "pool5")
    x = node("Flatten", [x], "flatten")
    x = node("Relu", [fc(x, "fc6", (24, 12 * 2 * 2))], "relu6")
    x = node("Relu", [fc(x, "fc7", (24, 24))], "relu7")
    x = fc(x, "fc8", (10, 24))
    graph = helper.make_graph(
        nodes, "alexnet_like",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT,
                                       ["batch", 3, 46, 46])],
        [helper.make_tensor_value_info(x, TensorProto.FLOAT, ["batch", 10])],
        weights)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.checker.check_model(model)
    onnx.save(model, sys.argv[1])


if __name__ == "__main__":
    main()
