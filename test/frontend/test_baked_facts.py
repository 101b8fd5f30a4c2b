# SPDX-License-Identifier: Apache-2.0
"""
Programs whose Python code reads facts of a tensor, such as strides, refuse inputs with other facts.
"""

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
    message = r"argument \[0\] has strides \[1, 4\], but the program reads that, .* \[3, 1\]"
    for other in (ACROSS, np.asfortranarray(X.numpy())):
        with pytest.raises(UsageError, match=message):
            Call(captured, (other,), {})


def flat(x: torch.Tensor) -> torch.Tensor:
    """Compute the same result for every layout."""
    return x.reshape(-1).contiguous() + x.sum()


def test_any_layout_is_accepted_if_no_code_reads_it():
    captured = capture(flat, (X,))
    assert Call(captured, (ACROSS,), {})


SPARE = torch.ones(8, 3)
GROWING = X.clone().requires_grad_()

OTHERS: list[tuple[Callable[[Any], Any], torch.Tensor, torch.Tensor]] = [
    (lambda x: x + x.storage_offset(), X, SPARE[4:]),
    (lambda x: x + x.storage_offset(), SPARE[4:], X),
    (lambda x: x + 1 if x.requires_grad else x, X, GROWING),
    (lambda x: x + 1 if x.requires_grad else x, GROWING, X),
    (lambda x: x + 1 if x.requires_grad else x, GROWING[:], X),
    (lambda x: x + 1 if x.is_leaf else x, X, GROWING[:]),
    (lambda x: x + 1 if x.is_cpu else x, X.to("meta"), X),
    (lambda x: x + 1 if x.device.type == "cpu" else x, X.to("meta"), X),
    (lambda x: x + x.get_device(), X.to("meta"), X),
    (lambda x: x + x.dim_order()[0], X, ACROSS),
]


@pytest.mark.parametrize(("function", "example", "other"), OTHERS)
def test_another_answer_is_refused(
    function: Callable[[Any], Any], example: torch.Tensor, other: torch.Tensor
):
    captured = capture(function, (example,))
    assert Call(captured, (example,), {})
    with pytest.raises(UsageError, match=r"argument \[0\] has .*, but the program reads that"):
        Call(captured, (other,), {})


def shifted(x: torch.Tensor) -> torch.Tensor:
    """Compute a result that depends on `requires_grad`."""
    return x + 1 if x.requires_grad else x + 2


def test_parts_of_tensors_keep_what_they_require():
    captured = capture(shifted, (GROWING[1:],))
    assert "other 1" in str(captured.module)
    assert Call(captured, (GROWING[:3],), {})
