# SPDX-License-Identifier: Apache-2.0
"""Random slices, pads, joins and orders: elements move as in PyTorch, in one index map."""

from math import prod
from typing import Any

import pytest
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.dialects import torch

pytorch: Any = pytest.importorskip("torch")

Shape = tuple[int, ...]

sizes = st.sampled_from([1, 2, 3, 4, 5])
shapes = st.lists(sizes, min_size=1, max_size=3).map(tuple)
dtypes = st.sampled_from(["float32", "float16", "int64", "int8", "bool"])
modes = st.sampled_from(["reflect", "replicate", "circular"])
lengths = st.lists(st.integers(0, 4), min_size=1, max_size=4)
shifts = st.lists(st.integers(-9, 9), min_size=1, max_size=3)
bounds = st.none() | st.integers(-7, 7)


def numbered(shape: Shape, dtype: str = "float32", first: int = 1) -> Any:
    """Return distinct elements, as far as the dtype permits."""
    elements = pytorch.arange(first, first + prod(shape)).reshape(shape)
    return (elements % 2 if dtype == "bool" else elements).to(getattr(pytorch, dtype))


@st.composite
def dims_of(draw: st.DrawFn, shape: Shape) -> int:
    """Draw a dimension, counted from either end."""
    return draw(st.integers(-len(shape), len(shape) - 1))


@given(data=st.data(), shape=shapes, dtype=dtypes, start=bounds, end=bounds, step=st.integers(1, 4))
@settings(max_examples=drawn(60), print_blob=True)
def test_slices(
    data: st.DataObject, shape: Shape, dtype: str, start: int, end: int, step: int, check: Any
):
    input, dim = numbered(shape, dtype), data.draw(dims_of(shape))
    sliced = check(torch.SliceOp, input, dim, start, end, step, exact=True)
    part = pytorch.ops.aten.slice(input, dim, start, end, step)
    put = check(
        torch.SliceScatterOp, input, pytorch.zeros_like(part), dim, start, end, step, exact=True
    )
    assert max(len(sliced), len(put)) <= 1


@given(data=st.data(), shape=shapes, dtype=dtypes)
@settings(max_examples=drawn(60), print_blob=True)
def test_pads(data: st.DataObject, shape: Shape, dtype: str, check: Any):
    count = data.draw(st.integers(0, len(shape)))
    last = shape[len(shape) - count :][::-1]
    pairs = [data.draw(st.tuples(st.integers(-n, 3), st.integers(0, 3))) for n in last]
    pad = [size for pair in pairs for size in data.draw(st.permutations(pair))]
    value = data.draw(st.sampled_from([None, 0.0, 1.0, 7.0]))
    ops = check(torch.PadOp, numbered(shape, dtype), pad, "constant", value, exact=True)
    assert len(ops) <= 1


@given(data=st.data(), shape=st.tuples(sizes, sizes, sizes), mode=modes)
@settings(max_examples=drawn(60), print_blob=True)
def test_edges(data: st.DataObject, shape: Shape, mode: str, check: Any):
    pads: list[int] = []
    for size in data.draw(st.sampled_from([shape[:0:-1], shape[2:]])):
        most = st.integers(0, size - 1 if mode == "reflect" else size)
        pads += data.draw(st.tuples(most, most))
    input = numbered((1, *shape) if len(pads) == 4 and data.draw(st.booleans()) else shape)
    check(torch.PadOp, input, pads, mode, exact=True)


@given(data=st.data(), shape=shapes, lengths=lengths, dtype=dtypes)
@settings(max_examples=drawn(50), print_blob=True)
def test_joins(data: st.DataObject, shape: Shape, lengths: list[int], dtype: str, check: Any):
    dim = data.draw(dims_of(shape))
    parts = [
        numbered((*shape[: dim % len(shape)], n, *shape[dim % len(shape) + 1 :]), dtype, i * 50)
        for i, n in enumerate(lengths)
    ]
    empty = [pytorch.zeros(0, dtype=parts[0].dtype)] if data.draw(st.booleans()) else []
    joined = check(torch.CatOp, [*empty, *parts], dim, exact=True)
    split = check(torch.SplitWithSizesOp, pytorch.cat(parts, dim), lengths, dim, exact=True)
    assert len(joined) <= 1
    assert len(split) <= len(lengths)


@given(data=st.data(), shape=shapes, shifts=shifts)
@settings(max_examples=drawn(50), print_blob=True)
def test_orders(data: st.DataObject, shape: Shape, shifts: list[int], check: Any):
    input = numbered(shape)
    dims = [data.draw(dims_of(shape)) for _ in shifts]
    check(torch.RollOp, input, shifts[:1], [], exact=True)
    check(torch.RollOp, input, shifts, dims, exact=True)
    check(torch.FlipOp, input, data.draw(st.permutations(range(len(shape))))[:2], exact=True)
    check(torch.RepeatOp, input, [data.draw(sizes) for _ in shape], exact=True)


@given(
    shape=st.tuples(sizes, sizes, sizes),
    offset=st.integers(-5, 5),
    dims=st.permutations([-3, 1, 2]),
)
@settings(max_examples=drawn(50), print_blob=True)
def test_diagonals(shape: Shape, offset: int, dims: list[int], check: Any):
    input, (dim1, dim2, _) = numbered(shape), dims
    check(torch.TrilOp, input, offset, exact=True)
    check(torch.TriuOp, input, offset, exact=True)
    diagonal = input.diagonal(offset, dim1, dim2)
    check(torch.DiagonalOp, input, offset, dim1, dim2, exact=True)
    check(torch.DiagonalScatterOp, input, -diagonal, offset, dim1, dim2, exact=True)
    check(torch.DiagEmbedOp, input[0], offset, dim1, dim2, exact=True)
