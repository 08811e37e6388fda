#===- nn_interpreter.py - runs @forward of an imported module -----------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Evaluates `nn` operations with PyTorch, read from their generic text.

It shares no code with the compiler, so that values that come out right say
something about the import. BatchNormalization and dropout are evaluated as in
@predict, unless the mode `global` asks for the statistics of the batch.
"""

import re

import numpy as np
import torch

DTYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32,
    "f64": torch.float64, "i1": torch.bool, "i8": torch.int8,
    "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "ui8": torch.uint8, "ui16": torch.int32, "ui32": torch.int64,
    "ui64": torch.int64,
}
NUMPY = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8,
    "i16": np.int16, "i32": np.int32, "i64": np.int64, "ui8": np.uint8,
    "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
}

TOKEN = re.compile(r"""
    ->
  | "(?:[^"\\]|\\.)*"            # string
  | [#@%^]?[A-Za-z0-9_$.+-]+     # identifiers, numbers, symbols
  | @"(?:[^"\\]|\\.)*"           # quoted symbols
  | <\{ | \}> | [<>{}()\[\],:=]
""", re.VERBOSE)


class Type:
    def __init__(self, text):
        *dims, self.element = text.split("x")
        self.shape = [int(d) for d in dims]

    @property
    def dtype(self):
        return DTYPES[self.element]


class Parser:
    """A recursive-descent parser of one operation's text."""

    def __init__(self, text):
        self.tokens = TOKEN.findall(text)
        self.place = 0

    def peek(self):
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self, expected=None):
        token = self.peek()
        if expected is not None and token != expected:
            raise ValueError(f"found {token!r}, expected {expected!r}")
        self.place += 1
        return token

    def accept(self, token):
        if self.peek() == token:
            self.place += 1
            return True
        return False

    def list_of(self, item, end):
        items = []
        while not self.accept(end):
            items.append(item())
            self.accept(",")
        return items

    def tensor_type(self):
        name = self.take()
        if name != "tensor":
            return name
        self.take("<")
        text = self.take()
        self.take(">")
        return Type(text)

    def types(self):
        if self.accept("("):
            return self.list_of(self.tensor_type, ")")
        return [self.tensor_type()]

    def dictionary(self, end):
        entries = {}
        while not self.accept(end):
            name = self.take()
            entries[name] = self.attribute() if self.accept("=") else True
            self.accept(",")
        return entries

    def attribute(self):
        token = self.take()
        if token == "array":
            self.take("<")
            self.take()
            if self.accept(":"):
                return self.list_of(lambda: int(self.take()), ">")
            self.take(">")
            return []
        if token == "dense":
            return self.dense()
        if token == "#nn":
            self.take("<")
            self.take()
            value = self.take()
            self.take(">")
            return value
        if token == "#nn.file":
            self.take("<")
            path, offset, length = self.list_of(self.take, ">")
            return ("file", path[1:-1], int(offset), int(length))
        if token == "tensor":
            self.place -= 1
            return self.tensor_type()
        if token.startswith('"'):
            return token[1:-1]
        if token.startswith("@"):
            return token[1:].strip('"')
        if token in ("true", "false"):
            return token == "true"
        number = float(token) if re.search(r"[.eE]", token) else int(token, 0)
        if self.accept(":"):
            kind = self.take()
            if token.startswith("0x") and kind == "f64":
                number = float(np.array(number, np.uint64).view(np.float64))
        return number

    def dense(self):
        """(nested values or raw bytes, type)."""
        self.take("<")
        if self.peek() == ">":
            value = []
        elif self.peek().startswith('"'):
            value = bytes.fromhex(self.take()[3:-1])
        else:
            value = self.nested()
        self.take(">")
        self.take(":")
        return ("dense", value, self.tensor_type())

    def nested(self):
        if self.accept("["):
            return self.list_of(self.nested, "]")
        return self.take()


def number_of(text, element):
    if text in ("true", "false"):
        return text == "true"
    if text.startswith("0x") and element in ("f16", "bf16", "f32", "f64"):
        bits = int(text, 16)
        if element == "bf16":
            return float(np.array(bits << 16, np.uint32).view(np.float32))
        kind = {"f16": np.uint16, "f32": np.uint32, "f64": np.uint64}[element]
        return float(np.array(bits, kind).view(NUMPY[element]))
    return float(text) if element[0] in "fb" else int(text)


def raw_tensor(data, type_):
    if type_.element == "bf16":
        words = np.frombuffer(data, np.uint16).astype(np.uint32) << 16
        array = words.view(np.float32)
    elif type_.element == "i1":
        array = np.frombuffer(data, np.uint8) != 0
    else:
        array = np.frombuffer(data, NUMPY[type_.element])
    count = int(np.prod(type_.shape))
    if array.size == 1 and count != 1:
        array = np.broadcast_to(array, [count])
    tensor = torch.from_numpy(array.reshape(type_.shape).astype(
        array.dtype if array.dtype not in (np.uint16, np.uint32, np.uint64)
        else np.int64))
    return tensor.to(type_.dtype)


def tensor_of(attribute, type_=None):
    if attribute[0] == "file":
        _, path, offset, length = attribute
        with open(path, "rb") as file:
            file.seek(offset)
            return raw_tensor(file.read(length), type_)
    _, value, type_ = attribute
    if isinstance(value, bytes):
        return raw_tensor(value, type_)

    def convert(entry):
        if isinstance(entry, list):
            return [convert(e) for e in entry]
        return number_of(entry, type_.element)

    tensor = torch.tensor(convert(value), dtype=type_.dtype)
    if tensor.dim() == 0:
        return tensor.expand(type_.shape)
    return tensor.reshape(type_.shape)


# ---- Operations ------------------------------------------------------------

COMPARE = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le,
           "gt": torch.gt, "ge": torch.ge}


def pad_spatial(x, pads, value):
    n = len(pads) // 2
    order = []
    for axis in reversed(range(n)):
        order += [pads[axis], pads[n + axis]]
    return torch.nn.functional.pad(x, order, value=value)


def windows(x, a, out_shape, value):
    """Windows of x as [n, c, out..., kernel...]."""
    n = len(a["kernel"])
    spatial = x.shape[2:]
    needed = []
    for axis in range(n):
        reach = (out_shape[2 + axis] - 1) * a["strides"][axis] \
            + (a["kernel"][axis] - 1) * a["dilations"][axis] + 1
        after = reach - spatial[axis] - a["pads"][axis]
        needed.append(max(after, a["pads"][n + axis]))
    y = pad_spatial(x, a["pads"][:n] + needed, value)
    index = []
    for axis in range(n):
        starts = torch.arange(out_shape[2 + axis]) * a["strides"][axis]
        offsets = torch.arange(a["kernel"][axis]) * a["dilations"][axis]
        index.append((starts[:, None] + offsets[None, :]))
    for axis in range(n):
        # Axis 2 + 2 * axis becomes [out, kernel].
        at = 2 + 2 * axis
        y = y.index_select(at, index[axis].reshape(-1)).unflatten(
            at, index[axis].shape)
    order = [0, 1] + [2 + 2 * i for i in range(n)] \
        + [3 + 2 * i for i in range(n)]
    return y.permute(order).flatten(2 + n)


def max_pool(x, a, type_):
    return windows(x, a, type_.shape, -float("inf")).max(-1).values


def avg_pool(x, a, type_):
    n = len(a["kernel"])
    ones = torch.ones_like(x)
    if a.get("count_include_pad"):
        ones = pad_spatial(ones, a["pads"], 1.0)
        counted = dict(a, pads=[0] * (2 * n))
    else:
        counted = a
    count = windows(ones, counted, type_.shape, 0.0).sum(-1)
    return windows(x, a, type_.shape, 0.0).sum(-1) / count


def conv(operands, a, type_):
    x, w = operands[:2]
    n = x.dim() - 2
    function = [torch.conv1d, torch.conv2d, torch.conv3d][n - 1]
    bias = operands[2] if len(operands) > 2 else None
    return function(pad_spatial(x, a["pads"], 0.0), w, bias,
                    stride=a["strides"], dilation=a["dilations"],
                    groups=a.get("groups", 1))


def conv_input_grad(operands, a, type_):
    dy, w = operands
    x = torch.zeros(type_.shape, dtype=dy.dtype, requires_grad=True)
    y = conv([x, w.detach()], a, None)
    return torch.autograd.grad(y, x, dy.detach())[0]


def channel(vector, x):
    return vector.reshape([-1] + [1] * (x.dim() - 2))


def batch_norm(operands, a):
    x, gamma, beta, mean, variance = operands
    if a["mode"] != "frozen":
        axes = [d for d in range(x.dim()) if d != 1]
        mean = x.mean(axes)
        variance = ((x - channel(mean, x)) ** 2).mean(axes)
    scale = channel(gamma / torch.sqrt(variance + a["eps"]), x)
    return (x - channel(mean, x)) * scale + channel(beta, x)


def lrn(x, a):
    size = a["size"]
    before = (size - 1) // 2
    squares = torch.nn.functional.pad(
        (x * x).transpose(1, -1), (before, size - 1 - before))
    sums = squares.unfold(-1, size, 1).sum(-1).transpose(1, -1)
    return x / (a["bias"] + a["alpha"] / size * sums) ** a["beta"]


def reduce(x, a):
    axes = a["axes"]
    if a["kind"] == "sum":
        scale = a.get("scale", 1.0)
        total = x.sum(axes) if axes else x
        return total * scale if scale != 1.0 else total.to(x.dtype)
    if a["kind"] in ("max", "min"):
        return getattr(torch, "a" + a["kind"])(x, axes)
    for axis in sorted(axes, reverse=True):
        x = x.prod(axis)
    return x


def matmul(operands, a):
    x, y = operands
    if a.get("transpose_a"):
        x = x.transpose(-1, -2)
    if a.get("transpose_b"):
        y = y.transpose(-1, -2)
    alpha = a.get("alpha", 1.0)
    product = torch.matmul(x, y)
    return product * alpha if alpha != 1.0 else product


def gather(table, indices, axis):
    rows = table.shape[axis]
    flat = torch.where(indices < 0, indices + rows, indices).reshape(-1)
    shape = [*table.shape[:axis], *indices.shape, *table.shape[axis + 1:]]
    return table.index_select(axis, flat).reshape(shape)


def slice_(x, a):
    for axis, (start, size, step) in enumerate(
            zip(a["starts"], a["sizes"], a["steps"])):
        x = x.index_select(axis, torch.arange(size) * step + start)
    return x


def pad(x, a, type_):
    y = torch.full(type_.shape, a.get("value", 0.0), dtype=x.dtype)
    source, target = [], []
    for low, interior, size, out in zip(a["low"], a["interior"], x.shape,
                                        type_.shape):
        places = torch.arange(size) * (interior + 1) + low
        inside = (places >= 0) & (places < out)
        source.append(torch.arange(size)[inside])
        target.append(places[inside])
    if x.dim() == 0:
        return x
    y[torch.meshgrid(*target, indexing="ij")] = \
        x[torch.meshgrid(*source, indexing="ij")]
    return y


def divide(x, y):
    if x.dtype.is_floating_point:
        return x / y
    return torch.div(x, y, rounding_mode="trunc")


def cast(x, type_):
    if type_.dtype == torch.bool:
        return x != 0
    return x.to(type_.dtype)


def clip(x, a):
    return torch.clamp(x, a.get("low"), a.get("high"))


UNARY = {
    "abs": torch.abs, "neg": torch.neg, "exp": torch.exp, "log": torch.log,
    "sqrt": torch.sqrt, "erf": torch.erf, "tanh": torch.tanh,
    "sin": torch.sin, "cos": torch.cos, "sigmoid": torch.sigmoid,
    "softplus": lambda x: torch.logaddexp(x, torch.zeros_like(x)),
    "relu": torch.relu, "floor": torch.floor, "ceil": torch.ceil,
    "round": torch.round, "sign": torch.sign, "not": torch.logical_not,
    "dropout": lambda x: x,
}
BINARY = {
    "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": divide,
    "pow": torch.pow, "max": torch.maximum, "min": torch.minimum,
}


def evaluate(name, operands, a, result):
    if name in UNARY:
        return UNARY[name](operands[0])
    if name in BINARY:
        return BINARY[name](*operands)
    if name == "constant":
        return tensor_of(a["value"])
    if name == "compare":
        return COMPARE[a["predicate"]](*operands)
    if name == "select":
        return torch.where(*operands)
    if name == "conv":
        return conv(operands, a, result)
    if name == "conv_input_grad":
        return conv_input_grad(operands, a, result)
    if name == "batch_norm":
        return batch_norm(operands, a)
    if name == "matmul":
        return matmul(operands, a)
    if name == "cross_entropy":
        logits, labels = operands
        logits = logits.movedim(a["axis"], 1)
        return torch.nn.functional.cross_entropy(logits, labels.long(),
                                                 reduction="none")
    if name == "concat":
        return torch.cat(operands, a["axis"])
    if name == "gather":
        return gather(*operands, a["axis"])
    x = operands[0]
    if name == "max_pool":
        return max_pool(x, a, result)
    if name == "avg_pool":
        return avg_pool(x, a, result)
    if name == "lrn":
        return lrn(x, a)
    if name == "reduce":
        return reduce(x, a)
    if name == "cast":
        return cast(x, result)
    if name == "clip":
        return clip(x, a)
    if name == "reshape":
        return x.reshape(result.shape)
    if name == "transpose":
        return x.permute(a["permutation"])
    if name == "broadcast":
        return x.expand(result.shape)
    if name == "slice":
        return slice_(x, a)
    if name == "pad":
        return pad(x, a, result)
    if name == "softmax":
        return torch.softmax(x, a["axis"])
    if name == "log_softmax":
        return torch.log_softmax(x, a["axis"])
    raise NotImplementedError(f"nn.{name}")


class Module:
    """An imported module: inputs by name, a list of operations."""

    def __init__(self, text):
        self.variables, self.operations = {}, []
        self.inputs, self.outputs, self.results = [], [], []
        for line in text.splitlines():
            self.read_line(line.strip())

    def read_line(self, line):
        if line.startswith('"func.func"'):
            self.inputs = re.findall(r'nn\.name = "((?:[^"\\]|\\.)*)"',
                                     line.split("function_type")[0])
            if "res_attrs" in line:
                self.outputs = re.findall(
                    r'nn\.name = "((?:[^"\\]|\\.)*)"',
                    line.split("res_attrs")[1].split("sym_name")[0])
        elif line.startswith('"nn.variable"'):
            parser = Parser(line.split("<{", 1)[1])
            a = parser.dictionary("}>")
            self.variables[a["sym_name"]] = a
        elif line.startswith('"func.return"'):
            self.results = re.findall(r"%[\w#]+", line.split(" : ")[0])
        elif match := re.match(r'(%[\w:]+) = "nn\.(\w+)"\(([^)]*)\)(.*)', line):
            result, name, operands, rest = match.groups()
            parser = Parser(rest)
            a = parser.dictionary("}>") if parser.accept("<{") else {}
            parser.take(":")
            parser.types()
            parser.take("->")
            self.operations.append(
                (result, name, re.findall(r"%\w+", operands), a,
                 parser.types()[0]))

    def run(self, inputs):
        """Results by name for a dictionary of torch tensors."""
        values = {f"%arg{i}": inputs[name]
                  for i, name in enumerate(self.inputs)}
        for result, name, operands, a, type_ in self.operations:
            if name == "read":
                variable = self.variables[a["variable"]]
                values[result] = tensor_of(variable["initial"],
                                           variable["type"])
                continue
            value = evaluate(name, [values[o] for o in operands], a, type_)
            if list(value.shape) != type_.shape:
                raise ValueError(f"nn.{name} gives {list(value.shape)}, "
                                 f"typed {type_.shape}")
            values[result] = value
        return {name: values[result]
                for name, result in zip(self.outputs, self.results)}
