#===- light_models - real architectures ----------------------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Compile and train a light model of the onnx package.

usage: light_models.py PARTITA PARTITA-OPT NAME WORKDIR cpu|cuda [options]

The light models are real architectures whose weights are constants; they are
made trainable and drawn anew. cpu: the IR of every phase is read back, and the
program trains steps on one batch with falling loss. cuda: nvcc compiles the
program and the linker links it against NCCL, cuDNN and cuBLAS.
"""

import json
import os
import subprocess
import sys

import numpy as np
import onnx
import round_trip

BATCH = 2
STEPS = 5


def main():
    partita, partita_opt, name, workdir, target = sys.argv[1:6]
    options = ["--batch", str(BATCH), "--train-constants"]
    options += ["--init", "xavier_normal", "--batch-norm", "global"]
    os.makedirs(workdir, exist_ok=True)
    light = os.path.join(
        os.path.dirname(onnx.__file__), "backend", "test", "data", "light"
    )
    model = os.path.join(light, name + ".onnx")
    program = os.path.join(workdir, "train")
    command = [partita, "compile", model, "-o", program, "--quiet"]
    command += options + sys.argv[6:]
    if target == "cuda":
        subprocess.run(command + ["--target", "cuda", "--ranks", "2"], check=True)
        print(name, "compiles and links for cuda")
        return
    round_trip.check(partita, partita_opt, model, workdir, options)
    subprocess.run(command, check=True)
    rng = np.random.default_rng(0)
    shape = [BATCH, 3, 224, 224]
    data = os.path.join(workdir, "data")
    os.makedirs(data, exist_ok=True)
    graph_input = onnx.load(model).graph
    initializers = {i.name for i in graph_input.initializer}
    inputs = [i.name for i in graph_input.input if i.name not in initializers]
    file_name = "".join(
        c if c.isalnum() or c in "_.-" else "_" for c in inputs[0]
    )
    np.save(
        os.path.join(data, file_name + ".npy"),
        rng.standard_normal(shape, dtype=np.float32),
    )
    np.save(
        os.path.join(data, "labels.npy"), rng.integers(0, 1000, BATCH)
    )
    metrics = os.path.join(workdir, "metrics.jsonl")
    subprocess.run(
        [program, "--data", data, "--steps", str(STEPS), "--lr", "0.001"]
        + ["--metrics", metrics, "--quiet"],
        check=True,
    )
    with open(metrics) as file:
        losses = [json.loads(line).get("loss") for line in file]
    losses = [loss for loss in losses if loss is not None]
    print(name, "losses", losses)
    if len(losses) != STEPS or not losses[-1] < losses[0]:
        sys.exit("the loss does not fall")


if __name__ == "__main__":
    main()
