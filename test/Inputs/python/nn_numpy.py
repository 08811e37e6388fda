#===- nn_numpy.py - nn operations in numpy ------------------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""What every `nn` operation computes, gradients included.

Written from the operations' descriptions and sharing no code with the compiler.
All of it works on parts as well, empty ones too: on what a rank holds, with
the attributes of that part. Attributes are Python values: tuples of integers,
numbers, True, and the bare name of an enumeration's case.
"""

import itertools
import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])


# ---- Windows ---------------------------------------------------------------


def taps_of(kernel):
    return itertools.product(*[range(k) for k in kernel])


class Windows:
    """The windows of a tensor [n, c, s...] that has been extended by its
    padding and by what the last window hangs over."""

    def __init__(self, shape, out, kernel, a):
        self.out, self.kernel = tuple(out), tuple(kernel)
        self.strides, self.dilations = a["strides"], a["dilations"]
        n = len(self.kernel)
        self.shape = tuple(shape)
        self.low = a["pads"][:n]
        if min(a["pads"]) < 0:
            raise ValueError(f"negative pads {a['pads']}")
        size = []
        for i in range(n):
            reach = (self.out[i] - 1) * self.strides[i] \
                + (self.kernel[i] - 1) * self.dilations[i] + 1
            size.append(max(reach, shape[2 + i] + self.low[i], 0))
        self.size = tuple(shape[:2]) + tuple(size)
        self.inside = (slice(None), slice(None)) + tuple(
            slice(self.low[i], self.low[i] + shape[2 + i]) for i in range(n))

    def extend(self, x, value=0.0):
        y = np.full(self.size, value, x.dtype)
        y[self.inside] = x
        return y

    def at(self, tap):
        """The elements of an extended tensor that a tap meets."""
        return (slice(None), slice(None)) + tuple(
            slice(t * d, t * d + (o - 1) * s + 1 if o else t * d, s)
            for t, d, o, s in zip(tap, self.dilations, self.out, self.strides))


def grouped(x, groups):
    """[n, g * c, s...] as [n, g, c, prod s]."""
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, -1)


def conv_windows(x_shape, w_shape, out, a):
    """The same, after the check that the kernel fits as often as stated."""
    n = len(w_shape) - 2
    for i in range(n):
        room = x_shape[2 + i] + a["pads"][i] + a["pads"][n + i] \
            - (w_shape[2 + i] - 1) * a["dilations"][i] - 1
        if room < 0 or room // a["strides"][i] + 1 != out[i]:
            raise ValueError(f"{out} windows of {w_shape} do not fit "
                             f"{x_shape} with {a}")
    return Windows(x_shape, out, w_shape[2:], a)


def conv(x, w, a, shape):
    wins, g = conv_windows(x.shape, w.shape, shape[2:], a), a.get("groups", 1)
    extended = wins.extend(x)
    y = np.zeros((shape[0], g, shape[1] // g, math.prod(shape[2:])), x.dtype)
    for tap in taps_of(wins.kernel):
        filters = w[(...,) + tap].reshape(g, shape[1] // g, w.shape[1])
        y += np.matmul(filters, grouped(extended[wins.at(tap)], g))
    return y.reshape(shape)


def conv_input_grad(dy, w, a, shape):
    wins, g = conv_windows(shape, w.shape, dy.shape[2:], a), a.get("groups", 1)
    extended = np.zeros(wins.size, dy.dtype)
    flat = grouped(dy, g)
    for tap in taps_of(wins.kernel):
        filters = w[(...,) + tap].reshape(g, dy.shape[1] // g, w.shape[1])
        part = np.matmul(filters.swapaxes(1, 2), flat)
        view = extended[wins.at(tap)]
        view += part.reshape(view.shape)
    return extended[wins.inside]


def conv_filter_grad(x, dy, a, shape):
    wins, g = conv_windows(x.shape, shape, dy.shape[2:], a), a.get("groups", 1)
    extended = wins.extend(x)
    flat = grouped(dy, g)
    dw = np.zeros(shape, x.dtype)
    for tap in taps_of(wins.kernel):
        products = np.matmul(flat, grouped(extended[wins.at(tap)],
                                           g).swapaxes(2, 3))
        dw[(...,) + tap] = products.sum(0).reshape(shape[:2])
    return dw


def max_pool(x, a, shape):
    wins = Windows(x.shape, shape[2:], a["kernel"], a)
    extended = wins.extend(x, -np.inf)
    y = np.full(shape, -np.inf)
    for tap in taps_of(wins.kernel):
        np.maximum(y, extended[wins.at(tap)], out=y)
    return y


def max_pool_grad(x, dy, a):
    wins = Windows(x.shape, dy.shape[2:], a["kernel"], a)
    extended = wins.extend(x, -np.inf)
    taps = list(taps_of(wins.kernel))
    first = np.stack([extended[wins.at(tap)] for tap in taps]).argmax(0)
    dx = np.zeros(wins.size)
    for i, tap in enumerate(taps):
        dx[wins.at(tap)] += np.where(first == i, dy, 0.0)
    return dx[wins.inside]


def pool_divisors(x_shape, out, a):
    """Elements per window: inside x, or inside the stated padding."""
    wins = Windows(x_shape, out, a["kernel"], a)
    n = len(wins.kernel)
    ones = np.zeros((1, 1) + wins.size[2:])
    if a.get("count_include_pad"):
        padded = tuple(slice(0, a["pads"][i] + x_shape[2 + i]
                             + a["pads"][n + i]) for i in range(n))
        ones[(slice(None), slice(None)) + padded] = 1.0
    else:
        ones[wins.inside] = 1.0
    count = np.zeros((1, 1) + tuple(out))
    for tap in taps_of(wins.kernel):
        count += ones[wins.at(tap)]
    return wins, count


def avg_pool(x, a, shape):
    wins, count = pool_divisors(x.shape, shape[2:], a)
    extended = wins.extend(x)
    y = np.zeros(shape)
    for tap in taps_of(wins.kernel):
        y += extended[wins.at(tap)]
    return y / count


def avg_pool_grad(dy, a, shape):
    wins, count = pool_divisors(shape, dy.shape[2:], a)
    dx = np.zeros(wins.size)
    share = dy / count
    for tap in taps_of(wins.kernel):
        dx[wins.at(tap)] += share
    return dx[wins.inside]


# ---- Products, normalisations ----------------------------------------------


def matmul(x, y, a):
    if a.get("transpose_a"):
        x = x.swapaxes(-1, -2)
    if a.get("transpose_b"):
        y = y.swapaxes(-1, -2)
    return a.get("alpha", 1.0) * np.matmul(x, y)


def channel(vector, x, axis):
    return vector.reshape([-1 if d == axis else 1 for d in range(x.ndim)])


def centred(x, mean, variance, a):
    axis = a["axis"]
    return (x - channel(mean, x, axis)) \
        / np.sqrt(channel(variance, x, axis) + a["eps"])


def normalize(x, mean, variance, gamma, beta, a):
    return channel(gamma, x, a["axis"]) * centred(x, mean, variance, a) \
        + channel(beta, x, a["axis"])


def batch_norm(x, gamma, beta, mean, variance, a):
    if a["mode"] != "frozen":
        raise NotImplementedError(a["mode"])
    return normalize(x, mean, variance, gamma, beta, dict(a, axis=1))


def normalize_sums(dy, x, mean, variance, a):
    axes = tuple(d for d in range(x.ndim) if d != a["axis"])
    return dy.sum(axes), (dy * centred(x, mean, variance, a)).sum(axes)


def normalize_grad(dy, x, mean, variance, gamma, dbeta, dgamma, a):
    axis, scale = a["axis"], a["scale"]
    xhat = centred(x, mean, variance, a)
    factor = channel(gamma / np.sqrt(variance + a["eps"]), x, axis)
    return factor * (dy - scale * channel(dbeta, x, axis)
                     - scale * xhat * channel(dgamma, x, axis))


def across(x, before, after):
    """Sums of x over `before` channels before each to `after` after it."""
    y = np.zeros_like(x)
    channels = x.shape[1]
    for shift in range(-before, after + 1):
        begin, end = max(0, -shift), min(channels, channels - shift)
        if begin < end:
            y[:, begin:end] += x[:, begin + shift:end + shift]
    return y


def lrn_scale(x, a):
    size = a["size"]
    return a["bias"] + a["alpha"] / size * across(x * x, (size - 1) // 2,
                                                  size // 2)


def lrn(x, a):
    return x * lrn_scale(x, a) ** -a["beta"]


def lrn_grad(x, dy, a):
    # Channel c lies in the windows from size / 2 before it to the rest after.
    size, scale = a["size"], lrn_scale(x, a)
    sums = across(dy * x * scale ** (-a["beta"] - 1), size // 2,
                  (size - 1) // 2)
    return dy * scale ** -a["beta"] \
        - 2 * a["alpha"] * a["beta"] / size * x * sums


# ---- Reductions, movement --------------------------------------------------


def lowest(dtype):
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def highest(dtype):
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def reduce(x, a):
    axes, kind = tuple(a["axes"]), a["kind"]
    if kind == "sum":
        total = x.sum(axes)
        scale = a.get("scale", 1.0)
        return total * scale if scale != 1.0 else total
    if kind == "max":
        return x.max(axes, initial=lowest(x.dtype))
    if kind == "min":
        return x.min(axes, initial=highest(x.dtype))
    return x.prod(axes)


def variance(x, mean, a):
    axes = tuple(a["axes"])
    return a["scale"] * ((x - np.expand_dims(mean, axes)) ** 2).sum(axes)


def slice_(x, a):
    index = [start + step * np.arange(size) for start, size, step in
             zip(a["starts"], a["sizes"], a["steps"])]
    for places, size in zip(index, x.shape):
        if places.size and (places.min() < 0 or places.max() >= size):
            raise ValueError(f"slice of {x.shape} with {a}")
    return x[np.ix_(*index)] if index else x


def pad(x, a, shape):
    y = np.full(shape, a.get("value", 0.0), x.dtype)
    source, target = [], []
    for low, interior, high, size, out in zip(
            a["low"], a["interior"], a["high"], x.shape, shape):
        if out != size + max(size - 1, 0) * interior + low + high:
            raise ValueError(f"pad of {x.shape} to {shape} with {a}")
        places = np.arange(size) * (interior + 1) + low
        inside = (places >= 0) & (places < out)
        source.append(np.arange(size)[inside])
        target.append(places[inside])
    if x.ndim:
        y[np.ix_(*target)] = x[np.ix_(*source)]
    return y


def rows_of(indices, a, held):
    """Where each index lies among the rows held, and whether it does."""
    limit, start = a["limit"], a.get("start", 0)
    rows = np.where(indices < 0, indices + limit, indices) - start
    return rows, (rows >= 0) & (rows < held)


def gather(table, indices, a):
    axis = a["axis"]
    rows, here = rows_of(indices, a, table.shape[axis])
    shape = table.shape[:axis] + indices.shape + table.shape[axis + 1:]
    if table.shape[axis] == 0:
        return np.zeros(shape, table.dtype)
    y = table.take(np.where(here, rows, 0).reshape(-1), axis).reshape(shape)
    here = here.reshape((1,) * axis + here.shape
                        + (1,) * (table.ndim - axis - 1))
    return np.where(here, y, 0)


def scatter_add(dy, indices, a, shape):
    axis = a["axis"]
    rows, here = rows_of(indices, a, shape[axis])
    flat = dy.reshape(shape[:axis] + (indices.size,) + shape[axis + 1:])
    table = np.zeros(shape, dy.dtype)
    for i, (row, keep) in enumerate(zip(rows.reshape(-1), here.reshape(-1))):
        if keep:
            at = (slice(None),) * axis
            table[at + (row,)] += flat[at + (i,)]
    return table


# ---- Softmax, losses -------------------------------------------------------


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x, axis):
    shifted = x - x.max(axis, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def one_hot(labels, logits, axis):
    classes = np.arange(logits.shape[axis]).reshape(
        [-1 if d == axis else 1 for d in range(logits.ndim)])
    return classes == np.expand_dims(labels, axis)


def cross_entropy(logits, labels, axis):
    chosen = np.where(one_hot(labels, logits, axis),
                      log_softmax(logits, axis), 0.0)
    return -chosen.sum(axis)


def correct(logits, labels, axis):
    return (logits.argmax(axis) == labels).astype(np.float64)


# ---- Values by place -------------------------------------------------------


def index_of(shape, whole, start):
    """The row-major index in `whole` of every element of a part."""
    index = np.zeros(shape, np.int64)
    for d, (size, begin) in enumerate(zip(shape, start)):
        place = (begin + np.arange(size)).reshape(
            [-1 if e == d else 1 for e in range(len(shape))])
        index = index * whole[d] + place
    return index


def dropout_mask(a, shape):
    """Some mask that is a function of stream and global index."""
    index = index_of(shape, a["global_shape"], a["start"]).astype(np.uint64)
    mixed = (index + np.uint64(1 + a["stream"])) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(31)
    kept = (mixed % np.uint64(1000)) >= np.uint64(1000 * a["ratio"])
    return np.where(kept, 1.0 / (1.0 - a["ratio"]), 0.0)


# ---- Point-wise ------------------------------------------------------------


def divide(x, y):
    return x / y if x.dtype.kind == "f" else np.trunc(x / y).astype(x.dtype)


def cast(x, element):
    if element == "i1":
        return x != 0
    if element.startswith("f"):
        return x.astype(np.float64)
    return np.trunc(x).astype(np.int64)


UNARY = {
    "abs": np.abs, "neg": np.negative, "exp": np.exp, "log": np.log,
    "sqrt": np.sqrt, "erf": erf, "tanh": np.tanh, "sin": np.sin,
    "cos": np.cos, "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(x, 0.0),
    "relu": lambda x: np.maximum(x, 0), "floor": np.floor, "ceil": np.ceil,
    "round": np.rint, "sign": np.sign, "not": np.logical_not,
}
BINARY = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": divide,
    "pow": np.power, "max": np.maximum, "min": np.minimum,
}
COMPARE = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
}
SCALAR = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply,
    "arith.divf": np.divide, "arith.negf": np.negative,
    "arith.maximumf": np.maximum, "math.tanh": np.tanh, "math.exp": np.exp,
}


def fused(operands, body, shapes):
    """`body`: argument names, [(result, operation, operands)], yielded."""
    names, steps, yielded = body
    values = dict(zip(names, operands))
    for result, name, used in steps:
        values[result] = SCALAR[name](*[values[u] for u in used])
    return [np.broadcast_to(values[y], shape)
            for y, shape in zip(yielded, shapes)]


# By name: operands, attributes and the result's shape to a result.
OPERATIONS = {
    "conv": lambda o, a, s: conv(o[0], o[1], a, s) + (
        channel(o[2], o[0], 1) if len(o) > 2 else 0.0),
    "conv_input_grad": lambda o, a, s: conv_input_grad(*o, a, s),
    "conv_filter_grad": lambda o, a, s: conv_filter_grad(*o, a, s),
    "max_pool": lambda o, a, s: max_pool(o[0], a, s),
    "max_pool_grad": lambda o, a, s: max_pool_grad(*o, a),
    "avg_pool": lambda o, a, s: avg_pool(o[0], a, s),
    "avg_pool_grad": lambda o, a, s: avg_pool_grad(o[0], a, s),
    "matmul": lambda o, a, s: matmul(*o, a),
    "batch_norm": lambda o, a, s: batch_norm(*o, a),
    "normalize": lambda o, a, s: normalize(*o, a),
    "normalize_grad": lambda o, a, s: normalize_grad(*o, a),
    "lrn": lambda o, a, s: lrn(o[0], a),
    "lrn_grad": lambda o, a, s: lrn_grad(*o, a),
    "dropout": lambda o, a, s: o[0],
    "dropout_mask": lambda o, a, s: dropout_mask(a, s),
    "iota": lambda o, a, s: a.get("start", (0,))[0] + np.arange(s[0]) * 1.0,
    "reduce": lambda o, a, s: reduce(o[0], a),
    "variance": lambda o, a, s: variance(*o, a),
    "reshape": lambda o, a, s: o[0].reshape(s),
    "transpose": lambda o, a, s: o[0].transpose(a["permutation"]),
    "broadcast": lambda o, a, s: np.broadcast_to(o[0], s),
    "slice": lambda o, a, s: slice_(o[0], a),
    "pad": lambda o, a, s: pad(o[0], a, s),
    "concat": lambda o, a, s: np.concatenate(o, a["axis"]),
    "gather": lambda o, a, s: gather(*o, a),
    "scatter_add": lambda o, a, s: scatter_add(*o, a, s),
    "softmax": lambda o, a, s: softmax(o[0], a["axis"]),
    "log_softmax": lambda o, a, s: log_softmax(o[0], a["axis"]),
    "softmax_grad": lambda o, a, s: o[0] * (
        o[1] - (o[0] * o[1]).sum(a["axis"], keepdims=True)),
    "log_softmax_grad": lambda o, a, s: o[1] - np.exp(o[0]) * o[1].sum(
        a["axis"], keepdims=True),
    "cross_entropy": lambda o, a, s: cross_entropy(*o, a["axis"]),
    "cross_entropy_grad": lambda o, a, s: a["scale"] * (
        softmax(o[0], a["axis"]) - one_hot(o[1], o[0], a["axis"])),
    "correct": lambda o, a, s: correct(*o, a["axis"]),
    "compare": lambda o, a, s: COMPARE[a["predicate"]](*o),
    "select": lambda o, a, s: np.where(*o),
    "cast": lambda o, a, s: cast(o[0], a["to"]),
    "clip": lambda o, a, s: np.clip(o[0], a.get("low", -np.inf),
                                    a.get("high", np.inf)),
    "constant": lambda o, a, s: np.broadcast_to(a["value"], s),
}
for _name, _function in UNARY.items():
    OPERATIONS[_name] = lambda o, a, s, f=_function: f(o[0])
for _name, _function in BINARY.items():
    OPERATIONS[_name] = lambda o, a, s, f=_function: f(*o)


def evaluate(name, operands, attributes, shapes, elements, body=None):
    """The results of `nn.name`; raises ValueError where they do not have the
    stated shapes."""
    if name == "normalize_sums":
        results = list(normalize_sums(*operands, attributes))
    elif name == "fused":
        results = fused(operands, body, shapes)
    else:
        if name == "cast":
            attributes = dict(attributes, to=elements[0])
        results = [OPERATIONS[name](operands, attributes, shapes[0])]
    for result, shape in zip(results, shapes):
        if result.shape != shape:
            raise ValueError(f"nn.{name} gives {result.shape}, typed {shape}")
    return results
