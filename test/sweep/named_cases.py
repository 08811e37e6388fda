#===- named_cases.py - bug reports of the field as cases -----------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Cases that other systems got wrong, with what must hold besides the numbers:
which collectives there are, and where results lie."""

import numpy as np

import spmd_ranks
from sweep_case import Case


def communication(program, name):
    """The names of the collectives of one function, in order."""
    function = next(iter(program.functions[name].values()))
    return [op.name for op in function.ops
            if op.name.startswith("spmd.") and op.name != "spmd.slice"]


def communicates(*expected):
    def check(_, program, name):
        found = communication(program, name)
        if found != list(expected):
            raise spmd_ranks.Mismatch(f"communicates by {found}, expected "
                                      f"{list(expected)}")
    return check


def lies_like(result, argument):
    """The gradient by an argument lies as that argument does."""
    def check(_, program, name):
        function = next(iter(program.functions[name].values()))
        boxes = [spmd_ranks.boxes_of(program.grid, layout, shape)
                 for layout, shape, _ in (function.results[result],
                                          function.arguments[argument])]
        if boxes[0] != boxes[1]:
            raise spmd_ranks.Mismatch(
                f"the gradient lies as {function.results[result][0]}, its "
                f"argument as {function.arguments[argument][0]}")
    return check


def new_case(name, seed, *grid, exact=True):
    return Case(name, grid, np.random.default_rng(seed), exact, propagate=True)


def window(strides, pads, **more):
    n = len(strides)
    return {"strides": strides, "dilations": (1,) * n, "pads": pads, **more}


# ---- The cases -------------------------------------------------------------


def d06_strided_conv(seed):
    """jax-ml/jax#16894: a filter cut by output channels, stride 2."""
    case = new_case("conv", seed, ("a", 2), ("b", 2))
    x, w = case.argument((8, 16, 8, 8)), case.argument((16, 16, 3, 3))
    bias, dy = case.argument((16,)), case.argument((8, 16, 4, 4))
    a = window((2, 2), (1, 1, 1, 1), groups=1)
    split = {"n": "[a]", "co": "[b]"}
    y = case.op("conv", [x, w, bias], (8, 16, 4, 4), a, split=split)
    dx = case.op("conv_input_grad", [dy, w], x.shape, a, split=split)
    dw = case.op("conv_filter_grad", [x, dy], w.shape, a, split=split)
    db = case.op("reduce", [dy], bias.shape, {"kind": "sum",
                                              "axes": (0, 2, 3)},
                 split={"d0": "[a]", "d1": "[b]"})
    yield case.returns(y, dx, dw, db, follow=0.0)


def d08_gradients_lie_like_arguments(seed):
    """pytorch/pytorch#191926: the gradient of a width-split input comes back
    as batch-split. Here for every operation whose result is as large."""
    for ranks in (2, 3):
        def begin(name, exact=True):
            return new_case(name, seed, ("a", ranks), exact=exact)

        def end(case, y, dx):
            case.checks.append(lies_like(1, 0))
            return case.returns(y, dx, follow=0.0)

        shape, pads = (4, 3, 6, 9), (1, 1, 1, 1)
        for dim in ("n", "h", "w"):
            split = {dim: "[a]"}
            case = begin("conv_input_grad")
            x, dy = case.argument(shape), case.argument((4, 2, 6, 9))
            w, a = case.argument((2, 3, 3, 3)), window((1, 1), pads, groups=1)
            y = case.op("conv", [x, w], (4, 2, 6, 9), a, split=split)
            yield end(case, y, case.op("conv_input_grad", [dy, w], shape, a,
                                       split=split))
            a = window((1, 1), pads, kernel=(3, 3))
            case = begin("max_pool_grad")
            x, dy = case.argument(shape), case.argument(shape)
            y = case.op("max_pool", [x], shape, a, split=split)
            yield end(case, y, case.op("max_pool_grad", [x, dy], shape, a,
                                       split=split))
            case = begin("avg_pool_grad", exact=False)
            x, dy = case.argument(shape), case.argument(shape)
            y = case.op("avg_pool", [x], shape, a, split=split)
            yield end(case, y, case.op("avg_pool_grad", [dy], shape, a,
                                       split=split))
        for dim in ("d0", "d1", "d3"):
            split = {dim: "[a]"}
            case = begin("lrn_grad", exact=False)
            x, dy = case.real(shape), case.real(shape)
            a = {"size": 3, "alpha": 0.3, "beta": 0.75, "bias": 2.0}
            y = case.op("lrn", [x], shape, a, split=split)
            yield end(case, y, case.op("lrn_grad", [x, dy], shape, a,
                                       split=split))
            case = begin("normalize_grad", exact=False)
            x, dy = case.real(shape), case.real(shape)
            vectors = [case.real((3,), 0.5, 2.0) for _ in range(4)]
            a = {"axis": 1, "eps": 1e-3}
            y = case.op("normalize", [x, *vectors], shape, a, split=split)
            sums = case.operation_of("normalize_sums", [dy, x, *vectors[:2]],
                                     [(3,), (3,)], a, split=split)
            dx = case.op("normalize_grad", [dy, x, *vectors[:3], *sums], shape,
                         {**a, "scale": 1.0 / 216}, split=split)
            yield end(case, y, dx)
            for name in ("softmax", "log_softmax"):
                case = begin(f"{name}_grad", exact=False)
                x, dy = case.real(shape), case.real(shape)
                y = case.op(name, [x], shape, {"axis": 1}, split=split)
                yield end(case, y, case.op(f"{name}_grad", [y, dy], shape,
                                           {"axis": 1}, split=split))


def d09_batch_split_is_allowed(seed):
    """pytorch/pytorch#176446: a split of the batch is refused by a rule for
    spatial splits."""
    case = new_case("conv", seed, ("a", 2))
    x, w = case.argument((4, 3, 14, 14)), case.argument((5, 3, 7, 7))
    case.checks.append(communicates())
    yield case.returns(case.op(
        "conv", [x, w], (4, 5, 7, 7),
        window((2, 2), (3, 3, 3, 3), groups=1), split={"n": "[a]"}),
        follow=0.0)


def d17_operand_order(seed):
    """pytorch/xla#5264: A - B and A / B come out as B - A and B / A."""
    cut, whole = "#dist.layout<[[a], []]>", "#dist.layout<[[], []]>"
    for name in ("sub", "div"):
        for left in (cut, whole):
            for right in (cut, whole):
                case = new_case(name, seed, ("a", 3))
                case.propagate = False
                operands = [
                    case.argument((7, 5), layout=layout,
                                  values=case.rng.integers(1, 9, (7, 5)))
                    for layout in (left, right)]
                case.checks.append(communicates())
                yield case.returns(case.op(name, operands, (7, 5), {},
                                           split={"d0": "[a]"}), follow=0.0)


def d19_grouped_conv(seed):
    """openxla/xla#47945: a split of the batch gathers the whole batch; then
    channels, which are cut at the borders of groups only."""
    case = new_case("conv", seed, ("a", 4))
    x, w = case.argument((8, 4, 6, 6)), case.argument((6, 2, 3, 3))
    case.checks.append(communicates())
    a = window((1, 1), (1, 1, 1, 1), groups=2)
    yield case.returns(case.op("conv", [x, w], (8, 6, 6, 6), a,
                               split={"n": "[a]"}), follow=0.0)

    def whole_groups(_, program, name):
        sizes = [[op.attributes["groups"] for op in function.ops
                  if op.name == "nn.conv"]
                 for function in program.functions[name].values()]
        if sorted(sizes) != [[1], [2]]:
            raise spmd_ranks.Mismatch(f"groups per class are {sizes}")

    case = new_case("conv", seed, ("a", 2))
    x, w = case.argument((2, 6, 6, 6)), case.argument((9, 2, 3, 3))
    a = dict(a, groups=3)
    case.checks += [communicates(), whole_groups]
    yield case.returns(case.op("conv", [x, w], (2, 9, 6, 6), a,
                               split={"g": "[a]"}), follow=0.0)
    case = new_case("conv", seed, ("a", 2))
    x, w = case.argument((2, 6, 6, 6)), case.argument((9, 2, 3, 3))
    case.refusal = "'nn.conv' cannot be split along 'co'; it can along: n, g"
    yield case.returns(case.op("conv", [x, w], (2, 9, 6, 6), a,
                               split={"co": "[a]"}), follow=0.0)


def d23_scalar_reduction(seed):
    """jax-ml/jax#31931: a scalar that is a partial sum is not marked so."""
    case = new_case("reduce", seed, ("a", 4))
    x, y = case.argument((10,)), case.argument((10,))
    product = case.op("mul", [x, y], (10,), {}, split={"d0": "[a]"})
    total = case.op("reduce", [product], (), {"kind": "sum", "axes": (0,)},
                    split={"d0": "[a]"})
    case.checks.append(communicates("spmd.all_reduce"))
    yield case.returns(total, follow=0.0)
    case = new_case("matmul", seed, ("a", 4))
    x, y = case.argument((1, 10)), case.argument((10, 1))
    product = case.op("matmul", [x, y], (1, 1), {}, split={"k": "[a]"})
    case.checks.append(communicates("spmd.all_reduce"))
    yield case.returns(case.op("reshape", [product], (), {}, split={}),
                       follow=0.0)


def conv_bias_is_added_once(seed):
    """Parts of a sum over input channels: the bias comes after the sum, and a
    plan that adds it in every part is refused."""
    for propagate in (True, False):
        case = new_case("conv", seed, ("a", 3))
        case.propagate = propagate
        operands = [case.argument((2, 7, 5)), case.argument((4, 7, 3)),
                    case.argument((4,))]
        if not propagate:
            case.refusal = "would add its bias 3 times"
        yield case.returns(case.op("conv", operands, (2, 4, 3),
                                   window((1,), (0, 0), groups=1),
                                   split={"ci": "[a]"}), follow=0.0)


CASES = [d06_strided_conv, d08_gradients_lie_like_arguments,
         d09_batch_split_is_allowed, d17_operand_order, d19_grouped_conv,
         d23_scalar_reduction, conv_bias_is_added_once]


def all_cases(seed):
    for make in CASES:
        for case in make(seed):
            yield make.__name__, case
