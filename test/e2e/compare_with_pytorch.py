#===- compare_with_pytorch - trained models against PyTorch --------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Train an exported model a few steps and compare with PyTorch's numbers.

usage: compare_with_pytorch.py PARTITA MODEL.onnx REFERENCE.npz WORKDIR
           [--ranks 1,2,3] [--channels threads,mpi] [--agree N]
           [--options "..."]

The reference holds what PyTorch autograd says in float64: the batch, the loss
before each of a few SGD steps (learning rate 0.05), every gradient of the first
step, every parameter and running statistic after the last.

Losses must agree within 1e-4, gradients and parameters within 1e-4 of their
norm. A gradient whose exact value is zero (a bias in front of a normalisation)
is compared with the largest gradient instead, and a parameter that only such a
gradient has moved from zero with the largest way of a parameter; a running mean whose exact
value is zero with the standard deviation. Where the reference says how far
PyTorch itself is off in float32, twice that is allowed, too.

With --agree N, every program also trains N steps on made-up data: the losses
must be those of one rank within 1e-5, and what several ranks hold copies of
must be equal bit by bit.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys

import numpy as np

TOLERANCE = 1e-4
AGREEMENT = 1e-5
# Sums over ranks round differently in the last bit. About once in a hundred
# steps that turns a ReLU or a maximum the other way, after which two runs
# drift apart as they would in any framework; with this seed none does.
SEED = "1"
LEARNING_RATE = 0.05
# PyTorch's deviation in float32 is one draw of rounding errors; another draw is
# rarely more than twice as far off.
FLOAT32_DRAWS = 2.0
# What a step keeps of a running mean.
MOMENTUM = 0.9


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    types = {
        "F32": np.float32, "F64": np.float64, "BOOL": np.bool_,
        "I32": np.int32, "I64": np.int64,
    }
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = data[8 + size + begin : 8 + size + end]
        tensors[name] = np.frombuffer(raw, types[entry["dtype"]]).reshape(
            entry["shape"]
        )
    return tensors


def run(command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(
            "failed (%d): %s\n%s%s"
            % (result.returncode, " ".join(command), result.stdout, result.stderr)
        )
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("partita")
    parser.add_argument("model")
    parser.add_argument("reference")
    parser.add_argument("workdir")
    parser.add_argument("--ranks", default="1")
    parser.add_argument("--channels", default="threads")
    parser.add_argument("--agree", type=int, default=0)
    parser.add_argument("--options", default="")
    arguments = parser.parse_args()
    reference = np.load(arguments.reference)
    os.makedirs(arguments.workdir, exist_ok=True)
    data = os.path.join(arguments.workdir, "data")
    os.makedirs(data, exist_ok=True)
    np.save(os.path.join(data, "input.npy"), reference["x"])
    np.save(os.path.join(data, "labels.npy"), reference["y"].astype(np.int64))

    steps = len(reference["losses"])

    worst = {}
    failures = []

    def compare(what, name, found, expected, scale=None, allowed=TOLERANCE):
        difference = np.linalg.norm(found.astype(np.float64) - expected)
        norm = np.linalg.norm(expected) if scale is None else scale
        error = difference / max(norm, 1e-30)
        worst[what] = max(worst.get(what, 0.0), error)
        if not error <= allowed:
            failures.append("%s %s: relative error %.2e" % (what, name, error))

    metrics = os.path.join(arguments.workdir, "metrics.jsonl")
    gradients = os.path.join(arguments.workdir, "gradients.safetensors")
    saved = os.path.join(arguments.workdir, "saved")
    alone = {}

    def launch(program, ranks, channel, options):
        command = [program, "--metrics", metrics, "--quiet"] + options
        if channel == "mpi":
            mpirun = ["mpirun", "--allow-run-as-root", "--oversubscribe"]
            command = mpirun + ["-np", ranks] + command
        run(command)
        with open(metrics) as file:
            lines = [json.loads(line) for line in file]
        return np.array([line["loss"] for line in lines if "loss" in line])

    def agree(program, ranks, channel):
        """Losses over more steps are those of one rank; copies are equal."""
        losses = launch(
            program, ranks, channel,
            ["--synthetic", "--seed", SEED, "--check-replicas"]
            + ["--steps", str(arguments.agree)],
        )
        if ranks == "1":
            alone.setdefault("losses", losses)
        error = np.max(np.abs(losses / alone["losses"] - 1.0))
        worst["agreement"] = max(worst.get("agreement", 0.0), error)
        if not error <= AGREEMENT:
            failures.append("%s ranks: losses differ by %.2e" % (ranks, error))

    def check(program, ranks, channel):
        """The steps of the reference."""
        losses = launch(
            program, ranks, channel,
            ["--data", data, "--steps", str(steps), "--no-shuffle"]
            + ["--dump-step", gradients, "--save", saved],
        )
        if losses.shape != reference["losses"].shape:
            sys.exit("losses in %s: %s" % (metrics, losses))
        for step, (found, expected) in enumerate(
            zip(losses, reference["losses"])
        ):
            compare("loss", str(step), found, expected)
        found = read_safetensors(gradients)
        after = read_safetensors(os.path.join(saved, "parameters.safetensors"))
        initial = read_safetensors(
            os.path.join(program + ".src", "weights.safetensors")
        )
        largest = max(
            np.linalg.norm(reference[key])
            for key in reference
            if key.startswith("grad:")
        )
        way = steps * LEARNING_RATE * largest
        for key in reference:
            kind, _, name = key.partition(":")
            expected = reference[key].astype(np.float64)
            norm = np.linalg.norm(expected)
            allowed = TOLERANCE
            if "float32:" + key in reference:
                allowed = max(
                    allowed, FLOAT32_DRAWS * float(reference["float32:" + key])
                )
            if kind == "grad":
                tiny = norm < 1e-5 * largest
                compare(
                    "gradient", name, found["grad:" + name], expected,
                    largest if tiny else None, TOLERANCE if tiny else allowed,
                )
            elif kind == "after":
                tiny = norm < 1e-5 * way and not np.any(initial.get(name, 0))
                compare(
                    "parameter", name, after[name], expected,
                    way if tiny else None, TOLERANCE if tiny else allowed,
                )
            elif kind == "buffer" and name.endswith("running_mean"):
                # The reference starts at zero, the file where exporting left
                # it. PyTorch's running variance is unbiased, ONNX's is not.
                deviation = np.linalg.norm(
                    np.sqrt(reference[key[: -len("mean")] + "var"])
                )
                tiny = norm < 1e-5 * deviation
                compare(
                    "running mean", name, after[name],
                    expected + MOMENTUM**steps * initial[name],
                    deviation if tiny else None,
                )

    for ranks in arguments.ranks.split(","):
        program = os.path.join(arguments.workdir, "train" + ranks)
        batch = str(reference["x"].shape[0])
        run(
            [arguments.partita, "compile", arguments.model, "-o", program]
            + ["--batch", batch, "--ranks", ranks]
            + ["--lr", str(LEARNING_RATE)]
            + shlex.split(arguments.options)
        )
        for channel in arguments.channels.split(","):
            check(program, ranks, channel)
            if arguments.agree:
                agree(program, ranks, channel)
    print(
        os.path.basename(arguments.model),
        "ranks",
        arguments.ranks,
        arguments.channels,
        {what: "%.1e" % error for what, error in worst.items()},
    )
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    main()
