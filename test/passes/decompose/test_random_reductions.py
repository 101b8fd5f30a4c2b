# SPDX-License-Identifier: Apache-2.0
"""Random shapes, dimensions, values and dtypes for ops that fold or scan along dimensions."""

from math import inf, nan
from typing import Any

from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.dialects import torch
from tilewright.dialects.torch.op import TorchOp

from .inputs import pytorch

Shape = tuple[int, ...]

shapes = st.lists(st.sampled_from([0, 1, 2, 3, 5]), max_size=3).map(tuple)
spaces = st.lists(st.sampled_from([1, 2, 5]), max_size=1)
_FEW = (-inf, -1.0, -0.0, 0.0, 1.0, 2.0, inf, nan)
"""Values with many ties; some win over all others."""
_DTYPES = [pytorch.float32, pytorch.float64, pytorch.bfloat16, pytorch.int64, pytorch.uint8]
_ORDERS = [0, 1, 2, 3, 0.5, -1, inf, -inf]


@st.composite
def tensors(draw: st.DrawFn, floats_only: bool = False) -> Any:
    """Draw a small tensor of few different values."""
    shape = draw(shapes)
    dtype = draw(st.sampled_from(_DTYPES[:3] if floats_only else _DTYPES))
    few = _FEW if dtype.is_floating_point else _FEW[3:6]
    generator = pytorch.Generator().manual_seed(draw(st.integers(0, 9)))
    chosen = pytorch.randint(len(few), shape, generator=generator)
    return pytorch.tensor(few)[chosen].to(dtype)


@st.composite
def dim_of(draw: st.DrawFn, input: Any) -> int:
    """Draw a dimension, counted from either end, also for scalars."""
    rank = max(input.ndim, 1)
    return draw(st.integers(-rank, rank - 1))


def _size(input: Any, dim: int) -> int:
    return input.shape[dim] if input.ndim else 1


@given(data=st.data(), input=tensors(), keepdim=st.booleans())
@settings(max_examples=drawn(25), print_blob=True)
def test_extremes_and_their_positions(data: st.DataObject, input: Any, keepdim: bool, check: Any):
    dim = data.draw(dim_of(input))
    pairs: list[type[TorchOp]] = [torch.MaxDimOp, torch.MinDimOp, torch.ArgmaxOp, torch.ArgminOp]
    if _size(input, dim):
        check(data.draw(st.sampled_from(pairs)), input, dim, keepdim, exact=True)
    scans: list[type[TorchOp]] = [torch.CummaxOp, torch.CumminOp]
    check(data.draw(st.sampled_from(scans)), input, dim, exact=True)


@given(data=st.data(), input=tensors(), keepdim=st.booleans())
@settings(max_examples=drawn(25), print_blob=True)
def test_sums_and_truths(data: st.DataObject, input: Any, keepdim: bool, check: Any):
    dim = data.draw(dim_of(input))
    ops: list[type[TorchOp]] = [torch.AnyDimOp, torch.AllDimOp, torch.ProdDimOp]
    check(data.draw(st.sampled_from(ops)), input, dim, keepdim, exact=True)
    check(data.draw(st.sampled_from([torch.CumsumOp, torch.CumprodOp])), input, dim, exact=True)


@given(data=st.data(), input=tensors(floats_only=True), keepdim=st.booleans())
@settings(max_examples=drawn(25), print_blob=True)
def test_statistics(data: st.DataObject, input: Any, keepdim: bool, check: Any):
    dim, ord = data.draw(dim_of(input)), data.draw(st.sampled_from(_ORDERS))
    if _size(input, dim) or 0 <= ord < inf:
        check(torch.VectorNormOp, input, ord, [dim], keepdim)
    check(torch.LogsumexpOp, input, [dim], keepdim)


@given(groups=st.integers(1, 3), size=st.integers(1, 3), space=spaces, affine=st.booleans())
@settings(max_examples=drawn(15), print_blob=True)
def test_channel_norms(groups: int, size: int, space: list[int], affine: bool, check: Any):
    # PyTorch computes input * rstd - mean * rstd on a CPU, which cancels in groups of few elements.
    channels, generator = groups * size, pytorch.Generator().manual_seed(0)
    input, weight, bias = (
        pytorch.randn(shape, generator=generator)
        for shape in ((2, channels, 8, *space), (channels,), (channels,))
    )
    parameters = (weight, bias) if affine else (None, None)
    check(torch.GroupNormOp, input, groups, *parameters)
    check(torch.BatchNormOp, input, *parameters, bias, weight.abs(), 0.1, 1e-5)
