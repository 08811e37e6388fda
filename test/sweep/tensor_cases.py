#===- tensor_cases.py - movement, reductions, losses, point-wise ---------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Generators of cases for everything that is no layer."""

import math

import numpy as np

import nn_numpy
import spmd_ranks
from layer_cases import between, choice
from sweep_case import Case, random_grid


def dims_of(shape):
    return [(f"d{d}", s) for d, s in enumerate(shape)]


def random_shape(rng, least=1, most=4, top=17):
    """One long dimension, the others short."""
    shape = [between(rng, 1, 5) for _ in range(between(rng, least, most))]
    if shape:
        shape[between(rng, 0, len(shape) - 1)] = between(rng, 1, top)
    return shape


def new_case(rng, ranks, name, exact=True, propagate=None):
    return Case(name, random_grid(rng, ranks), rng, exact, propagate)


# ---- Reductions ------------------------------------------------------------


def some_axes(rng, rank):
    return tuple(d for d in range(rank) if rng.random() < 0.5)


def mean_scale(shape, axes):
    return 1.0 / math.prod(shape[d] for d in axes)


def reduce(rng, ranks, kind=None):
    shape = random_shape(rng)
    kind = kind or choice(rng, ["sum", "max", "min", "prod"])
    axes = some_axes(rng, len(shape))
    a = {"kind": kind, "axes": axes}
    if kind == "sum" and rng.random() < 0.3:
        a["scale"] = mean_scale(shape, axes)
    case = new_case(rng, ranks, "reduce")
    element = "i64" if rng.random() < 0.2 and "scale" not in a else "f64"
    # Products of these stay exact.
    values = rng.choice([-2, -1, 1, 2, 0.5] if element == "f64" else
                        [-1, 1, 2], shape) if kind == "prod" else None
    x = case.argument(shape, element, values)
    case.exact = "scale" not in a
    kept = [s for d, s in enumerate(shape) if d not in axes]
    return case.returns(case.op("reduce", [x], kept, a, dims_of(shape)))


def variance(rng, ranks):
    shape = random_shape(rng)
    axes = some_axes(rng, len(shape))
    kept = [s for d, s in enumerate(shape) if d not in axes]
    case = new_case(rng, ranks, "variance", exact=False)
    operands = [case.argument(shape), case.argument(kept)]
    a = {"axes": axes, "scale": mean_scale(shape, axes)}
    return case.returns(case.op("variance", operands, kept, a,
                                dims_of(shape)))


# ---- Movement --------------------------------------------------------------


def reshape_groups(x, y):
    """The outermost dimensions that a split may name: the finest groups of
    dimensions of equal product, each led by the smaller leading size."""
    dims, i, j = [], 0, 0
    while i < len(x) and j < len(y):
        gx, gy = [x[i]], [y[j]]
        i, j = i + 1, j + 1
        while np.prod(gx) != np.prod(gy):
            if np.prod(gx) < np.prod(gy):
                gx.append(x[i])
                i += 1
            else:
                gy.append(y[j])
                j += 1
        lead_x = next((s for s in gx if s != 1), gx[-1])
        lead_y = next((s for s in gy if s != 1), gy[-1])
        low, high = sorted([lead_x, lead_y])
        if high % low == 0:
            dims.append((f"g{len(dims)}", low, True))
        else:
            dims.append((f"g{len(dims)}", low, False))
    return [(name, size) for name, size, fits in dims if fits]


def grouping(rng, factors):
    """The factors multiplied together in random runs, with some ones."""
    shape = [1]
    for factor in factors:
        if rng.random() < 0.5:
            shape.append(1)
        shape[-1] *= factor
    if rng.random() < 0.3:
        shape.insert(between(rng, 0, len(shape)), 1)
    return shape


def reshape(rng, ranks):
    factors = [between(rng, 1, 6) for _ in range(between(rng, 1, 4))]
    if rng.random() < 0.5:
        factors[0] = between(rng, 1, 17)
    x, y = grouping(rng, factors), grouping(rng, factors)
    case = new_case(rng, ranks, "reshape")
    dims = reshape_groups(x, y)
    return case.returns(case.op("reshape", [case.argument(x)], y, {}, dims))


def transpose(rng, ranks):
    shape = random_shape(rng)
    order = [int(d) for d in rng.permutation(len(shape))]
    case = new_case(rng, ranks, "transpose")
    y = [shape[d] for d in order]
    return case.returns(case.op("transpose", [case.argument(shape)], y,
                                {"permutation": tuple(order)},
                                dims_of(shape)))


def narrowed(rng, shape):
    """A shape that broadcasts to `shape`."""
    small = [1 if rng.random() < 0.35 else s for s in shape]
    return small[between(rng, 0, len(small)):] if rng.random() < 0.4 else small


def broadcast(rng, ranks):
    shape = random_shape(rng)
    case = new_case(rng, ranks, "broadcast")
    x = case.argument(narrowed(rng, shape))
    return case.returns(case.op("broadcast", [x], shape, {}, dims_of(shape)))


def slice_(rng, ranks):
    shape = random_shape(rng)
    starts, sizes, steps = [], [], []
    for size in shape:
        step = between(rng, -3, 3) or 1
        if rng.random() < 0.3:
            start, count, step = 0, size, 1
        else:
            start = between(rng, 0, size - 1)
            room = size - 1 - start if step > 0 else start
            count = between(rng, 1, room // abs(step) + 1)
        starts.append(start)
        sizes.append(count)
        steps.append(step)
    case = new_case(rng, ranks, "slice")
    a = {"starts": tuple(starts), "sizes": tuple(sizes), "steps": tuple(steps)}
    return case.returns(case.op("slice", [case.argument(shape)], sizes, a,
                                dims_of(sizes)))


def pad(rng, ranks):
    shape = random_shape(rng)
    low, interior, high, out = [], [], [], []
    for size in shape:
        between_elements = choice(rng, [0, 0, 0, 1, 2, 3])
        whole = size + (size - 1) * between_elements
        before, after = between(rng, -3, 5), between(rng, -3, 5)
        if whole + before + after < 1:
            before = after = 0
        low.append(before)
        interior.append(between_elements)
        high.append(after)
        out.append(whole + before + after)
    a = {"low": tuple(low), "interior": tuple(interior), "high": tuple(high),
         "value": float(between(rng, -2, 2))}
    case = new_case(rng, ranks, "pad")
    return case.returns(case.op("pad", [case.argument(shape)], out, a,
                                dims_of(out)))


def concat(rng, ranks):
    shape = random_shape(rng, top=9)
    axis = between(rng, 0, len(shape) - 1)
    case = new_case(rng, ranks, "concat")
    operands = []
    for _ in range(between(rng, 1, 4)):
        part = list(shape)
        part[axis] = between(rng, 1, 7)
        operands.append(case.argument(part))
    shape[axis] = sum(o.shape[axis] for o in operands)
    return case.returns(case.op("concat", operands, shape, {"axis": axis},
                                dims_of(shape)))


def iota(rng, ranks):
    size = between(rng, 1, 17)
    case = new_case(rng, ranks, "iota")
    return case.returns(case.op("iota", [], [size], {"size": size},
                                dims_of([size])))


def constant(rng, ranks):
    shape = random_shape(rng)
    case = new_case(rng, ranks, "constant")
    type_ = "x".join(map(str, shape + ["f64"]))
    value = np.float64(3.0)
    if rng.random() < 0.5:
        value = rng.integers(-4, 5, shape).astype(np.float64)
    a = {"value": f"dense<{value.tolist()}> : tensor<{type_}>",
         "splat": value}
    dims = dims_of(shape) if value.ndim == 0 else []
    return case.returns(case.op("constant", [], shape, a, dims), follow=0.5)


# ---- Look-ups --------------------------------------------------------------


def look_up(rng, ranks, name=None):
    name = name or choice(rng, ["gather", "scatter_add"])
    table = random_shape(rng, 1, 3)
    axis = between(rng, 0, len(table) - 1)
    table[axis] = between(rng, 1, 17)
    indices = [between(rng, 1, 9) for _ in range(between(rng, 0, 2))]
    rows = table[:axis] + indices + table[axis + 1:]
    dims = [(f"i{i}", s) for i, s in enumerate(indices)] + [("v", table[axis])]
    dims += [(f"c{c}", s) for c, s in enumerate(table[:axis]
                                                + table[axis + 1:])]
    case = new_case(rng, ranks, name)
    a = {"axis": axis, "limit": table[axis]}
    data = case.argument(table if name == "gather" else rows)
    places = case.argument(indices, choice(rng, ["i64", "i32"]),
                           rng.integers(-table[axis], table[axis], indices))
    return case.returns(case.op(name, [data, places],
                                rows if name == "gather" else table, a, dims))


# ---- Softmax and losses ----------------------------------------------------

CLASS_OPERATIONS = ["softmax", "log_softmax", "softmax_grad",
                    "log_softmax_grad", "cross_entropy", "cross_entropy_grad",
                    "correct"]


def class_family(rng, ranks, name=None):
    """Half of the splits cut the classes: the operation is expanded first."""
    name = name or choice(rng, CLASS_OPERATIONS)
    shape = random_shape(rng, 1, 4)
    axis = between(rng, 0, len(shape) - 1)
    shape[axis] = between(rng, 1, 17)
    dims = dims_of(shape)
    if rng.random() < 0.5:
        dims.pop(axis)
    case = new_case(rng, ranks, name, exact=name == "correct", propagate=True)
    positions = [s for d, s in enumerate(shape) if d != axis]
    a = {"axis": axis}
    if name == "correct":
        operands = [case.argument(shape)]
    else:
        operands = [case.real(shape)]
    if name.endswith("softmax_grad"):
        operands.append(case.real(shape))
    elif "softmax" not in name:
        labels = rng.integers(0, shape[axis], positions)
        operands.append(case.argument(positions, "i64", labels))
    result = positions if name in ("cross_entropy", "correct") else shape
    if name == "cross_entropy_grad":
        a["scale"] = 0.125
    return case.returns(case.op(name, operands, result, a, dims))


# ---- Point-wise ------------------------------------------------------------

UNARY = ["abs", "neg", "exp", "log", "sqrt", "erf", "tanh", "sin", "cos",
         "sigmoid", "softplus", "relu", "floor", "ceil", "round", "sign"]
BINARY = ["add", "sub", "mul", "div", "pow", "max", "min"]
POINTWISE = UNARY + BINARY + ["compare", "select", "cast", "clip", "not",
                              "fused"]


def pointwise(rng, ranks, name=None):
    name = name or choice(rng, POINTWISE)
    shape = random_shape(rng, 0, 4)
    dims = dims_of(shape)
    case = new_case(rng, ranks, name, exact=False)
    if name in UNARY:
        positive = name in ("log", "sqrt")
        x = case.real(shape, 0.5 if positive else -2.0)
        return case.returns(case.op(name, [x], shape, {}, dims))
    if name == "not":
        x = case.argument(shape, "i1", rng.integers(0, 2, shape))
        return case.returns(case.op(name, [x], shape, {}, dims))
    if name == "clip":
        x = case.real(shape)
        return case.returns(case.op(name, [x], shape,
                                    {"low": -0.5, "high": 1.0}, dims))
    if name == "cast":
        x = case.real(shape)
        return case.returns(case.op(name, [x], shape, {}, dims,
                                    element="i64"))
    left, right = shape, narrowed(rng, shape)
    if rng.random() < 0.5:
        left, right = right, left
    if name == "compare":
        a = {"predicate": choice(rng, ["eq", "ne", "lt", "le", "gt", "ge"])}
        return case.returns(case.op(
            name, [case.argument(left), case.argument(right)], shape, a, dims,
            element="i1"))
    if name == "select":
        flags = narrowed(rng, shape)
        condition = case.argument(flags, "i1", rng.integers(0, 2, flags))
        return case.returns(case.op(
            name, [condition, case.real(left), case.real(right)], shape, {},
            dims, element="f64"))
    if name == "fused":
        body = (["%e0", "%e1"],
                [("%e2", "arith.addf", ["%e0", "%e1"]),
                 ("%e3", "math.tanh", ["%e2"]),
                 ("%e4", "arith.mulf", ["%e3", "%e1"])], ["%e4"])
        return case.returns(case.op(
            name, [case.real(left), case.real(right)], shape, {}, dims,
            body=body))
    low = 0.5 if name in ("pow", "div") else -2.0
    return case.returns(case.op(
        name, [case.real(left, low), case.real(right, low)], shape, {}, dims))


# ---- Statistics of each rank's own part ------------------------------------


class LocalStatistics(Case):
    """A normalisation by the statistics of each part of the batch, and its
    gradient. What is expected is computed part by part."""

    def expected(self):
        x, dy, gamma, beta = self.arrays
        y, dx = np.zeros(x.shape), np.zeros(x.shape)
        cuts = ", ".join(self.split.get(f"d{d}", "[]") for d in range(x.ndim))
        layout = f"#dist.layout<[{cuts}]>"
        for box in spmd_ranks.boxes_of(self.grid, layout, x.shape):
            channels = box[1]
            part, gradient = x[box], dy[box]
            if part.size == 0:
                continue
            axes = tuple(d for d in range(x.ndim) if d != 1)
            scale = 1.0 / (part.size // part.shape[1])
            mean = part.sum(axes) * scale
            a = {"axes": axes, "axis": 1, "eps": 1e-3, "scale": scale}
            spread = nn_numpy.variance(part, mean, a)
            y[box] = nn_numpy.normalize(part, mean, spread, gamma[channels],
                                        beta[channels], a)
            sums = nn_numpy.normalize_sums(gradient, part, mean, spread, a)
            dx[box] = nn_numpy.normalize_grad(
                gradient, part, mean, spread, gamma[channels], *sums, a)
        return [y, dx]


def local_statistics(rng, ranks):
    shape = [between(rng, 1, 17), between(rng, 1, 5)]
    shape += [between(rng, 1, 4) for _ in range(between(rng, 0, 2))]
    case = LocalStatistics("local statistics", random_grid(rng, ranks), rng,
                           exact=False, propagate=True)
    axes = tuple(d for d in range(len(shape)) if d != 1)
    x, dy = case.real(shape), case.real(shape)
    c = [shape[1]]
    gamma, beta = case.real(c), case.real(c)
    scale = mean_scale(shape, axes)
    a = {"axes": axes, "scale": scale, "local": True}
    dims = dims_of(shape)
    mean = case.op("reduce", [x], c, {"kind": "sum", **a}, dims)
    split = case.split
    spread = case.op("variance", [x, mean], c, a, split=split)
    inner = {"axis": 1, "eps": 1e-3}
    y = case.op("normalize", [x, mean, spread, gamma, beta], shape, inner,
                split=split)
    sums = case.operation_of("normalize_sums", [dy, x, mean, spread], [c, c],
                             {**inner, "local": True}, split=split)
    dx = case.op("normalize_grad", [dy, x, mean, spread, gamma, *sums], shape,
                 {**inner, "local": True, "scale": scale}, split=split)
    return case.returns(y, dx, follow=0.0)


# ---- Chains ----------------------------------------------------------------


def chain(rng, ranks):
    """Partial values, overlapping parts and moves between three operations,
    each split in a way of its own."""
    case = new_case(rng, ranks, "chain", exact=True)
    n, k, m = (between(rng, 1, 17) for _ in range(3))
    x, w = case.argument([n, k]), case.argument([k, m])
    dims = [("m", n), ("n", m), ("k", k)]
    product = case.op("matmul", [x, w], [n, m], {}, dims)
    other = case.op("matmul", [case.argument([n, 3]), case.argument([3, m])],
                    [n, m], {}, [("m", n), ("n", m), ("k", 3)])
    total = case.op(choice(rng, ["add", "sub", "mul"]), [product, other],
                    [n, m], {}, dims_of([n, m]))
    order = case.op("transpose", [total], [m, n], {"permutation": (1, 0)},
                    dims_of([n, m]))
    return case.returns(order, product if rng.random() < 0.3 else order)
