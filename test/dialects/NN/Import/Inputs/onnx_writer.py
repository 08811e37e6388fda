#===- onnx_writer.py - writes ONNX files without the onnx package -------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Builds ONNX models byte by byte, valid ones and invalid ones alike.

    m = Model(opset=13)
    m.input("x", "f32", ["batch", 4])
    m.weight("w", "f32", [4, 2], range(8))
    m.node("MatMul", ["x", "w"], ["y"], name="product")
    m.output("y", "f32", ["batch", 2])
    m.save(path)

The field numbers are those of onnx.proto.
"""

import struct

TYPES = {"f32": 1, "u8": 2, "i8": 3, "u16": 4, "i16": 5, "i32": 6, "i64": 7,
         "str": 8, "bool": 9, "f16": 10, "f64": 11, "u32": 12, "u64": 13,
         "bf16": 16, "f8": 17}
FORMATS = {"f32": "f", "u8": "B", "i8": "b", "u16": "H", "i16": "h",
           "i32": "i", "i64": "q", "bool": "B", "f16": "e", "f64": "d",
           "u32": "I", "u64": "Q"}


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def chunk(field, data):
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    return varint(field << 3 | 2) + varint(len(data)) + data


def real(field, value):
    return varint(field << 3 | 5) + struct.pack("<f", value)


def bf16_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16


def raw(kind, values):
    """Little-endian bytes of numbers."""
    if kind == "bf16":
        return b"".join(struct.pack("<H", bf16_bits(v)) for v in values)
    return struct.pack(f"<{len(values)}{FORMATS[kind]}", *values)


def tensor(name, kind, dims, values=(), encoding="raw", external=None,
           data=None):
    """A TensorProto. `encoding`: raw, typed (float_data, int64_data, ...), or
    none; `external`: a dictionary of external_data; `data`: bytes of raw_data,
    whatever they mean."""
    values = list(values)
    out = b"".join(number(1, d) for d in dims) + number(2, TYPES[kind])
    if name:
        out += chunk(8, name)
    if external is not None:
        for key, value in external.items():
            out += chunk(13, chunk(1, key) + chunk(2, str(value)))
        return out + number(14, 1)
    if data is not None:
        return out + chunk(9, data)
    if encoding == "raw":
        return out + chunk(9, raw(kind, values))
    if encoding == "typed":
        if kind == "f32":
            return out + chunk(4, raw(kind, values))
        if kind == "f64":
            return out + chunk(10, raw(kind, values))
        if kind == "i64":
            return out + chunk(7, b"".join(map(varint, values)))
        if kind in ("u32", "u64"):
            return out + chunk(11, b"".join(map(varint, values)))
        if kind == "f16":
            values = [struct.unpack("<H", struct.pack("<e", v))[0]
                      for v in values]
        elif kind == "bf16":
            values = [bf16_bits(v) for v in values]
        return out + chunk(5, b"".join(map(varint, values)))
    return out


def splat(name, kind, dims, value):
    count = 1
    for d in dims:
        count *= d
    return tensor(name, kind, dims, [value] * count)


class Graph(bytes):
    """A serialised GraphProto, as an attribute's value."""


class Tensor(bytes):
    """A serialised TensorProto, as an attribute's value."""


class Reference(str):
    """The name of a function's attribute, as an attribute's value."""


def attribute(name, value):
    out = chunk(1, name)
    if isinstance(value, Reference):
        return out + chunk(21, str(value)) + number(20, 2)
    if isinstance(value, Graph):
        return out + chunk(6, bytes(value)) + number(20, 5)
    if isinstance(value, Tensor):
        return out + chunk(5, bytes(value)) + number(20, 4)
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, int):
        return out + number(3, value) + number(20, 2)
    if isinstance(value, float):
        return out + real(2, value) + number(20, 1)
    if isinstance(value, str):
        return out + chunk(4, value) + number(20, 3)
    value = list(value)
    if value and isinstance(value[0], float):
        return out + b"".join(real(7, v) for v in value) + number(20, 6)
    return out + b"".join(number(8, v) for v in value) + number(20, 7)


def node(op, inputs, outputs, name="", domain="", **attributes):
    out = b"".join(chunk(1, i) for i in inputs)
    out += b"".join(chunk(2, o) for o in outputs)
    if name:
        out += chunk(3, name)
    out += chunk(4, op)
    for key, value in attributes.items():
        out += chunk(5, attribute(key, value))
    if domain:
        out += chunk(7, domain)
    return out


def value_info(name, kind, dims):
    shape = b""
    for d in dims or []:
        if d is None:
            shape += chunk(1, b"")
        elif isinstance(d, str):
            shape += chunk(1, chunk(2, d))
        else:
            shape += chunk(1, number(1, d))
    type_ = number(1, TYPES[kind])
    if dims is not None:
        type_ += chunk(2, shape)
    return chunk(1, name) + chunk(2, chunk(1, type_))


class Model:
    def __init__(self, opset=17, ir_version=8, domains=None):
        self.opset, self.ir_version = opset, ir_version
        self.domains = domains or {}
        self.graph = b""
        self.functions = b""

    def input(self, name, kind, dims):
        self.graph += chunk(11, value_info(name, kind, dims))
        return name

    def output(self, name, kind="f32", dims=None):
        self.graph += chunk(12, value_info(name, kind, dims))
        return name

    def weight(self, name, kind, dims, values=None, **how):
        if values is None and not how:
            count = 1
            for d in dims:
                count *= d
            values = [(i * 37 % 19 - 9) / 16 for i in range(count)]
        self.graph += chunk(5, tensor(name, kind, dims, values or (), **how))
        return name

    def node(self, op, inputs, outputs, name="", domain="", **attributes):
        self.graph += chunk(1, node(op, inputs, outputs, name, domain,
                                    **attributes))
        return outputs[0] if outputs else None

    def function(self, domain, name, inputs, outputs, attributes, nodes,
                 opset=None):
        self.functions += chunk(25, (
            chunk(1, name) + b"".join(chunk(4, i) for i in inputs)
            + b"".join(chunk(5, o) for o in outputs)
            + b"".join(chunk(6, a) for a in attributes)
            + b"".join(chunk(7, n) for n in nodes)
            + chunk(9, number(2, opset or self.opset))
            + b"".join(chunk(9, chunk(1, d) + number(2, v))
                       for d, v in self.domains.items())
            + chunk(10, domain)))

    def bytes(self):
        out = number(1, self.ir_version) + chunk(2, "onnx_writer")
        if self.opset is not None:
            out += chunk(8, number(2, self.opset))
        for domain, version in self.domains.items():
            out += chunk(8, chunk(1, domain) + number(2, version))
        return out + chunk(7, chunk(2, "g") + self.graph) + self.functions

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes())
