#===- check_interpreter.py - nn_numpy against PyTorch --------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Compares the numpy operations that the sweep runs with PyTorch's in float64,
gradients with autograd's."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Inputs" / "python"))

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import nn_numpy  # noqa: E402

CONVS = [F.conv1d, F.conv2d, F.conv3d]
MAX_POOLS = [F.max_pool1d, F.max_pool2d, F.max_pool3d]
AVG_POOLS = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d]
compared = 0


def same(what, found, wanted):
    global compared
    compared += 1
    wanted = wanted.detach().numpy()
    if found.shape != wanted.shape or not np.allclose(found, wanted, 1e-11,
                                                      1e-11):
        sys.exit(f"check_interpreter: {what} differs from PyTorch's")


def run(name, operands, a, shape):
    return nn_numpy.evaluate(name, [o.detach().numpy() for o in operands], a,
                             [tuple(shape)], ["f64"])[0]


def draw(rng, shape, low=-2.0, high=2.0):
    return torch.tensor(rng.uniform(low, high, shape), requires_grad=True)


def grads(y, dy, *inputs):
    return torch.autograd.grad(y, inputs, dy, retain_graph=True)


def padded(x, pads, value=0.0):
    n = len(pads) // 2
    order = [pads[i + side * n] for i in reversed(range(n)) for side in (0, 1)]
    return F.pad(x, order, value=value)


def check_conv(rng):
    n = int(rng.integers(1, 4))
    groups = int(rng.integers(1, 4))
    kernel = rng.integers(1, 4, n).tolist()
    strides, dilations = (tuple(rng.integers(1, 4, n).tolist())
                          for _ in range(2))
    pads = tuple(rng.integers(0, 8, 2 * n).tolist())
    sizes = rng.integers(7, 11, n).tolist()
    x = draw(rng, [2, 2 * groups, *sizes])
    w = draw(rng, [3 * groups, 2, *kernel])
    bias = draw(rng, [3 * groups])
    a = {"strides": strides, "dilations": dilations, "pads": pads,
         "groups": groups}
    y = CONVS[n - 1](padded(x, pads), w, bias, strides, 0, dilations, groups)
    dy = draw(rng, y.shape)
    dx, dw = grads(y, dy, x, w)
    same("conv", run("conv", [x, w, bias], a, y.shape), y)
    same("conv_input_grad", run("conv_input_grad", [dy, w], a, x.shape), dx)
    same("conv_filter_grad", run("conv_filter_grad", [x, dy], a, w.shape), dw)


def check_pools(rng):
    n = int(rng.integers(1, 4))
    kernel = tuple(rng.integers(2, 5, n).tolist())
    strides = tuple(rng.integers(1, 4, n).tolist())
    low = tuple(int(rng.integers(0, k // 2 + 1)) for k in kernel)
    ceil = bool(rng.integers(0, 2))
    # Few values, so that there are ties.
    x = torch.tensor(rng.integers(0, 4, [2, 3] + rng.integers(
        7, 10, n).tolist()).astype(np.float64), requires_grad=True)
    a = {"kernel": kernel, "strides": strides, "pads": low + low,
         "dilations": tuple(rng.integers(1, 3, n).tolist())}
    y = MAX_POOLS[n - 1](padded(x, a["pads"], -np.inf), kernel, strides, 0,
                         a["dilations"])
    dy = draw(rng, y.shape)
    if torch.isfinite(y).all():
        same("max_pool", run("max_pool", [x], a, y.shape), y)
        same("max_pool_grad", run("max_pool_grad", [x, dy], a, x.shape),
             grads(y, dy, x)[0])
    y = MAX_POOLS[n - 1](x, kernel, strides, low, ceil_mode=ceil)
    dy, a = draw(rng, y.shape), dict(a, dilations=(1,) * n)
    same("max_pool", run("max_pool", [x], a, y.shape), y)
    same("max_pool_grad", run("max_pool_grad", [x, dy], a, x.shape),
         grads(y, dy, x)[0])
    for include in (False, True):
        y = AVG_POOLS[n - 1](x, kernel, strides, low, ceil, include)
        dy = draw(rng, y.shape)
        both = dict(a, count_include_pad=True) if include else a
        same("avg_pool", run("avg_pool", [x], both, y.shape), y)
        same("avg_pool_grad", run("avg_pool_grad", [dy], both, x.shape),
             grads(y, dy, x)[0])


def check_norms(rng):
    shape = rng.integers(2, 6, int(rng.integers(2, 5))).tolist()
    axes = tuple(d for d in range(len(shape)) if d != 1)
    scale = shape[1] / np.prod(shape)
    x, dy = draw(rng, shape), draw(rng, shape)
    gamma, beta = draw(rng, [shape[1]]), draw(rng, [shape[1]])
    y = F.batch_norm(x, None, None, gamma, beta, training=True, eps=1e-3)
    dx, dgamma, dbeta = grads(y, dy, x, gamma, beta)
    a = {"axis": 1, "eps": 1e-3, "axes": axes, "scale": scale, "kind": "sum"}
    mean = torch.tensor(run("reduce", [x], a, [shape[1]]))
    spread = torch.tensor(run("variance", [x, mean], a, [shape[1]]))
    same("normalize", run("normalize", [x, mean, spread, gamma, beta], a,
                          shape), y)
    sums = nn_numpy.normalize_sums(dy.detach().numpy(), x.detach().numpy(),
                                   mean.numpy(), spread.numpy(), a)
    same("normalize_sums", sums[0], dbeta)
    same("normalize_sums", sums[1], dgamma)
    same("normalize_grad", run(
        "normalize_grad", [dy, x, mean, spread, gamma,
                           *[torch.tensor(s) for s in sums]], a, shape), dx)
    frozen = F.batch_norm(x, gamma.detach(), beta.detach().abs() + 1, gamma,
                          beta, eps=1e-3)
    same("batch_norm", run(
        "batch_norm", [x, gamma, beta, gamma, beta.abs() + 1],
        {"mode": "frozen", "eps": 1e-3}, shape), frozen)
    if len(shape) > 2:
        for size in range(1, 6):
            a = {"size": size, "alpha": 0.3, "beta": 0.75, "bias": 2.0}
            before = (size - 1) // 2
            squares = F.pad((x * x).transpose(1, -1),
                            (before, size - 1 - before))
            sums = squares.unfold(-1, size, 1).sum(-1).transpose(1, -1)
            y = x / (2.0 + 0.3 / size * sums) ** 0.75
            same("lrn", run("lrn", [x], a, shape), y)
            same("lrn_grad", run("lrn_grad", [x, dy], a, shape),
                 grads(y, dy, x)[0])
            # PyTorch has the longer side before, for even sizes.
            if size % 2:
                same("lrn", run("lrn", [x], a, shape),
                     F.local_response_norm(x, size, 0.3, 0.75, 2.0))


def check_classes(rng):
    shape = rng.integers(2, 6, int(rng.integers(2, 5))).tolist()
    x, dy, a = draw(rng, shape), draw(rng, shape), {"axis": 1}
    for name, function in (("softmax", F.softmax),
                           ("log_softmax", F.log_softmax)):
        y = function(x, 1)
        same(name, run(name, [x], a, shape), y)
        same(f"{name}_grad", run(f"{name}_grad", [y, dy], a, shape),
             grads(y, dy, x)[0])
    positions = shape[:1] + shape[2:]
    labels = torch.tensor(rng.integers(0, shape[1], positions))
    losses = F.cross_entropy(x, labels, reduction="none")
    same("cross_entropy", run("cross_entropy", [x, labels], a, positions),
         losses)
    same("cross_entropy_grad", run(
        "cross_entropy_grad", [x, labels], {"axis": 1, "scale": 0.125}, shape),
        grads(losses.sum() * 0.125, torch.tensor(1.0, dtype=x.dtype), x)[0])
    same("correct", run("correct", [x, labels], a, positions),
         (x.argmax(1) == labels).double())


def check_look_ups(rng):
    table = draw(rng, [5, 7, 3])
    indices = torch.tensor(rng.integers(-7, 7, [2, 4]))
    a = {"axis": 1, "limit": 7}
    y = table[:, indices]
    dy = draw(rng, y.shape)
    same("gather", run("gather", [table, indices], a, y.shape), y)
    same("scatter_add", run("scatter_add", [dy, indices], a, table.shape),
         grads(y, dy, table)[0])


def main():
    rng = np.random.default_rng(7)
    for _ in range(60):
        for check in (check_conv, check_pools, check_norms, check_classes,
                      check_look_ups):
            check(rng)
    print(f"{compared} results agree with PyTorch's")


if __name__ == "__main__":
    main()
