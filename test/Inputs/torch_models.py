#===- torch_models.py - the test models as PyTorch modules --------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""The test models as PyTorch modules: what models/*.onnx were exported from.

Attribute names and the order of construction decide the names and the random
initial values of the parameters, so they are part of the models.
"""

import torch
from torch import nn


class LeNet5(nn.Module):
    """LeNet-5 with ReLU and max pooling; x is [batch, 1, 28, 28]."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = torch.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc3(torch.relu(self.fc2(x)))


class MLP(nn.Module):
    """Three fully connected layers; x is [batch, 1, 28, 28]."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Flatten(),
            nn.Linear(28 * 28, 256),
            nn.ReLU(),
            nn.Linear(256, 256),
            nn.Tanh(),
            nn.Linear(256, 10),
        )

    def forward(self, x):
        return self.net(x)


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions and a shortcut, projected where shapes differ."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.c1 = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        self.b1 = nn.BatchNorm2d(outputs)
        self.c2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.b2 = nn.BatchNorm2d(outputs)
        self.down = None
        if stride != 1 or inputs != outputs:
            self.down = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                nn.BatchNorm2d(outputs),
            )

    def forward(self, x):
        shortcut = x if self.down is None else self.down(x)
        x = torch.relu(self.b1(self.c1(x)))
        return torch.relu(self.b2(self.c2(x)) + shortcut)


class ResNetTiny(nn.Module):
    """Three residual blocks behind a strided stem; x is [batch, 3, 32, 32]."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 7, stride=2, padding=3, bias=False)
        self.bn = nn.BatchNorm2d(8)
        self.pool = nn.MaxPool2d(3, stride=2, padding=1)
        self.l1 = ResidualBlock(8, 8, stride=1)
        self.l2 = ResidualBlock(8, 16, stride=2)
        self.l3 = ResidualBlock(16, 32, stride=2)
        self.gap = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        x = self.pool(torch.relu(self.bn(self.stem(x))))
        x = self.l3(self.l2(self.l1(x)))
        return self.fc(torch.flatten(self.gap(x), 1))


# name: (module, shape of one sample, opset to export with)
MODELS = {
    "lenet5": (LeNet5, (1, 28, 28), 13),
    "mlp": (MLP, (1, 28, 28), 13),
    "resnet_tiny": (ResNetTiny, (3, 32, 32), 17),
}
