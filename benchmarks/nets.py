# SPDX-License-Identifier: Apache-2.0
"""
Convolutional networks for images of 224x224, with random weights: ResNet-101 (He et al.,
arXiv:1512.03385), GoogLeNet (Szegedy et al., arXiv:1409.4842) and DenseNet-121 (Huang et al.,
arXiv:1608.06993).
"""

import torch
from torch import Tensor, nn

BATCH, CLASSES = 10, 1000
example_inputs = (torch.zeros(BATCH, 3, 224, 224),)


def _convolution(before: int, after: int, size: int, stride: int = 1) -> list[nn.Module]:
    """Return a padded convolution, followed by batch normalisation and ReLU."""
    convolution = nn.Conv2d(before, after, size, stride, size // 2, bias=False)
    return [convolution, nn.BatchNorm2d(after), nn.ReLU()]


def _stem() -> list[nn.Module]:
    return [*_convolution(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]


def _classifier(channels: int) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, CLASSES)]


class Bottleneck(nn.Module):
    """Residual block of ResNet."""

    def __init__(self, before: int, inside: int, stride: int):
        super().__init__()
        after = 4 * inside
        *last, _ = _convolution(inside, after, 1)
        self.block = nn.Sequential(
            *_convolution(before, inside, 1), *_convolution(inside, inside, 3, stride), *last
        )
        *shortcut, _ = _convolution(before, after, 1, stride)
        self.shortcut = nn.Identity() if before == after else nn.Sequential(*shortcut)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.block(x) + self.shortcut(x))


def resnet101() -> nn.Module:
    """Return ResNet with 3, 4, 23 and 3 blocks."""
    layers, channels = _stem(), 64
    for stage, depth in enumerate((3, 4, 23, 3)):
        for number in range(depth):
            stride = 2 if stage and not number else 1
            layers.append(Bottleneck(channels, 64 << stage, stride))
            channels = 256 << stage
    return nn.Sequential(*layers, *_classifier(channels)).eval()


class Inception(nn.Module):
    """Inception block: parallel convolutions of several sizes, whose results are concatenated."""

    def __init__(self, before: int, *after: int):
        super().__init__()
        one, to_three, three, to_five, five, pooled = after
        self.parts = nn.ModuleList(
            nn.Sequential(*layers)
            for layers in (
                _convolution(before, one, 1),
                _convolution(before, to_three, 1) + _convolution(to_three, three, 3),
                _convolution(before, to_five, 1) + _convolution(to_five, five, 5),
                [nn.MaxPool2d(3, 1, 1), *_convolution(before, pooled, 1)],
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([part(x) for part in self.parts], 1)


_INCEPTIONS = (
    ((192, 64, 96, 128, 16, 32, 32), (256, 128, 128, 192, 32, 96, 64)),
    (
        (480, 192, 96, 208, 16, 48, 64),
        (512, 160, 112, 224, 24, 64, 64),
        (512, 128, 128, 256, 24, 64, 64),
        (512, 112, 144, 288, 32, 64, 64),
        (528, 256, 160, 320, 32, 128, 128),
    ),
    ((832, 256, 160, 320, 32, 128, 128), (832, 384, 192, 384, 48, 128, 128)),
)
"""Channels of each block, by table 1 of the paper; a pooling precedes each group."""


def googlenet() -> nn.Module:
    """Return GoogLeNet, with the batch normalisation of later versions."""
    layers = [*_stem(), *_convolution(64, 64, 1), *_convolution(64, 192, 3)]
    for group in _INCEPTIONS:
        layers += [nn.MaxPool2d(3, 2, 1), *(Inception(*channels) for channels in group)]
    return nn.Sequential(*layers, *_classifier(1024)).eval()


class Dense(nn.Module):
    """Layer of DenseNet, which concatenates its result with its input."""

    def __init__(self, before: int, growth: int):
        super().__init__()
        inside = 4 * growth
        self.layers = nn.Sequential(
            nn.BatchNorm2d(before),
            nn.ReLU(),
            *_convolution(before, inside, 1),
            nn.Conv2d(inside, growth, 3, padding=1, bias=False),
        )

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([x, self.layers(x)], 1)


def densenet121() -> nn.Module:
    """Return DenseNet with blocks of 6, 12, 24 and 16 layers that add 32 channels each."""
    layers, channels, growth, depths = _stem(), 64, 32, (6, 12, 24, 16)
    for depth in depths:
        if len(layers) > len(_stem()):
            half = nn.Conv2d(channels, channels // 2, 1, bias=False)
            layers += [nn.BatchNorm2d(channels), nn.ReLU(), half, nn.AvgPool2d(2)]
            channels //= 2
        layers += [Dense(channels + growth * number, growth) for number in range(depth)]
        channels += growth * depth
    last = [nn.BatchNorm2d(channels), nn.ReLU(), *_classifier(channels)]
    return nn.Sequential(*layers, *last).eval()
