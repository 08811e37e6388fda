#===- layer_cases.py - windows, products, normalisations -----------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Generators of cases. Each takes a random generator and a number of ranks,
some also what else is enumerated, and returns one case."""

import math

from sweep_case import Case, random_grid

SPATIAL = {1: ["w"], 2: ["h", "w"], 3: ["d", "h", "w"]}


def between(rng, low, high):
    return int(rng.integers(low, high + 1))


def choice(rng, items):
    return items[rng.integers(len(items))]


def floor_windows(size, kernel, stride, dilation, low, high):
    room = size + low + high - dilation * (kernel - 1) - 1
    return room // stride + 1 if room >= 0 else 0


# ---- Convolution -----------------------------------------------------------


def conv_case(rng, ranks, product, sizes, kernel, strides, dilations,
              groups=1, small=False):
    """`product`: conv, conv_input_grad or conv_filter_grad."""
    spatial = len(sizes)
    low = [between(rng, 0, min(k * d + 1, 9)) if rng.random() < 0.8 else 0
           for k, d in zip(kernel, dilations)]
    high = [between(rng, 0, min(k * d + 1, 9)) if rng.random() < 0.8 else 0
            for k, d in zip(kernel, dilations)]
    out = []
    for i in range(spatial):
        extent = dilations[i] * (kernel[i] - 1) + 1
        high[i] = max(high[i], extent - sizes[i] - low[i])
        out.append(floor_windows(sizes[i], kernel[i], strides[i], dilations[i],
                                 low[i], high[i]))
    n = between(rng, 1, 2 if small else 5)
    co = groups * between(rng, 1, 2 if groups > 1 or small else 4)
    ci = groups * between(rng, 1, 2 if groups > 1 or small else 4)
    a = {"strides": tuple(strides), "dilations": tuple(dilations),
         "pads": tuple(low + high), "groups": groups}
    x_shape, w_shape = (n, ci, *sizes), (co, ci // groups, *kernel)
    y_shape = (n, co, *out)
    rows = sizes if product == "conv_input_grad" else out
    names = SPATIAL[spatial]
    if rng.random() < 0.7:
        dims = list(zip(names, rows))
    else:
        dims = [("n", n)]
        dims += [("g", groups)] if groups > 1 else [("co", co), ("ci", ci)]
        dims += list(zip(names, rows))
    case = Case(product, random_grid(rng, ranks), rng)
    if product == "conv":
        operands = [case.argument(x_shape), case.argument(w_shape)]
        if rng.random() < 0.4:
            if not case.propagate:
                # Parts of a sum over ci must not add their bias each.
                dims = [d for d in dims if d[0] != "ci"]
            operands.append(case.argument((co,)))
        y = case.op("conv", operands, y_shape, a, dims)
    elif product == "conv_input_grad":
        y = case.op("conv_input_grad", [case.argument(y_shape),
                                        case.argument(w_shape)], x_shape, a,
                    dims)
    else:
        y = case.op("conv_filter_grad", [case.argument(x_shape),
                                         case.argument(y_shape)], w_shape, a,
                    dims)
    return case.returns(y, follow=0.2)


CONV_PRODUCTS = ["conv", "conv_input_grad", "conv_filter_grad"]


def conv_1d(rng, ranks, size, kernel, stride, dilation, product):
    groups = choice(rng, [1, 1, 1, 2, 3, 4])
    return conv_case(rng, ranks, product, [size], [kernel], [stride],
                     [dilation], groups)


def conv_nd(rng, ranks, product=None):
    spatial = 2 if rng.random() < 0.8 else 3
    top = 9 if spatial == 2 else 5
    return conv_case(
        rng, ranks, product or choice(rng, CONV_PRODUCTS),
        [between(rng, 1, top) for _ in range(spatial)],
        [between(rng, 1, 4 if spatial == 2 else 2) for _ in range(spatial)],
        [between(rng, 1, 3) for _ in range(spatial)],
        [between(rng, 1, 2) for _ in range(spatial)],
        choice(rng, [1, 1, 2, 3]), small=True)


# ---- Pools -----------------------------------------------------------------


def pool_case(rng, ranks, name, sizes, kernel, strides, dilations):
    spatial = len(sizes)
    low, high, out = [], [], []
    for i in range(spatial):
        reach = (kernel[i] - 1) * dilations[i]
        low.append(between(rng, 0, reach))
        high.append(between(rng, 0, reach))
        short = reach + 1 - sizes[i] - low[i] - high[i]
        if short > 0:
            # Pads may not exceed the window: dilate and shrink instead.
            sizes[i] += short
        count = floor_windows(sizes[i], kernel[i], strides[i], dilations[i],
                              low[i], high[i])
        room = sizes[i] + low[i] + high[i] - reach - 1
        hangs = room % strides[i] and count * strides[i] < sizes[i] + low[i]
        out.append(count + 1 if hangs and rng.random() < 0.5 else count)
    # Every window must hold an element, also a dilated one.
    for i in range(spatial):
        for o in range(out[i]):
            places = [o * strides[i] - low[i] + k * dilations[i]
                      for k in range(kernel[i])]
            if not any(0 <= p < sizes[i] for p in places):
                return None
    n, c = between(rng, 1, 3), between(rng, 1, 3)
    a = {"kernel": tuple(kernel), "strides": tuple(strides),
         "dilations": tuple(dilations), "pads": tuple(low + high)}
    if name.startswith("avg") and rng.random() < 0.5:
        a["count_include_pad"] = True
    x_shape, y_shape = (n, c, *sizes), (n, c, *out)
    rows = sizes if name.endswith("grad") else out
    dims = list(zip(SPATIAL[spatial], rows))
    if rng.random() < 0.3:
        dims += [("n", n), ("c", c)]
    # Quotients are equal, their sums only nearly.
    case = Case(name, random_grid(rng, ranks), rng,
                exact=name != "avg_pool_grad")
    if name in ("max_pool", "avg_pool"):
        y = case.op(name, [case.argument(x_shape)], y_shape, a, dims)
    elif name == "max_pool_grad":
        y = case.op(name, [case.argument(x_shape), case.argument(y_shape)],
                    x_shape, a, dims)
    else:
        y = case.op(name, [case.argument(y_shape)], x_shape, a, dims)
    return case.returns(y, follow=0.2)


POOLS = ["max_pool", "max_pool_grad", "avg_pool", "avg_pool_grad"]


def pool_1d(rng, ranks, size, kernel, stride, dilation, name):
    return pool_case(rng, ranks, name, [size], [kernel], [stride], [dilation])


def pool_nd(rng, ranks, name=None):
    spatial = 2 if rng.random() < 0.8 else 3
    top = 9 if spatial == 2 else 5
    return pool_case(
        rng, ranks, name or choice(rng, POOLS),
        [between(rng, 1, top) for _ in range(spatial)],
        [between(rng, 1, 4 if spatial == 2 else 2) for _ in range(spatial)],
        [between(rng, 1, 3) for _ in range(spatial)],
        [between(rng, 1, 2) for _ in range(spatial)])


# ---- Products --------------------------------------------------------------


def matmul(rng, ranks):
    m, n, k = (between(rng, 1, 17) for _ in range(3))
    lead = [between(rng, 1, 4) for _ in range(choice(rng, [0, 0, 1, 2]))]

    def lead_of():
        shape = [1 if rng.random() < 0.25 else s for s in lead]
        return shape[between(rng, 0, len(shape)):] \
            if rng.random() < 0.3 else shape

    left = lead_of()
    right = lead if len(left) < len(lead) or 1 in left else lead_of()
    if len(right) < len(lead) and len(left) < len(lead):
        left = lead
    a = {}
    if rng.random() < 0.5:
        a["transpose_a"] = True
    if rng.random() < 0.5:
        a["transpose_b"] = True
    if rng.random() < 0.3:
        a["alpha"] = 0.5
    case = Case("matmul", random_grid(rng, ranks), rng)
    x = case.argument(left + ([k, m] if "transpose_a" in a else [m, k]))
    y = case.argument(right + ([n, k] if "transpose_b" in a else [k, n]))
    whole = [max(p, q) for p, q in zip([1] * (len(lead) - len(left)) + left,
                                       [1] * (len(lead) - len(right)) + right)]
    dims = [(f"b{i}", s) for i, s in enumerate(whole)]
    dims += [("m", m), ("n", n), ("k", k)]
    return case.returns(case.op("matmul", [x, y], whole + [m, n], a, dims))


# ---- Normalisations --------------------------------------------------------


def normalize_family(rng, ranks, name=None):
    name = name or choice(rng, ["batch_norm", "normalize", "normalize_sums",
                                "normalize_grad"])
    shape = [between(rng, 1, 9) for _ in range(between(rng, 2, 4))]
    shape[between(rng, 0, len(shape) - 1)] = between(rng, 1, 17)
    axis = 1 if name == "batch_norm" else between(rng, 0, len(shape) - 1)
    dims = [(f"d{d}", s) for d, s in enumerate(shape)]
    case = Case(name, random_grid(rng, ranks), rng, exact=False)
    c = (shape[axis],)
    a = {"eps": 1e-3, "axis": axis}
    x = case.real(shape)
    if name == "batch_norm":
        a = {"eps": 1e-3, "momentum": 0.9, "mode": "frozen"}
        operands = [x, case.real(c), case.real(c), case.real(c),
                    case.real(c, 0.5, 2.0)]
    elif name == "normalize":
        operands = [x, case.real(c), case.real(c, 0.5, 2.0), case.real(c),
                    case.real(c)]
    elif name == "normalize_sums":
        operands = [x, case.real(shape), case.real(c), case.real(c, 0.5, 2.0)]
        return case.returns(*case.operation_of(name, operands, [c, c], a,
                                               dims))
    else:
        count = math.prod(shape) // shape[axis]
        a["scale"] = 0.0 if rng.random() < 0.2 else 1.0 / count
        operands = [x, case.real(shape), case.real(c),
                    case.real(c, 0.5, 2.0)] + [case.real(c) for _ in range(3)]
    return case.returns(case.op(name, operands, shape, a, dims))


def lrn_family(rng, ranks, name=None):
    name = name or choice(rng, ["lrn", "lrn_grad"])
    shape = [between(rng, 1, 3), between(rng, 1, 17)]
    shape += [between(rng, 1, 3) for _ in range(between(rng, 0, 2))]
    dims = [(f"d{d}", s) for d, s in enumerate(shape)]
    if rng.random() < 0.7:
        dims = dims[1:2]
    case = Case(name, random_grid(rng, ranks), rng, exact=False)
    a = {"size": between(rng, 1, 8), "alpha": 0.3, "beta": 0.75, "bias": 2.0}
    operands = [case.real(shape) for _ in range(1 if name == "lrn" else 2)]
    return case.returns(case.op(name, operands, shape, a, dims))


def dropout_mask(rng, ranks):
    shape = tuple(between(rng, 1, 17 if d == 0 else 6)
                  for d in range(between(rng, 1, 4)))
    case = Case("dropout_mask", random_grid(rng, ranks), rng)
    a = {"ratio": 0.5, "stream": between(rng, 0, 5), "global_shape": shape,
         "start": (0,) * len(shape)}
    dims = [(f"d{d}", s) for d, s in enumerate(shape)]
    return case.returns(case.op("dropout_mask", [], shape, a, dims))


def dropout(rng, ranks):
    shape = [between(rng, 1, 17), between(rng, 1, 5)]
    case = Case("dropout", random_grid(rng, ranks), rng)
    return case.returns(case.op(
        "dropout", [case.argument(shape)], shape, {"ratio": 0.5, "stream": 1},
        [("d0", shape[0]), ("d1", shape[1])]))
