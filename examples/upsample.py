# SPDX-License-Identifier: Apache-2.0
"""Convolution and upsampling by two, as in a decoder of images."""

import torch
from torch import Tensor, nn


class Upsample(nn.Module):
    """A convolution, and a transposed convolution with a stride of two."""

    def __init__(self, channels: int = 16, given: int = 8):
        super().__init__()
        self.refine = nn.Conv2d(channels, channels, 3, padding=1)
        self.enlarge = nn.ConvTranspose2d(channels, given, 4, stride=2, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """Return images of twice the height and width, with fewer channels."""
        return self.enlarge(torch.relu(self.refine(x)))


example_inputs = (torch.randn(2, 16, 5, 7),)
