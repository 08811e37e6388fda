#===- case_list.py - the cases and what they consist of ------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""The list of cases, and what a case is made of."""

from onnx_writer import Model

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


class Variant:
    """A model, and what must come of it."""

    def __init__(self, name, model, inputs=None, outputs=None, errors=None,
                 text=(), options=(), absent=()):
        self.name, self.model = name, model
        #: {name: (shape, numbers)} or {name: numbers} for vectors
        self.inputs, self.outputs = inputs or {}, outputs or {}
        self.errors, self.text, self.options = errors, text, list(options)
        self.absent = absent


def ramp(*shape, start=0.0, step=1.0):
    count = 1
    for size in shape:
        count *= size
    return (list(shape), [start + step * i for i in range(count)])


def one_node(op, inputs, opset, outputs=("y",), **attributes):
    """A model of one node on float inputs of the given shapes."""
    m = Model(opset=opset)
    for name, shape in inputs.items():
        m.input(name, "f32", shape)
    m.node(op, list(inputs), list(outputs), name="n", **attributes)
    m.output(outputs[0])
    return m
