# Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the program of moves.mlir and compares it with the same model in PyTorch.

usage: check_moves.py PROGRAM
"""

import json
import os
import subprocess
import sys

import numpy as np
import torch

from check_mlp import close, read_safetensors

STEPS = 3
LR = 0.05
MOMENTUM = 0.9


def forward(p, x):
    hidden = torch.relu(torch.nn.functional.conv2d(x, p["conv1.weight"],
                                                   padding=1))
    return hidden.flatten(1) @ p["fc.weight"]


def main():
    program = os.path.abspath(sys.argv[1])
    folder = os.path.dirname(program)
    random = np.random.default_rng(7)
    x = random.standard_normal((4, 1, 7, 6)).astype("float32")
    y = random.integers(0, 5, 4)
    data = os.path.join(folder, "data")
    os.makedirs(data, exist_ok=True)
    np.save(os.path.join(data, "x.npy"), x)
    np.save(os.path.join(data, "labels.npy"), y)

    def run(*options):
        command = [program, "--data", data, "--threads", "1", *options]
        return subprocess.run(command, check=True, cwd=folder,
                              stdout=subprocess.PIPE, text=True).stdout

    run("--epochs", str(STEPS), "--no-shuffle", "--quiet",
        "--metrics", "metrics.jsonl", "--dump-step", "step.safetensors",
        "--save", "saved")

    p = read_safetensors(program + ".src/weights.safetensors")
    assert sorted(p) == ["conv1.weight", "fc.weight"], sorted(p)
    p = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True)
         for name, value in p.items()}
    optimizer = torch.optim.SGD(p.values(), lr=LR, momentum=MOMENTUM)
    images, labels = torch.tensor(x, dtype=torch.float64), torch.tensor(y)
    expected = []
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(forward(p, images), labels)
        loss.backward()
        expected.append(loss.item())
        if step == 0:
            first = {name: value.grad.numpy().copy()
                     for name, value in p.items()}
        optimizer.step()

    with open(os.path.join(folder, "metrics.jsonl")) as file:
        lines = [json.loads(line) for line in file]
    found = [line["loss"] for line in lines if "step" in line]
    assert len(found) == STEPS, found
    close("losses", np.array(found), np.array(expected))
    dumped = read_safetensors(os.path.join(folder, "step.safetensors"))
    for name, gradient in first.items():
        close("gradient of " + name, dumped["grad:" + name], gradient)
    weights = os.path.join(folder, "saved", "parameters.safetensors")
    saved = read_safetensors(weights)
    for name, value in p.items():
        close("parameter " + name, saved[name], value.detach().numpy())

    run("--predict", "predicted.npy", "--weights", weights, "--quiet")
    close("logits", np.load(os.path.join(folder, "predicted.npy")),
          forward(p, images).detach().numpy())
    print("ok")


main()
