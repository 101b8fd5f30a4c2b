# SPDX-License-Identifier: Apache-2.0
"""
Variances and norms of rows that are read once for their mean and their squared deviations.

Sizes are odd. Rows have NaN and infinity, equal numbers, or numbers of one sign.
"""

from math import inf, nan

import pytest
import torch
from needs import needs_nvrtc
from torch import Tensor
from torch.nn import functional as F

from tilewright.dialects.monoid import Monoid

from ...decompose.conftest import assert_same
from ...tile.scheduled import simulate
from .one_pass import Function, Inputs, assert_right, loops_of, reductions, shared_rows

pytestmark = needs_nvrtc


def rows(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return rows of random numbers; some have numbers that are not finite."""
    x = torch.randn(shape, generator=torch.Generator().manual_seed(shape[-1]))
    x[1], x[2] = 0.5, x[2] + 9
    x[3].view(-1)[7], x[4].view(-1)[3], x[5].view(-1)[0] = inf, nan, -inf
    x[6].view(-1)[3:5] = torch.tensor([inf, -inf])
    return x.to(dtype)


def var_mean(x: Tensor) -> tuple[Tensor, Tensor]:
    return torch.var(x, -1), torch.mean(x, -1)


def std(x: Tensor) -> Tensor:
    return torch.std(x, -1, correction=0)


def of_columns(x: Tensor) -> Tensor:
    return torch.var(x.T, 0)


def layer_norm(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[1:])


def group_norm(x: Tensor) -> Tensor:
    return F.group_norm(x, 3)


CASES: list[tuple[Function, Inputs]] = [
    (var_mean, [rows(7, 1030)]),
    (std, [rows(7, 213)]),
    (of_columns, [rows(7, 61)]),
    (layer_norm, [rows(7, 3, 5, 9)]),
    (layer_norm, [rows(7, 77, dtype=torch.bfloat16)]),
    (group_norm, [rows(7, 6, 5, 7)]),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("function", "inputs"), CASES)
def test_rows_are_read_once(function: Function, inputs: Inputs) -> None:
    module = loops_of(function, inputs, "one-pass-variance")
    assert len(reductions(module, Monoid.MOMENTS)) == 1
    assert reductions(module, Monoid.ADD) == []
    assert_right(module, function, inputs)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("join", ["cluster", "last_block"])
def test_blocks_share_rows(join: str) -> None:
    x = rows(7, 1030)
    module = loops_of(std, [x], "one-pass-variance")
    assert_same(simulate(module, shared_rows(join), [x]).numpy(), std(x))


def of_threads(function: Function, x: Tensor) -> Tensor:
    """Return the result of `function` in the simulator, by 32 threads for each row."""
    module = loops_of(function, [x], "one-pass-variance")
    schedule = "tileify,cooperative-reduce{threads=32 rows=1 row=stage},register-tile,mark-unroll"
    return simulate(module, schedule, [x])


def test_numbers_far_from_zero_keep_their_variance() -> None:
    # The mean of the squares less the square of the mean would be 0 or negative here.
    x = torch.randn(3, 513, generator=torch.Generator().manual_seed(0)) + 2.0**14
    result = of_threads(std, x)
    exact = torch.std(x.double(), -1, correction=0)
    torch.testing.assert_close(result.double(), exact, rtol=2e-5, atol=0)


def var(x: Tensor) -> Tensor:
    return torch.var(x, -1)


def test_overflow_is_infinite() -> None:
    x = torch.randn(3, 513, generator=torch.Generator().manual_seed(0)) * 1e30
    assert_same(of_threads(var, x).numpy(), var(x))


def mean_beside_variance(x: Tensor) -> Tensor:
    return torch.stack(torch.var_mean(x, -1))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("position", [0, 256, 512])
def test_means_beside_an_outlier(position: int) -> None:
    x = torch.randn(3, 513, generator=torch.Generator().manual_seed(0))
    x[:, position] = 1e8
    mean = of_threads(mean_beside_variance, x)[1]
    torch.testing.assert_close(mean.double(), x.double().mean(-1), rtol=1e-6, atol=0)
