# SPDX-License-Identifier: Apache-2.0
"""
Convolutions whose blocks are rectangles of an image, and whose slabs TMA fills, with halos beyond
all edges of the input.
"""

import pytest
import torch
from needs import needs_nvrtc
from torch import nn

from tilewright import api
from tilewright.tools.input.source import set_precision

from .convolution_runs import problems

FLOAT, HALF = torch.float32, torch.bfloat16

CASES = {
    "lines that end inside of a block": (nn.Conv2d(16, 8, 3), (1, 16, 8, 64), FLOAT),
    "halos on all sides": (nn.Conv2d(16, 8, 3, padding=1), (1, 16, 6, 64), HALF),
    "a transposed convolution": (nn.ConvTranspose2d(16, 8, 3), (1, 16, 6, 60), FLOAT),
    "one dimension, with dilation": (
        nn.Conv1d(16, 8, 3, padding=2, dilation=2),
        (2, 16, 128),
        HALF,
    ),
    "a volume": (nn.Conv3d(16, 8, (2, 1, 3), padding=(0, 0, 1)), (1, 16, 3, 2, 64), FLOAT),
    "a small image, whose lines come first": (nn.Conv2d(16, 8, 3, padding=1), (1, 16, 8, 32), HALF),
    "eight floats in a line": (nn.Conv2d(16, 8, 3, padding=1), (2, 16, 8, 8), FLOAT),
    "channels with a rest": (nn.Conv2d(24, 8, (1, 3), padding=(0, 1)), (1, 24, 4, 64), HALF),
    "chunks of 24 channels": (nn.Conv2d(24, 8, (1, 3), padding=(0, 1)), (1, 24, 4, 64), FLOAT),
    "groups": (nn.Conv2d(32, 32, (1, 3), padding=(0, 1), groups=2), (1, 32, 4, 64), HALF),
}

LINES_FIRST = ("a small image, whose lines come first", "eight floats in a line")
"""Cases in which rows of channels are adjacent."""


@needs_nvrtc
@pytest.mark.parametrize("name", CASES)
def test_convolution(name: str) -> None:
    module, shape, dtype = CASES[name]
    torch.random.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    captured = api.capture(module.to(dtype), torch.randn(shape, dtype=dtype))
    set_precision(captured.module, "high")
    tiles = str(api.lower(captured.module, "tile", "sm_90a", db=False))
    assert tiles.count("transport(tma)") == 2
    assert ("order [1, 0, 2]" in tiles) == (name in LINES_FIRST)
    assert not [*problems(captured, "sm_90a")]
