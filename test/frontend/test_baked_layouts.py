# SPDX-License-Identifier: Apache-2.0
"""A program whose Python asks how a tensor lies takes inputs that lie as the captured ones do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tilewright.errors import UsageError
from tilewright.frontend.call import Call
from tilewright.frontend.capture import capture

X = torch.ones(4, 3)
ACROSS = torch.ones(3, 4).t()

ASKING: list[Callable[[Any], Any]] = [
    lambda x: x * x.stride(0),
    lambda x: x + 1 if x.is_contiguous() else x - 1,
    lambda x: x * (x + 1).stride()[1],
]


@pytest.mark.parametrize("function", ASKING)
def test_another_layout_is_refused(function: Callable[[Any], Any]):
    captured = capture(function, (X,))
    assert Call(captured, (X + 1,), {})
    assert Call(captured, (X[:, :3],), {})
    says = r"argument \[0\] has the strides \[1, 4\], but the program asks for .* \[3, 1\]"
    for other in (ACROSS, np.asfortranarray(X.numpy())):
        with pytest.raises(UsageError, match=says):
            Call(captured, (other,), {})


def flat(x: torch.Tensor) -> torch.Tensor:
    """Compute the same whatever the layout."""
    return x.reshape(-1).contiguous() + x.sum()


def test_any_layout_is_taken_where_nobody_asks():
    captured = capture(flat, (X,))
    assert Call(captured, (ACROSS,), {})
