# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of reductions: sums, products, means, extremes, any and all.

    %1 = torch.mean.dim %0 dim [-1] keepdim true : (tensor<4x8xf32>) -> tensor<4x1xf32>

becomes

    %s = prim.reduce add(%0) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    %n = prim.constant 8.000000e+00 : f32 -> tensor<4xf32>
    %m = prim.elementwise div(%s, %n) : tensor<4xf32>
    %1 = prim.index_map %m by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x1xf32>
"""

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import i1, i32, i64

from tilewright.dialects import torch
from tilewright.dialects.element_types import FLOATS
from tilewright.dialects.monoid import Monoid
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.tensor import Emitter, Tensor

Reduce = Callable[[Tensor, Sequence[int]], Tensor]


class Reduction(Decomposition[torch.ReductionOp]):
    """
    Decomposition of a reduction: `reduce(input, dim)`; reduced dimensions may stay with size 1.
    """

    def __init__(self, reduce: Reduce):
        self.reduce = reduce

    def decompose(self, op: torch.ReductionOp, emit: Emitter) -> Tensor:
        return self.reduce(emit(op.input), op.reduced()).reshape(op.result_shape())


_ON_BOOLS: Mapping[Monoid, Monoid] = {
    Monoid.ADD: Monoid.OR,
    Monoid.MUL: Monoid.AND,
    Monoid.MAX: Monoid.OR,
    Monoid.MIN: Monoid.AND,
}
"""Monoid that replaces each monoid on bools."""


def folded(monoid: Monoid) -> Reduce:
    """Return a reduction by `monoid`, which also accepts bools."""

    def reduce(input: Tensor, dims: Sequence[int]) -> Tensor:
        return input.reduce(_ON_BOOLS[monoid] if input.element == i1 else monoid, dims)

    return reduce


def _any(input: Tensor, dims: Sequence[int]) -> Tensor:
    return input.cast(i1).reduce(Monoid.OR, dims)


def _all(input: Tensor, dims: Sequence[int]) -> Tensor:
    return input.cast(i1).reduce(Monoid.AND, dims)


def _count(input: Tensor, dims: Sequence[int]) -> Tensor:
    return input.cast(i64).sum(dims)


def _without_nan(input: Tensor) -> Tensor:
    """Return the input with 0 in the place of NaN; only floats have NaN."""
    return input.is_nan().where(0, input) if input.element in FLOATS else input


def _nansum(input: Tensor, dims: Sequence[int]) -> Tensor:
    return folded(Monoid.ADD)(_without_nan(input), dims)


def _nanmean(input: Tensor, dims: Sequence[int]) -> Tensor:
    is_number = input.is_nan().logical_not().cast(input.element)
    return _without_nan(input).sum(dims) / is_number.sum(dims)


class MinAndMax(Decomposition[torch.AminmaxOp]):
    """Decomposition of `aminmax`: the smallest and the largest element."""

    def decompose(self, op: torch.AminmaxOp, emit: Emitter) -> list[Tensor]:
        input, dims, shape = emit(op.input), op.reduced(), op.reduced_shape()
        return [folded(m)(input, dims).reshape(shape) for m in (Monoid.MIN, Monoid.MAX)]


def _arg_reduced(op: torch.ExtremeOp, emit: Emitter, monoid: Monoid) -> tuple[Tensor, Tensor]:
    """
    Return the extreme and its position. Bools become the integers 0 and 1, because monoids of pairs
    do not join bools.
    """
    input, dims = emit(op.input), op.reduced()
    numbers = input.cast(i32) if input.element == i1 else input
    value, position = numbers.arg_reduce(monoid, dims)
    shape = op.reduced_shape()
    return value.reshape(shape), position.reshape(shape)


class ExtremumDim(Decomposition[torch.ExtremumDimOp]):
    """
    Decomposition of `max` and `min` along a dimension: the extreme, and its position, or the
    extreme alone if nothing uses the position.
    """

    def __init__(self, monoid: Monoid, alone: Monoid):
        self.monoid, self.alone = monoid, alone

    def decompose(self, op: torch.ExtremumDimOp, emit: Emitter) -> Sequence[Tensor]:
        value, position = _arg_reduced(op, emit, self.monoid)
        if not op.indices.uses:
            value = folded(self.alone)(emit(op.input), op.reduced()).reshape(op.reduced_shape())
        return value, position


class ArgExtremum(Decomposition[torch.ArgExtremumOp]):
    """Decomposition of `argmax` and `argmin`: the position of the extreme."""

    def __init__(self, monoid: Monoid):
        self.monoid = monoid

    def decompose(self, op: torch.ArgExtremumOp, emit: Emitter) -> Tensor:
        return _arg_reduced(op, emit, self.monoid)[1]


PATTERNS: Table = {
    torch.SumOp: Reduction(folded(Monoid.ADD)),
    torch.SumDimOp: Reduction(folded(Monoid.ADD)),
    torch.NansumOp: Reduction(_nansum),
    torch.ProdOp: Reduction(folded(Monoid.MUL)),
    torch.ProdDimOp: Reduction(folded(Monoid.MUL)),
    torch.MeanOp: Reduction(Tensor.mean),
    torch.MeanDimOp: Reduction(Tensor.mean),
    torch.NanmeanOp: Reduction(_nanmean),
    torch.AnyOp: Reduction(_any),
    torch.AnyDimOp: Reduction(_any),
    torch.AnyDimsOp: Reduction(_any),
    torch.AllOp: Reduction(_all),
    torch.AllDimOp: Reduction(_all),
    torch.AllDimsOp: Reduction(_all),
    torch.CountNonzeroOp: Reduction(_count),
    torch.CountNonzeroDimsOp: Reduction(_count),
    torch.AmaxOp: Reduction(folded(Monoid.MAX)),
    torch.AminOp: Reduction(folded(Monoid.MIN)),
    torch.MaxOp: Reduction(folded(Monoid.MAX)),
    torch.MinOp: Reduction(folded(Monoid.MIN)),
    torch.AminmaxOp: MinAndMax(),
    torch.MaxDimOp: ExtremumDim(Monoid.ARGMAX, Monoid.MAX),
    torch.MinDimOp: ExtremumDim(Monoid.ARGMIN, Monoid.MIN),
    torch.ArgmaxOp: ArgExtremum(Monoid.ARGMAX),
    torch.ArgminOp: ArgExtremum(Monoid.ARGMIN),
}
