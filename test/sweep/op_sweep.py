#===- op_sweep.py - every operation, split in every way ------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Partitions small programs and runs all ranks of each against the whole.

    python3 op_sweep.py [--quick] [--only FAMILY] [--seed N] [--show NUMBER]

Sizes 1 to 17 over 1 to 8 ranks, kernels 1 to 7, strides and dilations 1 to 3,
every dimension that an operation can be split along; blocks, tables, empty
parts, grids with several axes. Where no rounding is involved the results must
be equal, elsewhere to 1e-10 of the largest element. Ends with a table, and
status 1 when a case disagrees; --show prints the program of such a case.
"""

import argparse
import collections
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

os.environ.setdefault("OMP_NUM_THREADS", "1")
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "Inputs" / "python")]

try:
    import numpy as np
except ImportError:
    print("skipped: needs numpy")
    sys.exit(77)  # what ctest takes for a skipped test

import layer_cases as layers  # noqa: E402
import named_cases  # noqa: E402
import spmd_ranks  # noqa: E402
import tensor_cases as tensors  # noqa: E402

PLAN = ["-partita-expand-coupled", "-partita-propagate-splits"]
PARTITION = ["-partita-verify-plan", "-partita-partition-program",
             "-partita-verify-partition"]
BATCH = 500
SHOWN = 20


# ---- Cases -----------------------------------------------------------------


def enumerated(rng, repeats, families):
    """Arguments of one-dimensional window operations: all sizes on all numbers
    of ranks, so often, while kernels, strides, dilations and operations go
    through all their combinations."""
    combinations = list(itertools.product(range(1, 8), range(1, 4),
                                          range(1, 4), families))
    order, at = rng.permutation(len(combinations)), 0
    for _ in range(repeats):
        for size, ranks in itertools.product(range(1, 18), range(1, 9)):
            if at == len(order):
                order, at = rng.permutation(len(combinations)), 0
            yield (ranks, size) + combinations[order[at]]
            at += 1


def sampled(generator, *names):
    """A generator that goes through operations' names in turn."""
    turn = itertools.cycle(names)
    return lambda rng, ranks: generator(rng, ranks, next(turn))


# Family, generator, cases of the full sweep. Ranks are cycled through.
FAMILIES = [
    ("conv_nd", layers.conv_nd, 3000),
    ("pool_nd", layers.pool_nd, 2000),
    ("matmul", layers.matmul, 3000),
    ("normalize", sampled(layers.normalize_family, "batch_norm", "normalize",
                          "normalize_sums", "normalize_grad"), 2000),
    ("lrn", sampled(layers.lrn_family, "lrn", "lrn_grad"), 1500),
    ("dropout_mask", layers.dropout_mask, 800),
    ("dropout", layers.dropout, 100),
    ("reduce", sampled(tensors.reduce, "sum", "max", "min", "prod"), 2500),
    ("variance", tensors.variance, 800),
    ("reshape", tensors.reshape, 3000),
    ("transpose", tensors.transpose, 800),
    ("broadcast", tensors.broadcast, 800),
    ("slice", tensors.slice_, 2500),
    ("pad", tensors.pad, 2500),
    ("concat", tensors.concat, 1500),
    ("iota", tensors.iota, 200),
    ("constant", tensors.constant, 200),
    ("look_up", sampled(tensors.look_up, "gather", "scatter_add"), 2000),
    ("classes", sampled(tensors.class_family, *tensors.CLASS_OPERATIONS),
     2100),
    ("pointwise", sampled(tensors.pointwise, *tensors.POINTWISE), 2900),
    ("local_statistics", tensors.local_statistics, 1000),
    ("chain", tensors.chain, 2000),
]


def cases_of_family(rng, family, generator, count, quick):
    count = max(count // 25, 16) if quick else count
    made = 0
    while made < count:
        case = generator(rng, made % 8 + 1)
        if case:
            made += 1
            yield case


def window_cases(rng, name, repeats):
    generator, families = {
        "conv_1d": (layers.conv_1d, layers.CONV_PRODUCTS),
        "pool_1d": (layers.pool_1d, layers.POOLS)}[name]
    for arguments in enumerated(rng, repeats, families):
        case = None
        for _ in range(50):
            case = case or generator(rng, *arguments)
        if case:
            yield case


def all_cases(seed, quick, only):
    """(family, case) pairs. Each family has a generator of its own, so that
    its cases do not depend on the others."""
    for name, repeats in [("conv_1d", 150), ("pool_1d", 70)]:
        if not only or only == name:
            rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
            for case in window_cases(rng, name, max(repeats // 25, 1)
                                     if quick else repeats):
                yield name, case
    for name, generator, count in FAMILIES:
        if not only or only == name:
            rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
            for case in cases_of_family(rng, name, generator, count, quick):
                yield name, case
    for name, case in named_cases.all_cases(seed):
        if not only or only in ("named", name):
            yield name, case


# ---- Running ---------------------------------------------------------------


def compile_text(tool, text, propagate, extra=()):
    """The partitioned text and the diagnostics."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        run = subprocess.run(
            [tool, file.name, "-split-input-file", "-mlir-disable-threading",
             *(PLAN if propagate else []), *PARTITION, *extra],
            capture_output=True, text=True, check=False)
    if run.returncode < 0:
        raise RuntimeError("%s ended by signal %d:\n%s" % (
            tool, -run.returncode, run.stderr[-4000:]))
    return run.stdout, run.stderr


class Row:
    def __init__(self):
        self.cases, self.worst, self.failed = 0, 0.0, 0
        self.splits = collections.Counter()


class Sweep:
    def __init__(self, tool):
        self.tool, self.rows = tool, collections.defaultdict(Row)
        self.failures = []

    def run(self, cases):
        """`cases`: (number, family, case) of one batch."""
        for propagate in (False, True):
            batch = {f"c{number}": (number, family, case)
                     for number, family, case in cases
                     if case.propagate == propagate}
            if not batch:
                continue
            text = "\n// -----\n".join(
                case.text(name) for name, (_, _, case) in batch.items())
            output, _ = compile_text(self.tool, text, propagate,
                                     ["-mlir-print-op-generic"])
            programs = {}
            for chunk in output.split("// -----"):
                if '"func.func"' in chunk:
                    program = spmd_ranks.Program(chunk)
                    for phase in program.functions:
                        programs[phase] = program
            for name, entry in batch.items():
                self.judge(name, *entry, programs.get(name))

    def judge(self, name, number, family, case, program):
        row = self.rows[case.operation]
        row.cases += 1
        row.splits.update(case.split.keys())
        try:
            if program is None:
                _, errors = compile_text(self.tool, case.text(name),
                                         case.propagate)
                if case.refusal and case.refusal in errors:
                    return
                raise spmd_ranks.Mismatch(f"does not compile: {errors}")
            if case.refusal:
                raise spmd_ranks.Mismatch("compiles; expected the error "
                                          f"'{case.refusal}'")
            row.worst = max(row.worst, case.compare(program, name))
        except (spmd_ranks.Mismatch, KeyError, IndexError) as error:
            row.failed += 1
            self.failures.append((number, family, case, error))

    def report(self):
        print(f"{'operation':<20}{'cases':>7}{'failed':>8}{'worst':>10}  "
              "splits")
        for name, row in sorted(self.rows.items()):
            splits = ", ".join(f"{d} {n}" for d, n in sorted(
                row.splits.items()))
            print(f"{name:<20}{row.cases:>7}{row.failed:>8}"
                  f"{row.worst:>10.1e}  {splits}")
        total = sum(row.cases for row in self.rows.values())
        print(f"{total} cases, {len(self.failures)} failed")


def show(tool, number, case):
    name = f"c{number}"
    print(case.text(name))
    output, errors = compile_text(tool, case.text(name), case.propagate)
    print(output, errors)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tool", default="partita-opt")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", help="one family, or a named case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, help="print one case's program")
    options = parser.parse_args()

    sweep, batch = Sweep(options.tool), []
    for number, (family, case) in enumerate(
            all_cases(options.seed, options.quick, options.only)):
        if options.show is not None:
            if number == options.show:
                show(options.tool, number, case)
                batch = [(number, family, case)]
            continue
        batch.append((number, family, case))
        if len(batch) == BATCH:
            sweep.run(batch)
            batch = []
    sweep.run(batch)
    for number, family, case, error in sweep.failures[:SHOWN]:
        print(f"case {number} ({family}, nn.{case.operation}): {error}")
    sweep.report()
    if not sweep.rows:
        sys.exit("op_sweep: error: no case of that name")
    sys.exit(1 if sweep.failures else 0)


if __name__ == "__main__":
    main()
