#!/usr/bin/env python3
#===- partition - field cases of splitting, on small models --------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Trains small models under given splits and compares with one rank.

usage: partition.py CASE PARTITA LINK-FILE WORKDIR

Each case is the smallest input on which some distributed system computed
something else than its unsplit run (see the comment of each). Losses of five
steps, all gradients, parameters, loss and accuracy of --eval and the outputs of
--predict must be those of one rank.
"""

import argparse
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "sweep"))
import exactness  # noqa: E402


class Graph:
    """A model under construction; weights are drawn with a fixed seed."""

    def __init__(self, batch, shape, scale=1.0):
        self.draw = np.random.default_rng(3)
        self.nodes, self.weights, self.scale = [], [], scale
        self.batch = batch
        self.input = helper.make_tensor_value_info(
            "input", TensorProto.FLOAT, [batch] + list(shape))

    def weight(self, name, shape, scale=None):
        scale = self.scale if scale is None else scale
        fan = max(np.prod(shape[1:]), 1)
        data = self.draw.normal(0, scale / np.sqrt(fan), shape)
        self.weights.append(
            numpy_helper.from_array(data.astype(np.float32), name))
        return name

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, kind, inputs, name, **attributes):
        self.nodes.append(helper.make_node(
            kind, inputs, [name + "_y"], name, **attributes))
        return name + "_y"

    def conv(self, x, name, shape, **attributes):
        inputs = [x, self.weight(name + ".w", shape),
                  self.weight(name + ".b", shape[:1], 0.1)]
        return self.node("Conv", inputs, name, **attributes)

    def fc(self, x, name, shape):
        inputs = [x, self.weight(name + ".w", shape),
                  self.weight(name + ".b", shape[:1], 0.1)]
        return self.node("Gemm", inputs, name, transB=1)

    def norm(self, x, name, channels):
        ones = np.ones(channels, np.float32)
        inputs = [x]
        for part, value in (("scale", ones), ("bias", ones * 0.1),
                            ("mean", ones * 0), ("var", ones)):
            inputs.append(self.constant(name + "." + part, value))
        self.nodes.append(helper.make_node(
            "BatchNormalization", inputs,
            [name + "_y", name + "_mean", name + "_var"], name,
            training_mode=1, momentum=0.9))
        return name + "_y"

    def classify(self, x, features, classes=6):
        x = self.node("Flatten", [x], "flatten")
        return self.fc(x, "fc", (classes, features))

    def save(self, y, shape, path):
        graph = helper.make_graph(
            self.nodes, "case", [self.input],
            [helper.make_tensor_value_info(
                y, TensorProto.FLOAT, [self.batch] + list(shape))],
            self.weights)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 15)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        onnx.save(model, path)


def mlp(batch, path, scale=1.0, classes=6):
    g = Graph(batch, [8], scale)
    x = g.node("Relu", [g.fc("input", "fc1", (12, 8))], "relu")
    g.save(g.fc(x, "fc2", (classes, 12)), [classes], path)


def conv_net(batch, path, size, shape, features, classes=6, **attributes):
    g = Graph(batch, [shape[1] * attributes.get("group", 1), size, size])
    x = g.node("Relu", [g.conv("input", "conv", shape, **attributes)], "relu")
    g.save(g.classify(x, features, classes), [classes], path)


# Every case returns plans: lists of options, with the number of ranks.
def split(grid, *splits):
    options = ["--grid", grid]
    for each in splits:
        options += ["--split", each]
    ranks = int(np.prod([int(a.split("=")[1]) for a in grid.split(",")]))
    return options, ranks


def c12(path):
    """Means of parts of 3 and 2 samples are not the mean of five."""
    mlp(5, path)
    return [(["--ranks", "2"], 2), split("a=2", "fc*=batch:a")]


def c14(path):
    """One weight used by two nodes, one bias by three: one summed gradient."""
    g = Graph(6, [8])
    w = g.weight("shared.w", (8, 8))
    b = g.weight("shared.b", (8,), 0.1)
    x = "input"
    for i in range(3):
        x = g.node("MatMul", [x, w if i < 2 else g.weight("w3", (8, 8))],
                   "mm%d" % i)
        x = g.node("Tanh", [g.node("Add", [x, b], "add%d" % i)], "tanh%d" % i)
    g.save(g.fc(x, "fc", (6, 8)), [6], path)
    return [split("a=2", "mm0=n:a", "mm1=k:a"), split("a=3", "mm*=m:a"),
            split("a=2,b=2", "mm0=n:a,m:b", "mm1=n:b", "mm2=k:a")]


def d01(path):
    """Batches that do not divide: 64 on 3 ranks, 30 on 4."""
    mlp("batch", path)
    return [(["--batch", "64", "--ranks", "3"], 3),
            (["--batch", "30", "--ranks", "4"], 4)]


def d02(path):
    """Two samples on four ranks: idle ranks join every collective."""
    mlp(2, path)
    return [(["--ranks", "4"], 4), split("a=4", "fc1=batch:a", "fc2=model:a")]


def d04(path):
    """Rows 3, 3, 3, 1 over four ranks: offsets come from one table."""
    mlp(10, path)
    return [split("a=4", "fc*=batch:a=3/3/3/1")]


def d06(path):
    """Input split on batch, strided filter on output channels."""
    conv_net(8, path, 8, (8, 16, 3, 3), 8 * 16, strides=[2, 2],
             pads=[1, 1, 1, 1])
    return [split("a=2,b=2", "conv=n:a,co:b"), split("a=3", "conv=co:a")]


def d08(path):
    """The gradient of a width-split input is split on width."""
    conv_net(4, path, 9, (6, 3, 3, 3), 6 * 81, pads=[1, 1, 1, 1])
    return [split("a=2", "conv=w:a"), split("a=4", "conv=w:a")]


def d09(path):
    """A batch split needs no exchange, however large the kernel."""
    conv_net(4, path, 14, (4, 3, 7, 7), 4 * 49, strides=[2, 2],
             pads=[3, 3, 3, 3])
    return [split("a=2", "conv=n:a")]


def d11(path):
    """A spatially split output read by two users, one wants it whole."""
    g = Graph(4, [3, 8, 8])
    x = g.conv("input", "conv", (4, 3, 3, 3), pads=[1, 1, 1, 1])
    y = g.conv(x, "other", (4, 4, 3, 3), pads=[1, 1, 1, 1])
    added = g.node("Add", [x, y], "add")
    size = g.node("ReduceL2", [x], "l2", axes=[1, 2, 3], keepdims=1)
    x = g.node("Div", [added, size], "div")
    g.save(g.classify(x, 256), [6], path)
    return [split("a=2", "conv=h:a", "other=h:a"),
            split("a=3", "conv=h:a", "other=co:a")]


def d12(path):
    """Statistics weighted by count: 3 + 1 samples, tiles of 4 and 3 rows."""
    g = Graph(4, [3, 7, 7])
    x = g.conv("input", "conv", (4, 3, 3, 3), pads=[1, 1, 1, 1])
    x = g.node("Relu", [g.norm(x, "bn", 4)], "relu")
    g.save(g.classify(x, 4 * 49), [6], path)
    return [split("a=2", "conv=n:a=3/1", "bn=d0:a=3/1"),
            split("a=2", "conv=h:a", "bn=d2:a"),
            split("a=2,b=2", "bn=d0:a,d3:b"), split("a=2", "bn=d1:a")]


def d14(path):
    """A softmax over classes cut in four, logits near 50."""
    mlp(6, path, scale=12.0, classes=10)
    return [split("a=4", "fc2=n:a", "loss=model:a"),
            split("a=3", "loss=d1:a")]


def d15(path):
    """The first of equal largest logits, over a cut class dimension."""
    g = Graph(8, [8])
    zero = g.constant("w", np.zeros((8, 6), np.float32))
    g.save(g.node("MatMul", ["input", zero], "mm"), [6], path)
    return [split("a=2", "mm=n:a", "loss=d1:a"),
            split("a=3", "mm=n:a", "loss=d1:a")]


def d16(path):
    """A contracted dimension split on a 2x2 grid: each part once."""
    mlp(6, path)
    return [split("a=2,b=2", "fc1=k:a,m:b", "fc2=k:a+b"),
            split("a=2,b=2", "fc1=n:a", "fc2=k:a,n:b")]


def d17(path):
    """Operands of a difference and a quotient keep their order."""
    g = Graph(6, [8])
    a = g.fc("input", "fa", (8, 8))
    b = g.node("Exp", [g.fc("input", "fb", (8, 8))], "exp")
    x = g.node("Sub", [a, b], "sub")
    x = g.node("Div", [x, b], "div")
    x = g.node("Sub", [g.weight("row", (8,)), x], "rest")
    g.save(g.fc(x, "fc", (6, 8)), [6], path)
    return [split("a=2", "sub=d0:a", "div=d1:a", "rest=d1:a"),
            split("a=2,b=2", "sub=d0:a,d1:b", "div=d1:a,d0:b")]


def d19(path):
    """Grouped convolutions: batch, and channels at group borders."""
    conv_net(4, path, 6, (6, 2, 3, 3), 6 * 36, group=3, pads=[1, 1, 1, 1])
    return [split("a=4", "conv=n:a"), split("a=2", "conv=g:a"),
            split("a=3", "conv=model:a")]


def d20(path):
    """Values used twice, moved between axes of a 2x3 grid."""
    g = Graph(6, [8])
    x = g.fc("input", "fa", (6, 8))
    y = g.node("Mul", [x, x], "square")
    z = g.node("Transpose", [g.node("Transpose", [x], "t1", perm=[1, 0])],
               "t2", perm=[1, 0])
    x = g.node("Add", [y, z], "add")
    g.save(g.fc(x, "fc", (6, 6)), [6], path)
    return [split("a=2,b=3", "fa=m:a,n:b", "square=d0:b,d1:a", "t1=d0:b+a",
                  "add=d1:a+b"),
            split("a=2,b=3", "square=d0:a+b", "t2=d1:b")]


def d23(path):
    """A scalar loss of parts: reduced once."""
    mlp(6, path)
    return [split("a=2", "loss=d0:a"), split("a=2,b=3", "loss=d0:a,d1:b")]


CASES = [c12, c14, d01, d02, d04, d06, d08, d09, d11, d12, d14, d15, d16, d17,
         d19, d20, d23]


def main():
    names = {case.__name__: case for case in CASES}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("case", choices=sorted(names))
    parser.add_argument("partita")
    parser.add_argument("link")
    parser.add_argument("workdir")
    arguments = parser.parse_args()
    os.makedirs(arguments.workdir, exist_ok=True)
    path = os.path.join(arguments.workdir, arguments.case + ".onnx")
    plans = names[arguments.case](path)
    tools = exactness.Toolchain(arguments.link, arguments.workdir)
    arguments.batch, arguments.channel = 0, "threads"
    failed = 0
    references = {}
    for options, ranks in plans:
        model = exactness.Model(arguments, path, arguments.workdir)
        batch = options[:2] if options[0] == "--batch" else []
        model.options = ["--lr", "0.01"] + batch
        sweep = exactness.Sweep(arguments, model, tools)
        key = " ".join(batch)
        if key not in references:
            sweep.measure()
            references[key] = (sweep.reference, sweep.noise)
        sweep.reference, sweep.noise = references[key]
        problems = sweep.check(
            "plan", options[len(batch):], ranks, evaluate=True)
        print("%s %s: %s" % (arguments.case, " ".join(options),
                             "; ".join(problems) or "agrees, worst %.1e"
                             % max(sweep.worst.values())))
        failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
