#===- sweep_case.py - one small program that is split -------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""A case: a grid, arguments, one to three operations, a split of the first.

Cases are run whole in numpy, and as text through the compiler on all ranks.
Every random choice comes from the generator that the case is made with.
"""

import numpy as np

import nn_numpy
import spmd_ranks

# Enumerations, by the name of the attribute.
ENUMERATIONS = {"kind": "kind", "predicate": "predicate", "mode": "bn_mode"}

AXES = "abc"


class Value:
    def __init__(self, name, shape, element):
        self.name, self.shape, self.element = name, tuple(shape), element

    @property
    def type(self):
        sizes = "".join(f"{s}x" for s in self.shape)
        return f"tensor<{sizes}{self.element}>"


def attribute_text(name, value):
    if value is True:
        return name
    if name in ENUMERATIONS:
        return f"{name} = #nn<{ENUMERATIONS[name]} {value}>"
    if isinstance(value, (tuple, list)):
        items = ": " + ", ".join(map(str, value)) if value else ""
        return f"{name} = array<i64{items}>"
    if isinstance(value, str):
        return f"{name} = {value}"
    if isinstance(value, int):
        return f"{name} = {value} : i64"
    return f"{name} = {value:.17e} : f64"


# ---- Splits ----------------------------------------------------------------


def factorizations(ranks):
    """The grids of so many ranks, up to three axes."""
    grids = [(ranks,)]
    for a in range(2, ranks):
        if ranks % a == 0:
            grids.append((a, ranks // a))
    if ranks == 8:
        grids.append((2, 2, 2))
    return grids


def random_grid(rng, ranks):
    grids = factorizations(ranks)
    sizes = grids[0] if rng.random() < 0.6 else grids[rng.integers(len(grids))]
    return tuple(zip(AXES, sizes))


def random_cut(rng, axes, parts, size):
    """Text of one dimension's cut: balanced, in blocks, or a table."""
    text = f"[{', '.join(axes)}]"
    style = rng.random()
    divisors = [b for b in range(2, size + 1) if size % b == 0]
    if style < 0.12 and divisors:
        return f"{text} by {divisors[rng.integers(len(divisors))]}"
    if style < 0.3:
        ends = sorted(rng.integers(0, size + 1, parts - 1).tolist()) + [size]
        ranges = [f"{b}:{e}" for b, e in zip([0] + ends, ends)]
        if rng.random() < 0.2:
            # Parts need not lie in the order of the ranks.
            rng.shuffle(ranges)
        return f"{text} at [{', '.join(ranges)}]"
    return text


def random_cuts(rng, grid, sizes, leave=0.1):
    """Cuts by position for dimensions of these sizes; every axis goes to some
    dimension, or, with probability `leave`, to none."""
    axes_of = {}
    for at in rng.permutation(len(grid)):
        if len(sizes) and rng.random() >= leave:
            axes_of.setdefault(int(rng.integers(len(sizes))), []).append(at)
    cuts = {}
    for dim, axes in axes_of.items():
        parts = int(np.prod([grid[a][1] for a in axes]))
        cuts[dim] = random_cut(rng, [grid[a][0] for a in axes], parts,
                               sizes[dim])
    return cuts


def random_layout(rng, grid, shape):
    cuts = random_cuts(rng, grid, shape, leave=0.4)
    dims = ", ".join(cuts.get(d, "[]") for d in range(len(shape)))
    return f"#dist.layout<[{dims}]>"


def random_split(rng, grid, dims, leave=0.05):
    """`dims`: (name, size) pairs. Returns {name: cut}."""
    cuts = random_cuts(rng, grid, [size for _, size in dims], leave)
    return {dims[d][0]: cut for d, cut in sorted(cuts.items())}


# ---- Cases -----------------------------------------------------------------


class Case:
    """`exact`: results are sums of small integers, so that they are equal
    whatever the order of additions. `propagate`: arguments are made in the
    layout that is needed first, otherwise they have layouts of their own."""

    def __init__(self, operation, grid, rng, exact=True, propagate=None):
        self.operation, self.grid, self.exact = operation, grid, exact
        self.rng = rng
        self.propagate = rng.random() < 0.5 if propagate is None else propagate
        self.arguments, self.arrays, self.layouts = [], [], []
        self.ops, self.results, self.split = [], [], None
        # Called with the compiled program and the function's name.
        self.checks = []
        # What the compiler must say, for a program that is no legal plan.
        self.refusal = None

    def argument(self, shape, element="f64", values=None, layout=None):
        value = Value(f"%x{len(self.arguments)}", shape, element)
        if values is None:
            values = self.rng.integers(-4, 5, value.shape)
        self.arguments.append(value)
        self.arrays.append(np.asarray(values).astype(
            spmd_ranks.dtype_of(element)).reshape(value.shape))
        if layout is None and not self.propagate:
            layout = random_layout(self.rng, self.grid, value.shape)
        self.layouts.append(layout)
        return value

    def real(self, shape, low=-2.0, high=2.0):
        return self.argument(shape,
                             values=self.rng.uniform(low, high, shape))

    def operation_of(self, name, operands, shapes, attributes, dims=None,
                     split=None, elements=None, body=None):
        """Appends nn.name, split along `dims` at random or as `split` says.
        Returns its results."""
        if split is None:
            split = random_split(self.rng, self.grid, dims or [])
        if self.split is None:
            self.split = split
        elements = elements or [operands[0].element if operands else "f64"] \
            * len(shapes)
        results = [Value(f"%v{len(self.ops)}" + (f"#{i}" if len(shapes) > 1
                                                 else ""), shape, element)
                   for i, (shape, element) in enumerate(zip(shapes, elements))]
        self.ops.append((name, operands, results, attributes, split, body))
        return results

    def op(self, name, operands, shape, attributes, dims=None, split=None,
           element=None, body=None):
        return self.operation_of(name, operands, [shape], attributes, dims,
                                 split, [element] if element else None,
                                 body)[0]

    def returns(self, *values, follow=0.3):
        """Values to compare; some of them only after an operation that is
        split in a way of its own."""
        for value in values:
            if self.rng.random() < follow and value.element == "f64":
                dims = [(f"d{d}", s) for d, s in enumerate(value.shape)]
                name = "neg" if self.rng.random() < 0.6 else "relu"
                value = self.op(name, [value], value.shape, {}, dims)
            self.results.append(value)
        return self

    def text(self, name):
        grid = ", ".join(f"{axis} = {size}" for axis, size in self.grid)
        arguments = ", ".join(
            f"{v.name}: {v.type}"
            + (f" {{dist.layout = {layout}}}" if layout else "")
            for v, layout in zip(self.arguments, self.layouts))
        lines = [f"module attributes {{dist.grid = #dist.grid<{grid}>}} {{",
                 f"  func.func @{name}({arguments}) -> "
                 f"({', '.join(v.type for v in self.results)}) {{"]
        lines += ["    " + self.op_text(*op) for op in self.ops]
        names = ", ".join(v.name for v in self.results)
        types = ", ".join(v.type for v in self.results)
        return "\n".join(lines + [f"    return {names} : {types}", "  }", "}"])

    @staticmethod
    def op_text(name, operands, results, attributes, split, body):
        result = results[0].name.split("#")[0]
        count = f":{len(results)}" if len(results) > 1 else ""
        inner = ", ".join(attribute_text(*a) for a in attributes.items()
                          if not (name == "constant" and a[0] == "splat"))
        cuts = ", ".join(f"{dim} = {cut}" for dim, cut in split.items())
        outer = f" {{dist.split = #dist.split<{cuts}>}}" if split else ""
        region = ""
        if body:
            names, steps, yielded = body
            region = " ({\n    ^bb0(" + ", ".join(
                f"{n}: f64" for n in names) + "):\n" + "\n".join(
                f'      {r} = "{s}"({", ".join(o)}) : '
                f'({", ".join(["f64"] * len(o))}) -> f64'
                for r, s, o in steps) + (
                f'\n      "nn.yield"({", ".join(yielded)}) : '
                f'({", ".join(["f64"] * len(yielded))}) -> ()\n    }})')
        return (f'{result}{count} = "nn.{name}"'
                f'({", ".join(o.name for o in operands)})'
                f"{f' <{{{inner}}}>' if inner else ''}{region}{outer} : "
                f'({", ".join(o.type for o in operands)}) -> '
                f'({", ".join(r.type for r in results)})')

    def expected(self):
        values = {a.name: array for a, array in zip(self.arguments,
                                                    self.arrays)}
        for name, operands, results, attributes, _, body in self.ops:
            if name == "constant":
                attributes = {"value": attributes["splat"]}
            made = nn_numpy.evaluate(
                name, [values[o.name] for o in operands], attributes,
                [r.shape for r in results], [r.element for r in results], body)
            values.update(zip([r.name for r in results], made))
        return [values[r.name] for r in self.results]

    def compare(self, program, name):
        """The worst error of a partitioned program, relative to the largest
        element of a result. Raises Mismatch where it is too large."""
        worst = 0.0
        found = program.run(name, self.arrays)
        for i, (have, want) in enumerate(zip(found, self.expected())):
            if have.shape != want.shape:
                raise spmd_ranks.Mismatch(
                    f"result {i} has shape {have.shape}, not {want.shape}")
            if np.array_equal(have, want):
                continue
            scale = max(np.abs(want).max(), 1e-3)
            difference = np.abs(np.asarray(have, float) - want)
            error = difference.max() / scale
            if np.isnan(difference).any() or error > 1e-10 or self.exact:
                at = np.unravel_index(np.argmax(difference), want.shape)
                raise spmd_ranks.Mismatch(
                    f"result {i} differs at {tuple(map(int, at))}: "
                    f"{have[at]}, expected {want[at]}")
            worst = max(worst, error)
        for check in self.checks:
            check(self, program, name)
        return worst
