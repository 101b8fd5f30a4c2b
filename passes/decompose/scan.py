# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of running sums, products and extremes.

    %1 = torch.cumsum %0 dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>

becomes

    %1 = prim.scan add(%0) dim 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
"""

from math import inf

from xdsl.dialects.builtin import i1, i32, i64
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import prim, torch
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.types import shape_of
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.overlay import masked_view
from tilewright.passes.decompose.statistics import logsumexp
from tilewright.passes.decompose.tensor import Emitter, Tensor


def _dim_of(op: torch.ScanningOp) -> int | None:
    """Return the dimension of a scan, or None for a scalar."""
    rank = len(shape_of(op.input))
    return torch.wrap_dim(op.dim.value.data, rank) if rank else None


class Cumulative(Decomposition[torch.CumulativeOp]):
    """
    Decomposition of `cumsum` and `cumprod`: the sum or the product of each element and all elements
    before it.
    """

    def __init__(self, monoid: Monoid):
        self.monoid = monoid

    def decompose(self, op: torch.CumulativeOp, emit: Emitter) -> Tensor:
        input, dim = emit(op.input), _dim_of(op)
        return input if dim is None else input.scan(self.monoid, dim)


class RunningExtremum(Decomposition[torch.RunningExtremumOp]):
    """
    Decomposition of `cummax` and `cummin`: the extreme of all elements up to each one, and the last
    index at which it occurs. A monoid of pairs takes the lowest index among equal values, so that
    it is given negated indices.
    """

    def __init__(self, monoid: Monoid):
        self.monoid = monoid

    def decompose(self, op: torch.RunningExtremumOp, emit: Emitter) -> tuple[Tensor, Tensor]:
        input, dim = emit(op.input), _dim_of(op)
        if dim is None:
            return input, emit.constant(0, (), i64)
        numbers = input.cast(i32) if input.element == i1 else input
        from_last = emit.positions(AffineExpr.dimension(dim) * -1, input.shape)
        pairs = [numbers.value, from_last.value]
        scan = emit.add(prim.ScanOp(MonoidAttr(self.monoid), pairs, dim))
        values, negated = map(emit.stored, scan.results)
        return values, -negated


class Logcumsumexp(Decomposition[torch.LogcumsumexpOp]):
    """
    Decomposition of `logcumsumexp`: for each element, the log-sum-exp of all elements up to it. A
    square holds these elements in one row for each result, since no monoid joins sums that are
    shifted by different maxima.
    """

    def decompose(self, op: torch.LogcumsumexpOp, emit: Emitter) -> Tensor:
        input, dim = emit(op.input), _dim_of(op)
        if dim is None:
            return input
        # Dimension `dim` of the square is the element's own; the last dimension goes over all
        # elements.
        axes = [AffineExpr.dimension(axis) for axis in range(input.rank + 1)]
        own, other = axes[dim], axes[-1]
        axes[dim] = other
        shape = (*input.shape, input.shape[dim])
        square = masked_view(input, axes[:-1], [own - other], shape, -inf)
        return logsumexp(square, [input.rank])


PATTERNS: Table = {
    torch.CumsumOp: Cumulative(Monoid.ADD),
    torch.CumprodOp: Cumulative(Monoid.MUL),
    torch.LogcumsumexpOp: Logcumsumexp(),
    torch.CummaxOp: RunningExtremum(Monoid.ARGMAX),
    torch.CumminOp: RunningExtremum(Monoid.ARGMIN),
}
