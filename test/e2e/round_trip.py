#===- round_trip - the IR of every phase ---------------------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Check the IR of every phase of a model.

usage: round_trip.py PARTITA PARTITA-OPT MODEL.onnx WORKDIR [compile options]

The text after every phase must stay small, must be what partita-opt prints
after reading and verifying it, and the compiler must come to the same program
when it goes on from it.
"""

import os
import subprocess
import sys

PHASES = ["1-import", "2-train", "3-plan", "4-spmd", "5-schedule"]
LARGEST_TEXT = 1_000_000


def read(path):
    with open(path) as file:
        return file.read()


def check(partita, partita_opt, model, workdir, options):
    ir = os.path.join(workdir, "ir")
    last = os.path.join(workdir, "last.mlir")
    again = os.path.join(workdir, "again.mlir")
    command = [partita, "compile", model, "--emit=schedule", "-o", last]
    subprocess.run(
        command + ["--save-temps", ir, "--quiet"] + options, check=True
    )
    # What only the import understands; the rest shapes later phases, too.
    ranks = options[options.index("--ranks") :][:2] if "--ranks" in options else []
    for phase in PHASES:
        path = os.path.join(ir, phase + ".mlir")
        text = read(path)
        if len(text) > LARGEST_TEXT:
            sys.exit(f"{path} has {len(text)} bytes")
        subprocess.run(
            [partita_opt, "--mlir-print-debuginfo", path, "-o", again],
            check=True,
        )
        if read(again) != text:
            sys.exit(f"partita-opt prints {path} otherwise")
        if phase == PHASES[-1]:
            break
        subprocess.run(
            [partita, "compile", path, "--emit=schedule", "-o", again, "--quiet"]
            + ranks,
            check=True,
        )
        if read(again) != read(last):
            sys.exit(f"going on from {path} gives another program")
    print(os.path.basename(model), "IR of all phases is read back unchanged")


if __name__ == "__main__":
    os.makedirs(sys.argv[4], exist_ok=True)
    check(*sys.argv[1:5], sys.argv[5:])
