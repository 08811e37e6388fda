#!/usr/bin/env python3
#===- collectives - field cases of ranks that do not agree ---------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Runs programs whose ranks disagree, or might, and reads what they say.

usage: collectives.py CASE PARTITA LINK-FILE MODELS WORKDIR [MPIRUN...]

Each case is one that made some distributed system hang or compute something
wrong (see the comment of each). Ranks are threads and, with MPIRUN, processes.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "sweep"))
import exactness  # noqa: E402


class Setting:
    def __init__(self, arguments):
        self.partita, link, self.models, self.work = arguments[:4]
        self.mpirun = arguments[4:]
        shutil.rmtree(self.work, ignore_errors=True)
        os.makedirs(self.work)
        self.tools = exactness.Toolchain(link, self.work)

    def source(self, name, model, *options):
        folder = os.path.join(self.work, name + ".src")
        exactness.run([self.partita, "compile",
                       os.path.join(self.models, model + ".onnx"),
                       "--emit=source", "-o", folder, "--quiet", *options])
        return folder

    def build(self, name, folder):
        program = os.path.join(self.work, name)
        self.tools.build(folder, program)
        return program

    def edit(self, folder, pattern, replacement):
        """Edits the program of a folder in one place."""
        path = os.path.join(folder, "train.cpp")
        text = open(path).read()
        edited, count = re.subn(pattern, replacement, text, count=1)
        check(count == 1, "the program has no " + pattern)
        open(path, "w").write(edited)

    def run(self, program, ranks, options, mpi=False, limit=120):
        command = [program, *options]
        if mpi:
            command = [*self.mpirun, "-np", str(ranks), *command]
        start = time.time()
        result = subprocess.run(command, cwd=self.work, capture_output=True,
                                text=True, timeout=limit)
        result.seconds = time.time() - start
        return result

    def ways(self):
        return [False, True] if self.mpirun else [False]


def check(condition, text):
    if not condition:
        sys.exit("failed: " + text)


def says(result, *parts):
    for part in parts:
        check(part in result.stderr,
              "expected '%s' in what the program says:\n%s"
              % (part, result.stderr))


def losses(path):
    return [json.loads(line)["loss"] for line in open(path) if "loss" in line
            and "\"step\"" in line]


def e03(setting):
    """One rank's count is 2 larger than the others': some libraries hang, some
    give wrong numbers."""
    folder = setting.source("right", "mlp", "--ranks", "2", "--batch", "14")
    right = setting.build("right", folder)
    certificate = os.path.join(folder, "certificate.json")
    edited = os.path.join(setting.work, "edited.src")
    shutil.copytree(folder, edited)
    setting.edit(edited, r"(allReduce\(comm, gradientsOfBucket0, )(\d+),",
                 r"\1\2 + 2 * (rank.index == 1),")
    count = re.search(r"gradientsOfBucket0, (\d+) \+ 2",
                      open(os.path.join(edited, "train.cpp")).read()).group(1)
    if os.path.exists(os.path.join(edited, "certificate.json")):
        os.remove(os.path.join(edited, "certificate.json"))
    wrong = setting.build("edited", edited)
    options = ["--synthetic", "--steps", "3", "--debug-collectives"]
    for mpi in setting.ways():
        result = setting.run(right, 2, options, mpi)
        check(result.returncode == 0, result.stderr)
        result = setting.run(wrong, 2, options, mpi, limit=60)
        check(result.returncode == 1, "exit code %d" % result.returncode)
        says(result, "ranks disagree on its count: found %s on rank 0 and %d "
             "on rank 1" % (count, int(count) + 2), "bucket 0")
        if os.path.exists(certificate):
            options[-1] = "--debug-collectives=" + certificate
            result = setting.run(right, 2, options, mpi)
            check(result.returncode == 0, result.stderr)
            result = setting.run(wrong, 2, options, mpi, limit=60)
            check(result.returncode == 1, "exit code %d" % result.returncode)
            says(result, "rank 1 differs from the certificate in 'step'",
                 "allReduce of %d f32 (sum), expected" % (int(count) + 2),
                 "allReduce of %s f32 (sum)" % count)
            options[-1] = "--debug-collectives"


def e06(setting):
    """A data set that does not fill its last batch, and a rank that has one step
    less than the other, which then waits for ever."""
    folder = setting.source("even", "mlp", "--ranks", "2", "--batch", "14")
    even = setting.build("even", folder)
    data = os.path.join(setting.work, "data")
    os.makedirs(data)
    draw = np.random.default_rng(5)
    # Seven batches, the last one short.
    samples = 7 * 14 - 5
    help_text = subprocess.run([even, "--help"], capture_output=True,
                               text=True).stdout
    name, shape = re.search(r"(\S+\.npy)  \[samples, ([\d, ]+)\] of f32",
                            help_text).groups()
    sizes = [samples] + [int(size) for size in shape.split(",")]
    np.save(os.path.join(data, name),
            draw.normal(size=sizes).astype(np.float32))
    np.save(os.path.join(data, "labels.npy"),
            draw.integers(0, 10, samples).astype(np.int64))
    # The same in a program that forgets the last step on one rank.
    uneven = os.path.join(setting.work, "uneven.src")
    shutil.copytree(folder, uneven)
    setting.edit(uneven, r"void step\(\) override \{",
                 "void step() override {\n    if (rank.index == 1 && "
                 "rank.stepIndex == 6)\n      return;")
    uneven = setting.build("uneven", uneven)
    for mpi in setting.ways():
        metrics = os.path.join(setting.work, "metrics")
        result = setting.run(even, 2, ["--data", data, "--epochs", "2",
                                       "--metrics", metrics], mpi)
        check(result.returncode == 0, result.stderr)
        check(len(losses(metrics)) == 12, "12 steps in two epochs")
        check("each epoch leaves out 9 of 93 samples" in result.stdout,
              result.stdout)
        result = setting.run(uneven, 2, ["--data", data, "--epochs", "2",
                                         "--watchdog", "2"], mpi, limit=60)
        check(result.returncode == 1, "exit code %d" % result.returncode)
        check(result.seconds < 20, "took %.1f s" % result.seconds)
        says(result, "watchdog: no rank has made progress for",
             "rank 0 waits for its communication in step 6", "call 0 'loss'",
             "with rank 1", "its last completed step is 5")


def e09(setting):
    """Collectives of two groups over many steps without a look from the host:
    fine for one iteration, stuck in the second."""
    folder = setting.source(
        "loop", "lenet5", "--batch", "8", "--grid", "2x2", "--split",
        "conv*=batch:pc,domain.h:pr")
    program = setting.build("loop", folder)
    seen = []
    for mpi in setting.ways():
        metrics = os.path.join(setting.work, "metrics")
        result = setting.run(program, 4, ["--synthetic", "--steps", "100",
                                          "--epochs", "4", "--watchdog", "30",
                                          "--check-replicas", "--metrics",
                                          metrics], mpi)
        check(result.returncode == 0, result.stderr)
        seen.append(losses(metrics))
        check(len(seen[-1]) == 100, "100 steps")
    check(all(run == seen[0] for run in seen), "threads and processes differ")


def e11(setting):
    """Ranks that begin with different weights or samples."""
    one = setting.build("one", setting.source("one", "mlp", "--ranks", "1",
                                              "--batch", "14"))
    two = setting.build("two", setting.source("two", "mlp", "--ranks", "2",
                                              "--batch", "14"))
    metrics = os.path.join(setting.work, "metrics")
    options = ["--synthetic", "--steps", "1", "--seed", "7", "--metrics",
               metrics]
    result = setting.run(one, 1, options)
    check(result.returncode == 0, result.stderr)
    expected = losses(metrics)[0]
    for mpi in setting.ways():
        result = setting.run(two, 2, options + ["--check-replicas"], mpi)
        check(result.returncode == 0, result.stderr)
        found = losses(metrics)[0]
        check(abs(found - expected) <= 1e-6 * expected,
              "the first loss is %r, expected %r" % (found, expected))
    if setting.mpirun:
        # Each process has a command line of its own.
        command = [*setting.mpirun]
        for seed in ("1", "2"):
            command += [":"] if seed == "2" else []
            command += ["-np", "1", two, "--synthetic", "--steps", "1",
                        "--seed", seed]
        result = subprocess.run(command, cwd=setting.work, capture_output=True,
                                text=True, timeout=60)
        check(result.returncode == 1, "exit code %d" % result.returncode)
        says(result, "rank 1 was started with other options than rank 0: found "
             "'2', expected '1'")


if __name__ == "__main__":
    {"e03": e03, "e06": e06, "e09": e09, "e11": e11}[sys.argv[1]](
        Setting(sys.argv[2:]))
