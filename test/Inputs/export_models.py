#!/usr/bin/python3
#===- export_models.py - writes models/*.onnx and models/*.npz ----------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Exports the test models with PyTorch and writes reference numbers.

The reference is PyTorch autograd in float64, from weights and inputs that
float32 represents exactly; README.md in this folder lists the keys.
"""

import argparse
import copy
import pathlib

import numpy as np
import torch
from torch.nn import functional

from torch_models import MODELS

LEARNING_RATE = 0.05


def round_to_float32(tensor):
    return tensor.float().double()


def loss_of(logits, y):
    """Mean cross-entropy; classes come last in sequences, second in images."""
    if logits.dim() == 3:
        return functional.cross_entropy(logits.flatten(0, 1), y.flatten())
    return functional.cross_entropy(logits, y)


def train(model, x, y, steps):
    """Losses, first gradients and the state after steps of plain SGD."""
    numbers = {}
    model = copy.deepcopy(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        losses.append(loss.item())
        if step == 0:
            for name, parameter in model.named_parameters():
                numbers["grad:" + name] = parameter.grad.double().numpy().copy()
        optimizer.step()
    numbers["loss"] = np.float64(losses[0])
    numbers["losses"] = np.array(losses)
    for name, parameter in model.named_parameters():
        numbers["after:" + name] = parameter.detach().double().numpy()
    for name, buffer in model.named_buffers():
        if buffer.is_floating_point():
            numbers["buffer:" + name] = buffer.double().numpy()
    return numbers


def reference_numbers(model, x, y, recipe):
    numbers = train(model, x, y, recipe.steps)
    deviations = {}
    if recipe.float32:
        single = train(copy.deepcopy(model).float(), x.float(), y,
                       recipe.steps)
        for key, exact in numbers.items():
            if key.startswith(("grad:", "after:")):
                deviations["float32:" + key] = np.linalg.norm(
                    single[key] - exact) / np.linalg.norm(exact)
    for key, value in numbers.items():
        if ":" in key:
            numbers[key] = value.astype(np.float32)
    data = x.float() if x.is_floating_point() else x
    return {"x": data.numpy(), "y": y.numpy(), **numbers, **deviations}


def export(name, folder):
    recipe = MODELS[name]
    torch.manual_seed(7)
    model = recipe.module().double().train()
    generator = torch.Generator().manual_seed(recipe.data_seed)
    shape = (recipe.batch, *recipe.sample)
    if recipe.tokens:
        x = torch.randint(0, recipe.tokens, shape, generator=generator)
    else:
        x = round_to_float32(
            torch.randn(shape, generator=generator, dtype=torch.float64))
    y = torch.randint(0, recipe.classes, (recipe.batch, *recipe.positions),
                      generator=generator)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(round_to_float32(parameter))

    np.savez_compressed(folder / f"{name}.npz",
                        **reference_numbers(model, x, y, recipe))
    # Training mode keeps BatchNormalization and the weights as they are.
    torch.onnx.export(
        model.float(), (x.float() if x.is_floating_point() else x,),
        str(folder / f"{name}.onnx"),
        training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
        input_names=["input"], output_names=["logits"],
        dynamic_axes={"input": {0: "batch"}, "logits": {0: "batch"}},
        opset_version=recipe.opset)
    print(f"{name}: {folder / name}.onnx, {folder / name}.npz")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME",
                        help="models to export, default: all of "
                        + ", ".join(MODELS))
    parser.add_argument("-o", "--output", type=pathlib.Path,
                        default=pathlib.Path(__file__).parent / "models",
                        help="folder to write to, default: models beside "
                        "this script")
    arguments = parser.parse_args()
    for name in arguments.names:
        if name not in MODELS:
            parser.error(f"no model '{name}', there are {', '.join(MODELS)}")
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or MODELS:
        export(name, arguments.output)


if __name__ == "__main__":
    main()
