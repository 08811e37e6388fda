#===- cluster_nets.py - the networks of bench cluster -------------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""Two networks for 32 x 32 images that ask for opposite ways to synchronise.

The seed of their initial values is fixed, so that an exported file and a
module built elsewhere hold the same weights.
"""

import torch
from torch import nn

CLASSES = 10
IMAGE = (3, 32, 32)


class Connected(nn.Module):
    """Like AlexNet: nearly all weights in two layers, 2048 wide."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 3, padding=1)
        self.conv2 = nn.Conv2d(64, 128, 3, padding=1)
        self.conv3 = nn.Conv2d(128, 128, 3, padding=1)
        self.fc1 = nn.Linear(128 * 4 * 4, 2048)
        self.fc2 = nn.Linear(2048, 2048)
        self.fc3 = nn.Linear(2048, CLASSES)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = torch.max_pool2d(torch.relu(self.conv3(x)), 2)
        x = torch.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc3(torch.relu(self.fc2(x)))


class Convolutional(nn.Module):
    """Convolutions with batch normalisation: few weights, much arithmetic."""

    def __init__(self):
        super().__init__()
        layers, inputs = [], 3
        for outputs, stride in [(32, 1), (64, 2), (128, 1), (128, 2),
                                (128, 1)]:
            layers += [nn.Conv2d(inputs, outputs, 3, stride, padding=1,
                                 bias=False),
                       nn.BatchNorm2d(outputs), nn.ReLU()]
            inputs = outputs
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(inputs, CLASSES)

    def forward(self, x):
        return self.fc(torch.flatten(self.pool(self.features(x)), 1))


NETS = {"connected": Connected, "convolutional": Convolutional}


def build(name):
    """The module with its initial values."""
    torch.manual_seed(1)
    return NETS[name]().train()


def export(name, path):
    """Writes an ONNX file with an open batch."""
    torch.onnx.export(
        build(name), torch.zeros(2, *IMAGE), str(path),
        input_names=["input"], output_names=["output"],
        dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}},
        training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
        opset_version=13)


def parameter_count(module):
    return sum(p.numel() for p in module.parameters())


def linear_sizes(module):
    """(outputs, inputs) of the weights of fully connected layers."""
    return [tuple(layer.weight.shape) for layer in module.modules()
            if isinstance(layer, nn.Linear)]


# Bytes that a rank sends in a step by the cost table of Poseidon (Zhang et
# al., USENIX ATC 2017, section 3), with as many servers as workers and half of
# "in and out". A weight is 4 bytes.


def bytes_reduced(weights, ranks):
    """Parameter servers among the workers, and an all-reduce alike."""
    return 4 * 2 * weights * (ranks - 1) / ranks


def bytes_of_factors(outputs, inputs, batch, ranks):
    """The factors of a product's gradient; `batch` is that of one rank."""
    return 4 * batch * (ranks - 1) * (outputs + inputs)


def predicted_bytes(module, method, batch, ranks):
    """For "reduced", "factors" or "best", the cheaper one for each layer."""
    total, rest = 0, parameter_count(module)
    for outputs, inputs in linear_sizes(module):
        factors = bytes_of_factors(outputs, inputs, batch, ranks)
        reduced = bytes_reduced(outputs * inputs, ranks)
        total += {"reduced": reduced, "factors": factors,
                  "best": min(factors, reduced)}[method]
        rest -= outputs * inputs
    return total + bytes_reduced(rest, ranks)
