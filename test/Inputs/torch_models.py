#===- torch_models.py - the test models as PyTorch modules --------------===#
#
# Part of the Partita project, under the Apache License v2.0 with LLVM
# Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===#
"""The test models as PyTorch modules: what models/*.onnx were exported from.

Attribute names and the order of construction decide the names and the random
initial values of the parameters, so they are part of the models.

torchvision is imported by the models that come from it, so that what needs the
others runs without it.
"""

import dataclasses
from typing import Callable, Optional, Tuple

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


class UNetTiny(nn.Module):
    """One level of a U-Net, a class per pixel; x is [batch, 3, 24, 16]."""

    def __init__(self):
        super().__init__()
        self.d1 = nn.Conv2d(3, 8, 3, padding=1)
        self.d2 = nn.Conv2d(8, 16, 3, padding=1)
        self.mid = nn.Conv2d(16, 16, 3, padding=2, dilation=2)
        self.up = nn.ConvTranspose2d(16, 8, kernel_size=2, stride=2)
        self.u1 = nn.Conv2d(16, 8, 3, padding=1)
        self.out = nn.Conv2d(8, 4, 1)

    def forward(self, x):
        fine = torch.relu(self.d1(x))
        coarse = torch.relu(self.d2(torch.max_pool2d(fine, 2)))
        coarse = torch.relu(self.mid(coarse))
        joined = torch.cat([self.up(coarse), fine], 1)
        return self.out(torch.relu(self.u1(joined)))


class CausalAttention(nn.Module):
    """Attention of each position to those before it, written out."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.o = nn.Linear(width, width)

    def forward(self, x):
        batch, time, width = x.shape

        def by_head(t):
            t = t.view(batch, time, self.heads, width // self.heads)
            return t.transpose(1, 2)

        q, k, v = (by_head(t) for t in self.qkv(x).split(width, dim=2))
        scores = q @ k.transpose(-2, -1) / (width // self.heads)**0.5
        seen = torch.tril(torch.ones(time, time)).to(torch.bool)
        scores = scores.masked_fill(~seen, float("-inf"))
        y = (scores.softmax(-1) @ v).transpose(1, 2)
        return self.o(y.reshape(batch, time, width))


class TransformerBlock(nn.Module):
    """Attention and a GELU network behind layer normalisations."""

    def __init__(self, width, heads):
        super().__init__()
        self.n1 = nn.LayerNorm(width)
        self.a = CausalAttention(width, heads)
        self.n2 = nn.LayerNorm(width)
        self.m = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                               nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.a(self.n1(x))
        return x + self.m(self.n2(x))


class GPTTiny(nn.Module):
    """A language model whose embedding is its output layer; x is tokens."""

    def __init__(self, tokens=61, time=16, width=32, heads=4, layers=2):
        super().__init__()
        self.te = nn.Embedding(tokens, width)
        self.pe = nn.Embedding(time, width)
        self.blocks = nn.ModuleList(
            TransformerBlock(width, heads) for _ in range(layers))
        self.n = nn.LayerNorm(width)
        self.head = nn.Linear(width, tokens, bias=False)
        self.head.weight = self.te.weight

    def forward(self, x):
        x = self.te(x) + self.pe(torch.arange(x.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.head(self.n(x))


def densenet_tiny():
    from torchvision.models import densenet
    return densenet.DenseNet(growth_rate=8, block_config=(2, 2),
                             num_init_features=16, bn_size=2, num_classes=10)


def mobilenet_v2_quarter():
    from torchvision.models import mobilenetv2
    return mobilenetv2.MobileNetV2(num_classes=10, width_mult=0.25,
                                   dropout=0.0)


def vit_tiny():
    from torchvision.models import vision_transformer
    return vision_transformer.VisionTransformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=32,
        mlp_dim=64, num_classes=10)


@dataclasses.dataclass
class Recipe:
    """How a model is exported and what its reference is computed from."""

    #: Makes the module.
    module: Callable[[], nn.Module]
    #: Shape of one sample.
    sample: Tuple[int, ...]
    opset: int = 17
    classes: int = 10
    #: Positions of a sample that have a label each.
    positions: Tuple[int, ...] = ()
    #: Samples are integers below this instead of normal numbers.
    tokens: Optional[int] = None
    batch: int = 8
    data_seed: int = 11
    steps: int = 3
    #: Store how far PyTorch itself is off in float32, too.
    float32: bool = False


MODELS = {
    "lenet5": Recipe(LeNet5, (1, 28, 28), opset=13),
    "mlp": Recipe(MLP, (1, 28, 28), opset=13),
    "resnet_tiny": Recipe(ResNetTiny, (3, 32, 32)),
    # See README.md on the data and the single step.
    "mobilenet_v2_quarter": Recipe(mobilenet_v2_quarter, (3, 64, 64),
                                   data_seed=197, steps=1, float32=True),
    "densenet_tiny": Recipe(densenet_tiny, (3, 64, 64)),
    "unet_tiny": Recipe(UNetTiny, (3, 24, 16), classes=4, positions=(24, 16),
                        batch=4),
    "gpt_tiny": Recipe(GPTTiny, (16,), classes=61, positions=(16,), tokens=61),
    "vit_tiny": Recipe(vit_tiny, (3, 32, 32)),
}
