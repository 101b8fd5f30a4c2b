# SPDX-License-Identifier: Apache-2.0
"""
Softmax, logsumexp and cross entropy over rows that are read once for their maximum and their sum.

Sizes are odd. Rows have NaN and infinity, or only minus infinity.
"""

from math import inf, nan

import pytest
import torch
from needs import needs_nvrtc
from torch import Tensor
from torch.nn import functional as F

from tilewright import api
from tilewright.dialects.monoid import Monoid

from ...decompose.conftest import assert_same
from ...tile.scheduled import simulate
from .one_pass import Function, Inputs, assert_right, loops_of, reductions, shared_rows

pytestmark = needs_nvrtc


def rows(count: int, length: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return rows of random numbers; some have elements that are not finite."""
    x = torch.randn(count, length, generator=torch.Generator().manual_seed(length)) * 9
    x[1], x[2, ::2] = -inf, -inf
    x[3, 7], x[4, 1], x[5, 6] = inf, nan, -inf
    x[6, 3], x[6, 4] = inf, -inf
    return x.to(dtype)


def softmax(x: Tensor) -> Tensor:
    return torch.softmax(x, -1)


def log_softmax(x: Tensor) -> Tensor:
    return F.log_softmax(x, -1)


def logsumexp(x: Tensor) -> Tensor:
    return torch.logsumexp(x, -1)


def undivided(x: Tensor) -> Tensor:
    """Return the divisors of a softmax, which are NaN for rows of minus infinity."""
    return torch.exp(x - x.amax(-1, keepdim=True)).sum(-1)


def with_sink(x: Tensor, sink: Tensor) -> Tensor:
    """Return sums of exponentials relative to the largest of a row and another number."""
    return torch.exp(x - torch.maximum(x.amax(-1, keepdim=True), sink)).sum(-1)


def of_columns(x: Tensor) -> Tensor:
    return torch.softmax(x.T, 0)


def cross_entropy(x: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(x, target, reduction="none")


def hidden(x: Tensor) -> Tensor:
    """Return the softmax of rows in which positions before the row's number are hidden."""
    mask = torch.ones(x.shape, dtype=torch.bool).tril(-2)
    return torch.softmax(x.masked_fill(mask, -inf), -1)


SINKS = torch.tensor([40.0, 20.0, -inf, 5.0, 90.0, -inf, nan]).view(7, 1)
"""Numbers above the maximum of a row and below it, and some that are not finite."""

TARGETS = torch.arange(9) * 3 % 13
CASES: list[tuple[Function, Inputs]] = [
    (softmax, [rows(7, 213)]),
    (log_softmax, [rows(7, 77, torch.bfloat16)]),
    (logsumexp, [rows(7, 1030)]),
    (undivided, [rows(7, 61)]),
    (with_sink, [rows(7, 61), SINKS]),
    (with_sink, [rows(7, 61), torch.full((7, 1), 30.0)]),
    (of_columns, [rows(7, 61)]),
    (cross_entropy, [rows(9, 213), TARGETS]),
    (hidden, [rows(9, 45)]),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("function", "inputs"), CASES)
def test_rows_are_read_once(function: Function, inputs: Inputs) -> None:
    module = loops_of(function, inputs, "one-pass-softmax")
    assert len(reductions(module, Monoid.SOFTMAX)) == 1
    assert reductions(module, Monoid.MAX) == []
    assert_right(module, function, inputs)


def sinks_of_steps(x: Tensor, sinks: Tensor) -> Tensor:
    """Return sums of exponentials whose shift is another one in each step."""
    return torch.exp(x - torch.maximum(x.amax(-1, keepdim=True), sinks)).sum(-1)


def shift_in_steps(x: Tensor) -> Tensor:
    """Return a sum as of `logsumexp`, with the finite maximum computed in each step."""
    largest = x.amax(-1, keepdim=True).expand_as(x)
    return torch.exp(x - torch.where(largest.abs() == inf, 0.0, largest)).sum(-1)


def largest_relative(x: Tensor, sinks: Tensor) -> Tensor:
    """Return the largest score relative to a maximum that is another one in each step."""
    return (x - torch.maximum(x.amax(-1, keepdim=True), sinks)).amax(-1)


STEPS: list[tuple[Function, Inputs]] = [
    (sinks_of_steps, [rows(7, 61), 9 * rows(7, 61)]),
    (shift_in_steps, [rows(7, 61)]),
    (largest_relative, [rows(7, 61), 9 * rows(7, 61)]),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("function", "inputs"), STEPS)
@pytest.mark.parametrize("step", ["one-pass-softmax", "drop-second-maximum"])
def test_shifts_of_steps_are_kept(function: Function, inputs: Inputs, step: str) -> None:
    module = loops_of(function, inputs, step)
    assert reductions(module, Monoid.SOFTMAX) == []
    assert_right(module, function, inputs)


@pytest.mark.parametrize(
    ("target", "shape", "reads_once"),
    [
        ("sm_90a", (4, 401_408), False),  # a cluster has a row in registers
        ("sm_90a", (4, 401_409), True),
        ("sm_80", (4096, 50_176), False),  # a block has
        ("sm_80", (4096, 50_177), True),
    ],
)
def test_rows_on_chip_stay_as_they_are(
    target: str, shape: tuple[int, ...], reads_once: bool
) -> None:
    captured = api.capture(logsumexp, torch.empty(shape, device="meta"))
    module = api.lower(captured, "loop", target, db=False)
    assert len(reductions(module, Monoid.SOFTMAX)) == reads_once


@pytest.mark.parametrize("join", ["cluster", "last_block"])
def test_blocks_share_rows(join: str) -> None:
    x = rows(7, 1030)
    module = loops_of(logsumexp, [x], "one-pass-softmax")
    assert_same(simulate(module, shared_rows(join), [x]).numpy(), logsumexp(x))
