# SPDX-License-Identifier: Apache-2.0
"""
Attention as one kernel with one reduction: its Loop IR computes what PyTorch does.

Sizes are odd. Masks hide keys by position, by bools or by added numbers, and all keys of some rows.
"""

from collections.abc import Callable, Sequence
from math import inf, nan
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention as attend
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.arrays import array_of
from tilewright.dialects import loop
from tilewright.dialects.monoid import Monoid
from tilewright.interpreters import interpret
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import TO_LOOP, passes_of

from ...decompose.conftest import assert_same

Attention = Callable[..., Any]
Inputs = Sequence[Tensor]


def tensors(
    heads: tuple[int, ...] = (1, 2),
    rows: int = 37,
    keys: int = 65,
    columns: int = 20,
    shared: int | None = None,
    dtype: torch.dtype = torch.float32,
) -> list[Tensor]:
    """
    Return queries, keys and values. The keys and values have `shared` heads instead of `heads`.
    """
    generator = torch.Generator().manual_seed(rows)
    of_keys = heads if shared is None else (*heads[:-1], shared)
    shapes = (*heads, rows, 20), (*of_keys, keys, 20), (*of_keys, keys, columns)
    return [torch.randn(shape, generator=generator).to(dtype) for shape in shapes]


KEPT = torch.rand(37, 65, generator=torch.Generator().manual_seed(1)) > 0.5
KEPT[3], KEPT[20:] = False, False
"""Keys that rows attend to; some rows attend to no key."""

ADDED = torch.randn(37, 65, generator=torch.Generator().manual_seed(1))
ADDED[5], ADDED[:, 60:] = -inf, -inf
"""Numbers that are added to scores; those of one row are all minus infinity."""


def plain(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attend(q, k, v)


def scaled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attend(q, k, v, scale=-0.3)


def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attend(q, k, v, is_causal=True)


def grouped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attend(q, k, v, is_causal=True, enable_gqa=True)


def window(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return attention to at most eleven keys; the first rows attend to none."""
    ones = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    return attend(q, k, v, ones.tril(-3).triu(-13))


def masked(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return attend(q, k, v, mask)


def cached(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> Tensor:
    """Return attention to the keys up to a position."""
    return attend(q, k, v, (torch.arange(k.shape[-2]) <= position).view(1, -1))


def cached_window(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> Tensor:
    """Return attention to the last six keys up to a position."""
    row = torch.arange(k.shape[-2])
    return attend(q, k, v, ((row <= position) & (row > position - 6)).view(1, -1))


def cached_some(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> Tensor:
    """Return attention to the keys up to a position, except the key two before it."""
    row = torch.arange(k.shape[-2])
    return attend(q, k, v, ((row <= position) & (row != position - 2)).view(1, -1))


def eager(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.mT * 0.2, -1) @ v


def eager_masked(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(q @ k.mT * 0.2 + mask, -1) @ v


def eager_causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
    return torch.softmax((q @ k.mT).masked_fill(hidden, -inf), -1) @ v


def eager_halves(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return attention as models write it that compute the softmax in float32."""
    return torch.softmax(q @ k.mT * 0.2, -1, dtype=torch.float32).to(q.dtype) @ v


def sink(q: Tensor, k: Tensor, v: Tensor, sinks: Tensor) -> Tensor:
    """Return attention whose rows have one more score, of the head, without a value."""
    shape = (*q.shape[:-1], 1)
    scores = torch.cat([q @ k.mT * 0.2, sinks.reshape(1, -1, 1, 1).expand(shape)], -1)
    return torch.softmax(scores, -1)[..., :-1] @ v


def sink_masked(q: Tensor, k: Tensor, v: Tensor, sinks: Tensor, mask: Tensor) -> Tensor:
    """Return attention with sinks as gpt-oss in transformers computes it."""
    shape = (*q.shape[:-1], 1)
    scores = torch.cat([q @ k.mT * 0.2 + mask, sinks.reshape(1, -1, 1, 1).expand(shape)], -1)
    scores = scores - scores.max(dim=-1, keepdim=True).values
    return (torch.softmax(scores, -1)[..., :-1] @ v).transpose(1, 2).contiguous()


SINKS = torch.tensor([0.5, -inf])
"""Sinks of two heads."""

HALVES = tensors(dtype=torch.bfloat16)
POSITION = torch.tensor([9])

ONE_KERNEL: list[tuple[Attention, Inputs]] = [
    (plain, tensors()),
    (plain, tensors((3,), columns=7)),
    (scaled, tensors()),
    (causal, tensors((2, 3))),
    (causal, tensors(rows=65, keys=37)),
    (causal, tensors(rows=257, keys=260)),
    (grouped, tensors((1, 4), shared=2)),
    (window, tensors()),
    (masked, [*tensors(), KEPT]),
    (masked, [*tensors(), ADDED]),
    (cached, [*tensors(), POSITION]),
    (cached, [*tensors(rows=1), POSITION]),
    (cached_window, [*tensors(), POSITION]),
    (cached_some, [*tensors(), POSITION]),
    (causal, HALVES),
    (plain, tensors(dtype=torch.float16)),
    (eager, tensors()),
    (eager_masked, [*tensors(), ADDED]),
    (eager_causal, tensors()),
    (eager, HALVES),
    (eager_halves, HALVES),
    (sink, [*tensors(), SINKS]),
    (sink, [*tensors(), torch.tensor([inf, nan])]),
    (sink, [*HALVES, SINKS.bfloat16()]),
    (sink_masked, [*tensors(), SINKS, ADDED]),
    (sink_masked, [*tensors(), torch.tensor([inf, 1e4]), ADDED]),
]


def online(attention: Attention, inputs: Inputs) -> ModuleOp:
    """Return the Loop IR of `attention` with online softmax."""
    module = lower(api.capture(attention, *inputs).module, Level.TENSOR)
    PassManager(context()).run(module, passes_of(TO_LOOP))
    return module


def reductions(module: ModuleOp) -> list[loop.ReduceOp]:
    """Return the reductions with `softmax` in a module."""
    found = [op for op in module.walk() if isinstance(op, loop.ReduceOp)]
    return [op for op in found if op.monoid.data is Monoid.SOFTMAX]


def assert_right(module: ModuleOp, attention: Attention, inputs: Inputs) -> None:
    """Assert that a module computes what `attention` computes in PyTorch."""
    expected = attention(*inputs)
    results = interpret(module, *map(array_of, inputs))
    for got, tensor in zip(results, [expected] if isinstance(expected, Tensor) else expected):
        assert_same(got, tensor)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("attention", "inputs"), ONE_KERNEL)
def test_attention_is_one_kernel(attention: Attention, inputs: Inputs) -> None:
    module = online(attention, inputs)
    assert sum(isinstance(op, loop.KernelOp) for op in module.ops) == 1
    (reduction,) = reductions(module)
    assert len(reduction.results) == 3
    assert_right(module, attention, inputs)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("attention", "inputs", "conditions"),
    [
        (causal, tensors(), 1),
        (causal, tensors(rows=257, keys=260), 1),
        (window, tensors(), 2),
        (cached, [*tensors(), POSITION], 1),
        (cached_window, [*tensors(), POSITION], 2),
        (cached_some, [*tensors(), POSITION], 1),
        (masked, [*tensors(), KEPT], 0),
        (eager_causal, tensors(), 0),
    ],
)
def test_conditions_on_positions_become_masks(
    attention: Attention, inputs: Inputs, conditions: int
) -> None:
    (reduction,) = reductions(online(attention, inputs))
    mask = reduction.yield_op.mask
    assert (0 if mask is None else len(mask.data.results)) == conditions
    assert reduction.counts_as_finite is (conditions > 0)


def test_hidden_values_that_are_nan_have_no_effect() -> None:
    query, key, value = tensors()
    expected = causal(query, key, value)
    value[..., 37:, :] = torch.nan  # keys that no row attends to
    (got,) = interpret(online(causal, [query, key, value]), *map(array_of, (query, key, value)))
    assert_same(got, expected)


def cleaned(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return attention to the first 20 keys, with values that are 0 beyond them."""
    keep = torch.arange(k.shape[-2]) < 20
    mask = keep[None, :].expand(q.shape[-2], -1)
    return attend(q, k, torch.where(keep[:, None], v, 0.0), mask)


def test_values_that_the_program_cleans_stay_clean() -> None:
    (reduction,) = reductions(online(cleaned, tensors()))
    assert reduction.yield_op.mask is not None
    assert isinstance(reduction.yield_op.values[2].owner, arith.SelectOp)


def test_values_times_weights_of_zero_are_nan_in_softmax() -> None:
    inputs = tensors()
    inputs[2][..., 36, :] = torch.nan
    assert_right(online(eager_causal, inputs), eager_causal, inputs)


def undivided(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Return the sums of a softmax without their division, which gives NaN for 0 by 0."""
    scores = q @ k.mT + mask
    return torch.exp(scores - scores.amax(-1, keepdim=True)) @ v


def test_rows_of_minus_infinity_are_nan() -> None:
    inputs = [*tensors(), ADDED]
    module = online(undivided, inputs)
    (reduction,) = reductions(module)
    assert len(reduction.results) == 2
    assert_right(module, undivided, inputs)


def with_weights(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weights of attention, too."""
    weights = torch.softmax(q @ k.mT, -1)
    return weights @ v, weights


def with_largest(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return the largest score of each row, too."""
    scores = q @ k.mT
    return torch.softmax(scores, -1) @ v, scores.amax(-1)


def with_total(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return the logarithm of each row's total, too."""
    scores = q @ k.mT
    return torch.softmax(scores, -1) @ v, torch.logsumexp(scores, -1)


def test_a_single_row() -> None:
    inputs = tensors((1,), rows=1)  # no axis of rows that a block could have
    assert_right(online(plain, inputs), plain, inputs)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("attention", [with_weights, with_largest, with_total])
def test_values_of_rows_are_kept(attention: Attention) -> None:
    inputs = tensors()
    module = online(attention, inputs)
    assert reductions(module) == []
    assert_right(module, attention, inputs)


LARGE = [
    (causal, [(2, 8, 8200, 64)] * 3, torch.float32),  # a row does not fit on chip
    (eager, [(2, 8, 8200, 64)] * 3, torch.float32),
    (grouped, [(2, 16, 1024, 64), (2, 4, 1024, 64), (2, 4, 1024, 64)], torch.bfloat16),
    (eager, [(2, 16, 1024, 64)] * 3, torch.bfloat16),
    (plain, [(1, 1, 1024, 64)] * 3, torch.bfloat16),  # one product for all rows
    (grouped, [(1, 16, 1024, 64), (1, 1, 1024, 64), (1, 1, 1024, 64)], torch.bfloat16),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("attention", "shapes", "dtype"), LARGE)
def test_large_attention_is_one_kernel(
    attention: Attention, shapes: Sequence[tuple[int, ...]], dtype: torch.dtype
) -> None:
    module = online(attention, [torch.empty(s, dtype=dtype, device="meta") for s in shapes])
    assert sum(isinstance(op, loop.KernelOp) for op in module.ops) == 1
    assert len(reductions(module)) == 1
