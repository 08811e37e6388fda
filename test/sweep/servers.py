#!/usr/bin/env python3
#===- servers - programs with servers train as one rank does -------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Trains programs with server ranks and compares with one rank.

usage: servers.py PARTITA LINK-FILE WORKDIR MODELS [--channel threads|mpi]
           [--only TEXT]

Each case is a way to train, then splits and methods with a number of servers:
more and fewer than workers, more and fewer than groups that share a part of a
parameter. What is compared, and how, says exactness.py.
"""

import argparse
import os
import shutil
import sys

import exactness

BOTH = ["--grid", "pr=2,pc=2", "--split", "*=batch:pc,model:pr"]
UNEVEN = ["--grid", "pr=3,pc=2", "--split", "*=batch:pc,model:pr"]
SHARDS = ["--grid", "pr=11,pc=2", "--split", "*=batch:pc,model:pr",
          "--bucket-size", "1K"]
KINDS = ["--grid", "a=2,b=2,c=2", "--split", "*=batch:a+c", "--split",
         "/net/net.1/Gemm=batch:a,model:b"]
HALOS = ["--grid", "pr=2,pc=2", "--split", "*=batch:pc,domain.h:pr"]
PS = ["--sync", "parameter_server"]

# Model, how it is trained, and (label, options, workers, servers).
CASES = [
    ("mlp", ["--optimizer", "adamw", "--lr", "0.001", "--weight-decay",
             "0.01"], [
        ("one server", ["--ranks", "2"] + PS, 2, 1),
        ("uneven batch", ["--ranks", "3", "--bucket-size", "16K"] + PS, 3, 2),
        ("more servers than workers", ["--ranks", "2"] + PS, 2, 3),
        ("mixed methods", ["--ranks", "4", "--sync", "*=all_reduce:ring",
                           "--sync", "*.weight=parameter_server"], 4, 2),
        ("factors", ["--ranks", "2", "--sync", "poseidon"], 2, 2),
        ("two groups, one server", BOTH + PS, 4, 1),
        ("two groups, three servers", BOTH + PS, 4, 3),
        ("three groups, two servers", UNEVEN + PS, 6, 2),
        ("groups over one axis and over two", KINDS + PS, 8, 3),
        ("groups without a part", SHARDS + PS, 22, 5),
        ("empty parts of the batch", ["--ranks", "7"] + PS, 7, 2),
    ]),
    ("lenet5", ["--momentum", "0.9", "--nesterov"], [
        ("filters", ["--ranks", "3", "--sync", "conv*=parameter_server",
                     "--bucket-size", "4K"], 3, 3),
        ("halos", HALOS + PS, 4, 2),
        ("whole steps", ["--ranks", "2", "--overlap-steps", "off",
                         "--bucket-size", "4K"] + PS, 2, 2),
        ("no overlap", ["--ranks", "2", "--overlap", "off", "--bucket-size",
                        "4K"] + PS, 2, 1),
        ("2x2", ["--grid", "2x2:paper", "--bucket-size", "4K"] + PS, 4, 1),
    ]),
]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("partita")
    parser.add_argument("link")
    parser.add_argument("workdir")
    parser.add_argument("models")
    parser.add_argument("--batch", type=int, default=5)
    parser.add_argument("--channel", default="threads")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.workdir, ignore_errors=True)
    os.makedirs(arguments.workdir)
    tools = exactness.Toolchain(arguments.link, arguments.workdir)
    failed = total = 0
    for name, training, cases in CASES:
        model = exactness.Model(
            arguments, os.path.join(arguments.models, name + ".onnx"),
            arguments.workdir)
        model.options += training
        sweep = exactness.Sweep(arguments, model, tools)
        sweep.measure()
        for i, (label, options, ranks, servers) in enumerate(cases):
            if arguments.only not in label:
                continue
            total += 1
            # Every other case lets steps overlap.
            problems = sweep.check(
                "case%d" % i, options + ["--servers", str(servers)], ranks,
                evaluate=i % 2 == 0, norms=i % 2 == 0, servers=servers)
            failed += bool(problems)
            print("%s %s, %s: %d workers, %d servers" % (
                "FAILED" if problems else "exact", name, label, ranks,
                servers), flush=True)
            for problem in problems[:5]:
                print("  " + problem, flush=True)
        print("%s: worst loss %.1e, gradient %.1e, parameter %.1e" % (
            name, sweep.worst["loss"], sweep.worst["gradient"],
            sweep.worst["parameter"]), flush=True)
    print("%d cases, %d failed" % (total, failed))
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
