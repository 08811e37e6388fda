#!/usr/bin/env python3
#===- race_programs - emitted programs under ThreadSanitizer -------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Runs emitted programs under ThreadSanitizer, ranks as threads.

usage: race_programs.py PARTITA TSAN-BUILD WORKDIR

TSAN-BUILD is a build of the runtime with ThreadSanitizer (the preset tsan).
Every program trains a few steps, which overlap, evaluates, and compares the
copies of all ranks. A wait that is missing between two streams, or between two
steps, is a reported race. Exit status 1 when one is found.
"""

import glob
import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
MODELS = os.path.join(ROOT, "test", "Inputs", "models")

HALOS = ["--grid", "pr=2,pc=2", "--split", "*=batch:pc,domain.h:pr"]
GPT = ["--class-axis=-1", "--grid", "pr=2,pc=2", "--split",
       "*=batch:pc,model:pr"]

PROGRAMS = [
    ("mlp", 3, ["--ranks", "3", "--bucket-size", "16K"]),
    ("mlp", 3, ["--ranks", "3", "--sync", "parameter_server", "--optimizer",
                "adam", "--bucket-size", "16K"]),
    ("mlp", 4, ["--ranks", "4", "--sync", "poseidon"]),
    ("mlp", 3, ["--ranks", "3", "--overlap-steps", "off", "--sync",
                "parameter_server"]),
    ("lenet5", 4, ["--ranks", "4", "--sync", "fc*=factor_broadcast", "--sync",
                   "conv*=all_reduce:ring", "--bucket-size", "4K"]),
    ("lenet5", 4, HALOS + ["--sync", "poseidon", "--bucket-size", "4K"]),
    ("resnet_tiny", 4, HALOS + ["--sync", "*=all_reduce:tree"]),
    ("unet_tiny", 4, HALOS + ["--overlap", "off"]),
    # Two groups with one server that serves both, and one with three.
    ("mlp", 5, ["--grid", "pr=2,pc=2", "--split", "*=batch:pc,model:pr",
                "--sync", "parameter_server", "--servers", "1",
                "--optimizer", "adam", "--bucket-size", "16K"]),
    ("lenet5", 6, ["--ranks", "3", "--sync", "fc*=parameter_server",
                   "--servers", "3", "--bucket-size", "4K"]),
    ("gpt_tiny", 4, GPT + ["--sync", "poseidon", "--bucket-size", "4K"]),
]


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=600, **options)


def build(partita, tsan, folder, model, options):
    source = os.path.join(folder, "train.src")
    emitted = run([partita, "compile", os.path.join(MODELS, model + ".onnx"),
                   "--batch", "8", "--quiet", "--emit=source", "-o", source]
                  + options)
    if emitted.returncode:
        return None, emitted.stderr
    binary = os.path.join(folder, "train")
    libraries = sorted(glob.glob(os.path.join(tsan, "lib", "libPartita*.a")))
    libraries = [name for name in libraries if "ChannelCases" not in name]
    mpi = run(["mpicc", "--showme:link"]).stdout.split()
    linked = run(
        ["clang++-19", "-std=c++17", "-O1", "-g", "-w", "-fsanitize=thread",
         "-I" + os.path.join(ROOT, "runtime", "include"),
         os.path.join(source, "train.cpp"), "-o", binary,
         "-Wl,--start-group"] + libraries + ["-Wl,--end-group"] + mpi
        + ["-ldnnl", "-lpthread"])
    if linked.returncode:
        return None, linked.stderr
    return [binary], ""


def main():
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    partita, tsan, workdir = sys.argv[1:]
    suppressions = os.path.join(ROOT, "test", "tsan-suppressions.txt")
    environment = dict(os.environ, TSAN_OPTIONS="exitcode=66 suppressions="
                       + suppressions)
    failed = 0
    for i, (model, ranks, options) in enumerate(PROGRAMS):
        folder = os.path.join(workdir, str(i))
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        command, error = build(partita, tsan, folder, model, options)
        if command:
            result = run(command + ["--ranks", str(ranks), "--threads", "1",
                                    "--synthetic", "--steps", "4", "--eval",
                                    "--check-replicas"], env=environment)
            if result.returncode:
                error = result.stdout + result.stderr
        failed += bool(error)
        print("%s %s %s" % ("FAILED" if error else "clean", model,
                            " ".join(options)), flush=True)
        if error:
            print(error[:4000], flush=True)
    print("%d programs, %d failed" % (len(PROGRAMS), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
