#===- optimizers_against_pytorch - updates against torch.optim -----------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Train the MLP five steps with every optimizer and compare with PyTorch.

usage: optimizers_against_pytorch.py PARTITA MODELS-FOLDER WORKDIR

On two ranks; parameters must agree within 1e-4 of their norm.
"""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
sys.path.insert(0, os.path.dirname(__file__))

import numpy as np
import torch
from compare_with_pytorch import read_safetensors
from torch_models import MODELS

STEPS = 5
CASES = {
    "sgd": (
        "--optimizer sgd --lr 0.05 --weight-decay 0.01",
        lambda p: torch.optim.SGD(p, lr=0.05, weight_decay=0.01),
    ),
    "momentum": (
        "--optimizer sgd --lr 0.05 --momentum 0.9 --weight-decay 0.01",
        lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01),
    ),
    "nesterov": (
        "--optimizer sgd --lr 0.05 --momentum 0.9 --nesterov",
        lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True),
    ),
    "adam": (
        "--optimizer adam --lr 0.01 --weight-decay 0.01 --beta1 0.8",
        lambda p: torch.optim.Adam(
            p, lr=0.01, weight_decay=0.01, betas=(0.8, 0.999)
        ),
    ),
    "adamw": (
        "--optimizer adamw --lr 0.01 --weight-decay 0.1",
        lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1),
    ),
}


def main():
    partita, models, workdir = sys.argv[1:]
    model_file = os.path.join(models, "mlp.onnx")
    reference = np.load(os.path.join(models, "mlp.npz"))
    x = reference["x"]
    y = reference["y"].astype(np.int64)
    data = os.path.join(workdir, "data")
    os.makedirs(data, exist_ok=True)
    np.save(os.path.join(data, "input.npy"), x)
    np.save(os.path.join(data, "labels.npy"), y)
    failures = []
    for name, (options, make) in CASES.items():
        program = os.path.join(workdir, name)
        saved = program + ".saved"
        subprocess.run(
            [partita, "compile", model_file, "--batch", str(len(x))]
            + ["--ranks", "2", "-o", program, "--quiet"]
            + options.split(),
            check=True,
        )
        subprocess.run(
            [program, "--data", data, "--no-shuffle", "--steps", str(STEPS)]
            + ["--save", saved, "--check-replicas", "--quiet"],
            check=True,
        )
        found = read_safetensors(os.path.join(saved, "parameters.safetensors"))
        start = read_safetensors(
            os.path.join(program + ".src", "weights.safetensors")
        )
        module = MODELS["mlp"].module().double().train()
        with torch.no_grad():
            for key, parameter in module.named_parameters():
                parameter.copy_(torch.from_numpy(start[key].copy()).double())
        optimizer = make(list(module.parameters()))
        for _ in range(STEPS):
            optimizer.zero_grad()
            logits = module(torch.from_numpy(x).double())
            torch.nn.functional.cross_entropy(
                logits, torch.from_numpy(y)
            ).backward()
            optimizer.step()
        worst = 0.0
        for key, parameter in module.named_parameters():
            expected = parameter.detach().numpy()
            error = np.linalg.norm(found[key] - expected)
            worst = max(worst, error / np.linalg.norm(expected))
        print(name, "%.1e" % worst)
        if not worst <= 1e-4:
            failures.append(name)
    if failures:
        sys.exit("parameters differ with " + ", ".join(failures))


if __name__ == "__main__":
    main()
