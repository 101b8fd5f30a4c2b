# SPDX-License-Identifier: Apache-2.0
"""Random subscripts, shapes and sizes: decomposed programs read and write as PyTorch does."""

from typing import Any

import pytest
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.dialects import torch

pytorch: Any = pytest.importorskip("torch")

Shape = tuple[int, ...]

seeds = st.integers(0, 9)
positive = st.sampled_from([1, 2, 3, 5])


def generator(seed: int) -> Any:
    return pytorch.Generator().manual_seed(seed)


def rand(seed: int, *shape: int) -> Any:
    return pytorch.randn(shape, generator=generator(seed))


@st.composite
def broadcast_to(draw: st.DrawFn, shape: Shape) -> Shape:
    """Draw a shape that broadcasts to `shape`: some of its last sizes, or 1 for them."""
    kept = draw(st.integers(0, len(shape)))
    return tuple(draw(st.sampled_from([size, 1])) for size in shape[len(shape) - kept :])


@st.composite
def indexings(draw: st.DrawFn) -> tuple[Any, list[Any]]:
    """Draw a tensor and subscripts for some of its dimensions, adjacent or not, negative or not."""
    shape = draw(st.lists(positive, min_size=1, max_size=4))
    used = [draw(st.booleans()) for _ in shape]
    used[draw(st.integers(0, len(shape) - 1))] = True
    together = tuple(draw(st.lists(st.sampled_from([0, 1, 2, 3]), max_size=2)))
    seed = draw(seeds)
    indices = [
        pytorch.randint(
            -size, size, draw(broadcast_to(together)), generator=generator(seed + dim)
        ).to(draw(st.sampled_from([pytorch.int64, pytorch.int32])))
        if taken
        else None
        for dim, (size, taken) in enumerate(zip(shape, used, strict=True))
    ]
    return rand(seed, *shape), indices


@given(indexing=indexings())
@settings(max_examples=drawn(30), deadline=None, print_blob=True)
def test_index(indexing: tuple[Any, list[Any]], check: Any):
    check(torch.IndexOp, *indexing, exact=True)


@given(data=st.data(), indexing=indexings(), accumulate=st.booleans())
@settings(max_examples=drawn(20), deadline=None, print_blob=True)
def test_index_put(
    data: st.DataObject, indexing: tuple[Any, list[Any]], accumulate: bool, check: Any
):
    input, indices = indexing
    target = tuple(pytorch.ops.aten.index(input, indices).shape)
    values = rand(1, *data.draw(broadcast_to(target)))
    check(torch.IndexPutOp, input, indices, values, accumulate, exact=not accumulate)


@given(data=st.data(), shape=st.lists(positive, min_size=1, max_size=3), seed=seeds)
@settings(max_examples=drawn(20), deadline=None, print_blob=True)
def test_gather_and_scatter(data: st.DataObject, shape: list[int], seed: int, check: Any):
    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    sizes = [data.draw(st.integers(1, size)) for size in shape]
    sizes[dim] = data.draw(positive)
    index = pytorch.randint(shape[dim], sizes, generator=generator(seed))
    input, source = rand(seed, *shape), rand(seed + 1, *sizes)
    check(torch.GatherOp, input, dim, index, exact=True)
    check(torch.ScatterOp, input, dim, index, source, exact=True)
    check(torch.ScatterAddOp, input, dim, index, source)


# Only sequences: PyTorch's kernels for images differ among themselves, as the pass explains.
@given(size=st.integers(1, 40), to=st.integers(1, 80), scale=st.floats(0.2, 4), given=st.booleans())
@settings(max_examples=drawn(40), deadline=None, print_blob=True)
def test_nearest(size: int, to: int, scale: float, given: bool, check: Any):
    to = max(int(size * scale), 1) if given else to
    input, scales = pytorch.arange(float(size)).reshape(1, 1, -1), [scale] if given else []
    check(torch.UpsampleNearest1dOp, input, [to], *scales, exact=True)
    check(torch.UpsampleNearestExact1dOp, input, [to], *scales, exact=True)


@given(size=st.integers(1, 20), to=st.integers(1, 40), align_corners=st.booleans(), seed=seeds)
@settings(max_examples=drawn(20), deadline=None, print_blob=True)
def test_linear(size: int, to: int, align_corners: bool, seed: int, check: Any):
    check(torch.UpsampleLinear1dOp, rand(seed, 1, 1, size), [to], align_corners)
