# SPDX-License-Identifier: Apache-2.0
"""Blocks of convolutions that read boxes: which kernels have them, and how wide they are."""

import pytest
import torch
from torch import Tensor, nn

from tilewright import api
from tilewright.dialects import loop
from tilewright.dialects.target import target
from tilewright.passes.facts.positions import Images
from tilewright.passes.tile.planner.contraction import contraction_of
from tilewright.passes.tile.planner.image_boxes import ImageBoxes
from tilewright.passes.tile.planner.plan_schedules import launched
from tilewright.tools.input.source import set_precision


def boxes_of(module: nn.Module, input: Tensor, on: str = "sm_90a") -> ImageBoxes | None:
    """Return the images of the only kernel of a convolution with the precision `high`."""
    captured = api.capture(module, input)
    set_precision(captured.module, "high")
    loops = api.lower(captured.module, "loop", on)
    (kernel,) = [op for op in loops.ops if isinstance(op, loop.KernelOp)]
    problem = contraction_of(launched(kernel)[1], target(on))
    assert problem is not None
    return problem.boxes


IMAGE, LINE = torch.empty(2, 16, 8, 64), torch.empty(2, 16, 64)


def test_images_have_several_lines_in_a_block_and_rows_of_channels_one():
    assert boxes_of(nn.Conv2d(16, 8, 3), IMAGE) == ImageBoxes(Images(2, 6, 62), (2, 1, 4, 8))
    assert boxes_of(nn.Conv1d(16, 8, 3), LINE) == ImageBoxes(Images(1, 2, 62), (1,))


@pytest.mark.parametrize(
    ("module", "input", "on"),
    [
        (nn.Conv2d(16, 8, 3), IMAGE, "sm_80"),  # without TMA
        (nn.Conv2d(16, 8, 3, stride=2), IMAGE, "sm_90a"),
        (nn.Conv2d(16, 8, 3), torch.empty(2, 16, 8, 63), "sm_90a"),  # rows of 252 bytes
        (nn.Conv2d(16, 8, 1), IMAGE, "sm_90a"),  # no window
        (nn.Conv2d(3, 8, 3), torch.empty(2, 3, 8, 64), "sm_90a"),  # too few channels
    ],
)
def test_other_kernels_have_no_boxes(module: nn.Module, input: Tensor, on: str):
    assert boxes_of(module, input, on) is None


@pytest.mark.parametrize(
    ("size", "m", "width", "blocks"),
    [
        ((6, 62), 128, 64, 3),
        ((508, 504), 256, 128, 1016),
        ((514, 518), 128, 64, 2313),  # 1.11 positions are computed for each one
        ((7, 62), 128, None, None),  # 1.18 are
        ((64, 64), 32, 32, 128),  # a line, as two of 16 are short
        ((28, 28), 128, 32, 7),
        ((48, 48), 128, 16, 18),  # eight lines, as two of 64 compute 1.33
    ],
)
def test_width(size: tuple[int, int], m: int, width: int | None, blocks: int | None):
    boxes = ImageBoxes(Images(1, *size), (2, 1, 4, 8))
    assert (boxes.width_for(m), boxes.blocks(m)) == (width, blocks)
