#===- batch_norm_local.py - running statistics of local batch norm -------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Trains with batch normalisation by each rank's own samples.

usage: batch_norm_local.py PARTITA MODEL.onnx WORKDIR

The running statistics are those of the whole batch. With overlap they are made
from the ranks' own statistics and sent together, without it from two passes
over all values: both must agree, also where parts are unequal or empty.
"""

import json
import os
import subprocess
import sys

import numpy as np

TOLERANCE = 1e-6
# Batch and ranks: equal parts, unequal ones, a rank without samples.
CASES = [(8, 2), (10, 3), (2, 3)]


def read(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    return {name: np.frombuffer(data[slice(*entry["data_offsets"])], "<f4")
            .astype(np.float64)
            for name, entry in header.items() if name != "__metadata__"}


def train(partita, model, folder, batch, ranks, overlap):
    program = os.path.join(folder, f"{batch}-{ranks}-{overlap}")
    saved = program + ".saved"
    for command in [
            [partita, "compile", model, "--batch", str(batch), "--ranks",
             str(ranks), "--batch-norm", "local", "--lr", "0.01", "--overlap",
             overlap, "--quiet", "-o", program],
            [program, "--ranks", str(ranks), "--synthetic", "--steps", "5",
             "--save", saved, "--quiet"]]:
        result = subprocess.run(command, capture_output=True, text=True,
                                check=False)
        if result.returncode:
            sys.exit(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return read(os.path.join(saved, "parameters.safetensors"))


def main():
    partita, model, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    for batch, ranks in CASES:
        mine = train(partita, model, folder, batch, ranks, "on")
        other = train(partita, model, folder, batch, ranks, "off")
        assert mine.keys() == other.keys()
        assert any("running_var" in name for name in mine)
        off = max((np.linalg.norm(mine[name] - other[name]) /
                   max(np.linalg.norm(other[name]), 1e-12), name)
                  for name in mine)
        print(f"batch {batch} on {ranks} ranks: at most {off[0]:.1e} off, "
              f"{off[1]}")
        if not off[0] <= TOLERANCE:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
