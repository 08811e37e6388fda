# Part of the Partita project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the program of mlp.mlir and compares it with the same model in NumPy.

usage: check_mlp.py PROGRAM
"""

import json
import os
import subprocess
import sys

import numpy as np

STEPS = 3
LR = 0.05
MOMENTUM = 0.9


def read_safetensors(path):
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        data = file.read()
    header.pop("__metadata__", None)
    result = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        assert entry["dtype"] == "F32", entry
        result[name] = np.frombuffer(data[begin:end], "<f4").reshape(
            entry["shape"]
        )
    return result


def forward(p, x, y):
    """Losses, hits and gradients of the mean loss."""
    hidden = np.maximum(x @ p["fc1.weight"].T + p["fc1.bias"], 0)
    logits = hidden @ p["fc2.weight"].T + p["fc2.bias"]
    shifted = logits - logits.max(axis=1, keepdims=True)
    log = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    losses = -log[np.arange(len(y)), y]
    d = np.exp(log)
    d[np.arange(len(y)), y] -= 1
    d /= len(y)
    dh = (d @ p["fc2.weight"]) * (hidden > 0)
    grads = {
        "fc2.weight": d.T @ hidden,
        "fc2.bias": d.sum(axis=0),
        "fc1.weight": dh.T @ x,
        "fc1.bias": dh.sum(axis=0),
    }
    return losses, logits, grads


def close(what, found, expected, tolerance=1e-5):
    error = np.max(np.abs(found - expected) / (np.max(np.abs(expected)) + 1e-30))
    assert error <= tolerance, f"{what}: off by {error:g}"


def main():
    program = os.path.abspath(sys.argv[1])
    folder = os.path.dirname(program)
    random = np.random.default_rng(7)
    x = random.standard_normal((64, 784)).astype("float32")
    y = random.integers(0, 10, 64)
    data = os.path.join(folder, "data")
    os.makedirs(data, exist_ok=True)
    np.save(os.path.join(data, "input.npy"), x)
    np.save(os.path.join(data, "labels.npy"), y)

    def run(*options):
        command = [program, "--data", data, "--threads", "1", *options]
        return subprocess.run(command, check=True, cwd=folder,
                              stdout=subprocess.PIPE, text=True).stdout

    run("--epochs", str(STEPS), "--no-shuffle", "--quiet",
        "--metrics", "metrics.jsonl", "--dump-step", "step.safetensors",
        "--save", "saved")

    p = read_safetensors(program + ".src/weights.safetensors")
    assert sorted(p) == ["fc1.weight", "fc2.weight"], sorted(p)
    p = {name: value.astype("float64") for name, value in p.items()}
    p["fc1.bias"], p["fc2.bias"] = np.zeros(128), np.zeros(10)
    moment = {name: np.zeros_like(value) for name, value in p.items()}
    expected = []
    for step in range(STEPS):
        losses, _, grads = forward(p, x.astype("float64"), y)
        expected.append(losses.mean())
        if step == 0:
            first = grads
        for name in p:
            moment[name] = MOMENTUM * moment[name] + grads[name]
            p[name] = p[name] - LR * moment[name]

    with open(os.path.join(folder, "metrics.jsonl")) as file:
        lines = [json.loads(line) for line in file]
    found = [line["loss"] for line in lines if "step" in line]
    assert len(found) == STEPS, found
    close("losses", np.array(found), np.array(expected))
    dumped = read_safetensors(os.path.join(folder, "step.safetensors"))
    for name, gradient in first.items():
        close("gradient of " + name, dumped["grad:" + name], gradient)
    saved = read_safetensors(
        os.path.join(folder, "saved", "parameters.safetensors")
    )
    for name, value in p.items():
        close("parameter " + name, saved[name], value)

    # eval() and predict() with the trained parameters.
    weights = os.path.join(folder, "saved", "parameters.safetensors")
    run("--predict", "predicted.npy", "--weights", weights, "--quiet")
    _, logits, _ = forward(p, x.astype("float64"), y)
    close("logits", np.load(os.path.join(folder, "predicted.npy")), logits)
    print("ok")


if __name__ == "__main__":
    main()
