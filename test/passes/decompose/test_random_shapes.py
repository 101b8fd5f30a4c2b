# SPDX-License-Identifier: Apache-2.0
"""Random shapes and dimensions: decomposed programs compute PyTorch's results."""

from math import prod
from typing import Any

import pytest
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.dialects import torch
from tilewright.dialects.torch.op import TorchOp

pytorch: Any = pytest.importorskip("torch")

Shape = tuple[int, ...]

sizes = st.sampled_from([0, 1, 2, 3, 5, 7])
"""Sizes of dimensions: none, one, small and odd."""

positive = st.sampled_from([1, 2, 3, 5, 7])
seeds = st.integers(0, 9)


def shapes(size: st.SearchStrategy[int] = sizes, least: int = 0) -> st.SearchStrategy[Shape]:
    return st.lists(size, min_size=least, max_size=4).map(tuple)


def rand(seed: int, shape: Shape) -> Any:
    return pytorch.randn(shape, generator=pytorch.Generator().manual_seed(seed))


@st.composite
def broadcast_to(draw: st.DrawFn, shape: Shape) -> Shape:
    """Draw a shape that broadcasts to `shape`: some of its last sizes, or 1 for them."""
    kept = draw(st.integers(0, len(shape)))
    return tuple(draw(st.sampled_from([size, 1])) for size in shape[len(shape) - kept :])


@st.composite
def some_dims(draw: st.DrawFn, rank: int) -> list[int]:
    """Draw some dimensions in any order, each counted from either end."""
    dims = draw(st.lists(st.integers(0, max(rank, 1) - 1), unique=True))
    return [draw(st.sampled_from([dim, dim - max(rank, 1)])) for dim in dims]


@st.composite
def factors(draw: st.DrawFn, number: int) -> Shape:
    """Draw a shape of `number` elements."""
    shape: list[int] = []
    for _ in range(draw(st.integers(0, 3))):
        left = number // max(prod(shape), 1) if number else 1
        shape.append(draw(st.sampled_from([d for d in range(1, left + 1) if left % d == 0])))
    return (*shape, number // prod(shape)) if prod(shape) != number else tuple(shape)


@given(data=st.data(), shape=shapes(), seed=seeds)
@settings(max_examples=drawn(40), print_blob=True)
def test_broadcasting(data: st.DataObject, shape: Shape, seed: int, check: Any):
    op = data.draw(st.sampled_from([torch.AddOp, torch.SubOp, torch.MulOp, torch.MaximumOp]))
    pair = [shape, data.draw(broadcast_to(shape))]
    left, right = pair if data.draw(st.booleans()) else reversed(pair)
    check(op, rand(seed, left), rand(seed + 1, right), exact=True)


@given(data=st.data(), shape=shapes(), keepdim=st.booleans(), seed=seeds)
@settings(max_examples=drawn(40), print_blob=True)
def test_reductions(data: st.DataObject, shape: Shape, keepdim: bool, seed: int, check: Any):
    ops: list[type[TorchOp]] = [torch.SumDimOp, torch.MeanDimOp]
    if 0 not in shape:
        ops += [torch.AmaxOp, torch.AminOp]
    op = data.draw(st.sampled_from(ops))
    check(op, rand(seed, shape), data.draw(some_dims(len(shape))), keepdim)


@given(data=st.data(), batch=st.lists(sizes, max_size=2).map(tuple), mnk=st.tuples(*[sizes] * 3))
@settings(max_examples=drawn(40), print_blob=True)
def test_matmul(data: st.DataObject, batch: Shape, mnk: tuple[int, int, int], check: Any):
    m, n, k = mnk
    left = data.draw(st.sampled_from([(*data.draw(broadcast_to(batch)), m, k), (k,)]))
    right = data.draw(st.sampled_from([(*data.draw(broadcast_to(batch)), k, n), (k,)]))
    check(torch.MatmulOp, rand(0, left), rand(1, right))


@given(rows=shapes(), columns=st.lists(sizes, max_size=1).map(tuple), k=sizes, bias=st.booleans())
@settings(max_examples=drawn(100), print_blob=True)
def test_linear(rows: Shape, columns: Shape, k: int, bias: bool, check: Any):
    # PyTorch accepts a vector as the weight of a matrix only without bias.
    added = [rand(2, columns)] if bias and columns else []
    check(torch.LinearOp, rand(0, (*rows, k)), rand(1, (*columns, k)), *added)


@given(data=st.data(), shape=shapes(least=1), seed=seeds, affine=st.booleans())
@settings(max_examples=drawn(50), print_blob=True)
def test_normalisations(data: st.DataObject, shape: Shape, seed: int, affine: bool, check: Any):
    input, dim = rand(seed, shape), data.draw(st.integers(-len(shape), len(shape) - 1))
    tail = shape[dim:]
    weight, bias = (rand(1, tail), rand(2, tail)) if affine else (None, None)
    check(torch.SoftmaxOp, input, dim)
    check(torch.RmsNormOp, input, list(tail), weight)
    check(torch.LayerNormOp, input, list(tail), weight, bias)


@given(data=st.data(), shape=shapes(positive))
@settings(max_examples=drawn(40), print_blob=True)
def test_views(data: st.DataObject, shape: Shape, check: Any):
    input = pytorch.arange(float(prod(shape))).reshape(shape)
    order = data.draw(st.permutations(range(len(shape))))
    (*permuted,) = check(torch.PermuteOp, input, order, exact=True)
    (*reshaped,) = check(torch.ReshapeOp, input, data.draw(factors(prod(shape))), exact=True)
    source = data.draw(broadcast_to(shape))
    (*expanded,) = check(torch.ExpandOp, rand(0, source), list(shape), exact=True)
    assert all(len(ops) <= 1 for ops in (permuted, reshaped, expanded))
