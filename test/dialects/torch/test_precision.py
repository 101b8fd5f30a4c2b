# SPDX-License-Identifier: Apache-2.0
"""Attributes for precisions are set only where they change something."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

from tilewright import api
from tilewright.dialects.precision import Precisions
from tilewright.dialects.torch.precision import set_precisions

HIGH = Precisions.of_word("high")


def _attributes(function: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> list[str]:
    captured = api.capture(function, *inputs)
    set_precisions(captured.module, HIGH)
    return sorted(captured.module.attributes)


def test_only_float32_contractions_have_a_precision():
    x, images = torch.ones(4, 4), torch.ones(1, 2, 4, 4)
    assert _attributes(torch.matmul, x, x) == ["torch.matmul_precision"]
    assert _attributes(F.conv2d, images, images) == ["torch.conv_precision"]
    assert _attributes(torch.relu, x) == []
    assert _attributes(torch.matmul, x.double(), x.double()) == []
    assert _attributes(torch.matmul, x.half(), x.half()) == []


def test_highest_removes_the_attributes():
    captured = api.capture(torch.matmul, torch.ones(4, 4), torch.ones(4, 4))
    set_precisions(captured.module, HIGH)
    set_precisions(captured.module, Precisions())
    assert not captured.module.attributes
