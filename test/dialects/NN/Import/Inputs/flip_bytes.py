#===- flip_bytes.py - damaged models must be refused, not crash ---------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Runs the importer on damaged copies of models.

    flip_bytes.py TOOL WORK COUNT SEED [MODEL...]

Makes COUNT copies of each model (and of the models of cases.py), each with one
to three faults: a flipped bit, another byte, a range removed, doubled or
overwritten, the end cut off. Faults hit the structure of the file rather than
the weights. Every run must end with exit code 0 or 1, and with a diagnostic if
it is 1.
"""

import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases  # noqa: E402

OPTIONS = ["--batch", "4", "--report", "--train-constants"]
BATCH = 40


def structure_of(tool, path, size):
    """Byte positions outside the weights that stay in the file."""
    run = subprocess.run([tool, "--batch", "4", path], capture_output=True,
                         text=True, errors="replace")
    inside = set()
    for offset, length in re.findall(r'#nn\.file<"[^"]*", (\d+), (\d+)>',
                                     run.stdout):
        inside.update(range(int(offset), int(offset) + int(length)))
    return [i for i in range(size) if i not in inside] or list(range(size))


def damage(data, places, rng):
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        if not data:
            break
        at = min(rng.choice(places), len(data) - 1)
        kind = rng.randrange(7)
        length = rng.randint(1, 16)
        if kind <= 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF,
                                   rng.randrange(256)])
        elif kind == 3:
            del data[at:at + length]
        elif kind == 4:
            data[at:at] = data[at:at + length]
        elif kind == 5:
            data[at:at + length] = bytes(rng.choice([0xFF, 0x80, 0x00])
                                         for _ in range(length))
        else:
            del data[at:]
    return bytes(data)


def is_fine(run):
    return run.returncode == 0 or (run.returncode == 1
                                   and "error: " in run.stderr)


def call(tool, paths):
    return subprocess.run([tool, *OPTIONS, *paths], capture_output=True,
                          text=True, errors="replace")


def main():
    tool, work, count, seed = sys.argv[1:5]
    os.makedirs(work, exist_ok=True)
    cases.place_side_files(work)
    rng = random.Random(int(seed))
    models = {}
    for path in sys.argv[5:]:
        with open(path, "rb") as file:
            data = file.read()
        models[os.path.basename(path)] = (
            data, structure_of(tool, path, len(data)), int(count))
    for name in sorted(cases.CASES):
        for variant in cases.CASES[name]():
            data = variant.model.bytes()
            models[f"{name}_{variant.name}.onnx"] = (
                data, range(len(data)), max(1, int(count) // 20))

    paths = []
    for name, (data, places, copies) in models.items():
        for i in range(copies):
            path = os.path.join(work, f"{i}_{name}")
            with open(path, "wb") as file:
                file.write(damage(data, places, rng))
            paths.append(path)
    crashed = []
    for begin in range(0, len(paths), BATCH):
        batch = paths[begin:begin + BATCH]
        if is_fine(call(tool, batch)):
            continue
        for path in batch:
            run = call(tool, [path])
            if not is_fine(run):
                crashed.append(path)
                print(f"{path}: exit code {run.returncode}: "
                      f"{run.stderr.strip()[-2000:]}")
    for path in paths:
        if path not in crashed:
            os.remove(path)
    print(f"{len(paths)} damaged models, {len(crashed)} crashes")
    return 1 if crashed else 0


if __name__ == "__main__":
    sys.exit(main())
