# SPDX-License-Identifier: Apache-2.0
"""Elements that share memory are found, by the rule for strides and by a list of positions."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import tilewright
from tilewright.errors import UsageError
from tilewright.frontend.overlap import overlaps_itself


def shift(x: torch.Tensor) -> torch.Tensor:
    """Write to the argument in place."""
    return x.add_(1)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-9, 9)), max_size=4))
def test_elements_that_share_a_byte_are_found(axes: list[tuple[int, int]]):
    sizes, strides = [size for size, _ in axes], [stride for _, stride in axes]
    array: Any = np.lib.stride_tricks.as_strided(np.zeros(200, np.int16)[100:], sizes, strides)
    places = [
        byte + sum(index * stride for index, stride in zip(indices, strides, strict=True))
        for indices in product(*map(range, sizes))
        for byte in range(2)
    ]
    assert overlaps_itself(array) == (len({*places}) < len(places))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "value",
    [
        torch.zeros(1, 5).expand(4, 5),
        torch.zeros(20).as_strided((4, 5), (2, 1)),
        np.lib.stride_tricks.as_strided(np.zeros(99, np.float32), (4, 5), (8, 4)),
    ],
)
def test_what_overlaps_itself_is_not_written(value: Any):
    program = tilewright.compile(shift, torch.zeros(4, 5), device="sim")
    with pytest.raises(UsageError, match="'x', which has elements that share memory"):
        program(value)
    assert (torch.as_tensor(value) == 0).all()


def test_rows_of_a_larger_tensor_are_written():
    whole = torch.zeros(8, 10)
    tilewright.compile(shift, torch.zeros(4, 5), device="sim")(whole[::2, ::2])
    assert whole.sum() == 20
