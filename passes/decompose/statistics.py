# SPDX-License-Identifier: Apache-2.0
"""
Decompositions of variances, norms and log-sum-exp.

    %1 = torch.var.correction %0 dim [1] : (tensor<4x8xf32>) -> tensor<4xf32>

becomes, with the mean %m of each row,

    %b = prim.index_map %m by affine_map<(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
    %d = prim.elementwise sub(%0, %b) : tensor<4x8xf32>
    %q = prim.elementwise mul(%d, %d) : tensor<4x8xf32>
    %s = prim.reduce add(%q) dims [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    %n = prim.constant 7.000000e+00 : f32 -> tensor<4xf32>
    %1 = prim.elementwise div(%s, %n) : tensor<4xf32>
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf, prod

from tilewright.dialects import torch
from tilewright.dialects.element_types import Number
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.tensor import Emitter, Tensor

# --- Variances -------------------------------------------------------------------------------


def variance_and_mean(
    input: Tensor, dims: Sequence[int], correction: Number
) -> tuple[Tensor, Tensor]:
    """
    Return the variance and the mean. The variance takes a second pass over the centred input,
    because `mean(input^2) - mean^2` would cancel. It is inf or NaN if there are at most
    `correction` elements, because the divisor is 0.
    """
    mean = input.mean(dims)
    centred = input - mean.unsqueeze(dims)
    count = prod(input.shape[dim] for dim in dims)
    squares = (centred * centred).sum(dims)
    return squares / float(max(count - correction, 0)), mean


def _variance_and_mean_of(
    op: torch.VarianceOp | torch.VarianceMeanOp, emit: Emitter
) -> tuple[Tensor, Tensor]:
    correction = 1 if op.correction is None else emit(op.correction)
    variance, mean = variance_and_mean(emit(op.input), op.reduced(), correction)
    shape = op.reduced_shape()
    return variance.reshape(shape), mean.reshape(shape)


class Variance(Decomposition[torch.VarianceOp]):
    """
    Decomposition of `var`: the sum of the squared distances from the mean, divided by the number of
    elements minus `correction` (1 by default).
    """

    def decompose(self, op: torch.VarianceOp, emit: Emitter) -> Tensor:
        return _variance_and_mean_of(op, emit)[0]


class Deviation(Decomposition[torch.VarianceOp]):
    """Decomposition of `std`: the square root of the variance."""

    def decompose(self, op: torch.VarianceOp, emit: Emitter) -> Tensor:
        return _variance_and_mean_of(op, emit)[0].sqrt()


class VarianceMean(Decomposition[torch.VarianceMeanOp]):
    """Decomposition of `var_mean`: the variance, and the mean."""

    def decompose(self, op: torch.VarianceMeanOp, emit: Emitter) -> tuple[Tensor, Tensor]:
        return _variance_and_mean_of(op, emit)


class DeviationMean(Decomposition[torch.VarianceMeanOp]):
    """Decomposition of `std_mean`: the square root of the variance, and the mean."""

    def decompose(self, op: torch.VarianceMeanOp, emit: Emitter) -> tuple[Tensor, Tensor]:
        variance, mean = _variance_and_mean_of(op, emit)
        return variance.sqrt(), mean


# --- Norms -----------------------------------------------------------------------------------


def _count(input: Tensor, dims: Sequence[int]) -> Tensor:
    return input.differs(0).cast(input.element).sum(dims)


def _taxicab(input: Tensor, dims: Sequence[int]) -> Tensor:
    return input.abs().sum(dims)


def _euclidean(input: Tensor, dims: Sequence[int]) -> Tensor:
    return (input * input).sum(dims).sqrt()


def _largest(input: Tensor, dims: Sequence[int]) -> Tensor:
    return input.abs().max(dims)


def _smallest(input: Tensor, dims: Sequence[int]) -> Tensor:
    return input.abs().reduce(Monoid.MIN, dims)


_NORMS: Mapping[Number, Callable[[Tensor, Sequence[int]], Tensor]] = {
    0: _count,
    1: _taxicab,
    2: _euclidean,
    inf: _largest,
    -inf: _smallest,
}
"""Norms whose order needs no power; the order may be an integer or a float."""


class VectorNorm(Decomposition[torch.VectorNormOp]):
    """
    Decomposition of `linalg_vector_norm`: the root of the sum of powers of absolute values. The
    norm of one element is its absolute value.
    """

    def decompose(self, op: torch.VectorNormOp, emit: Emitter) -> Tensor:
        input, ord, dims = emit(op.input), emit(op.ord), op.reduced()
        return self._norm(input, ord, dims).reshape(op.result_shape())

    def _norm(self, input: Tensor, ord: Number, dims: Sequence[int]) -> Tensor:
        if ord and prod(input.shape[dim] for dim in dims) == 1:
            return _taxicab(input, dims)
        if ord in _NORMS:
            return _NORMS[ord](input, dims)
        powers = elementwise(ScalarFunction.POW, input.abs(), ord)
        return elementwise(ScalarFunction.POW, powers.sum(dims), 1 / ord)


class Logsumexp(Decomposition[torch.LogsumexpOp]):
    """
    Decomposition of `logsumexp`: shifted by the maximum so that exp cannot overflow, but not by
    infinity, because inf - inf is NaN.
    """

    def decompose(self, op: torch.LogsumexpOp, emit: Emitter) -> Tensor:
        input, dims = emit(op.input), op.reduced()
        return logsumexp(input, dims).reshape(op.result_shape())


def logsumexp(input: Tensor, dims: Sequence[int]) -> Tensor:
    """Return `log(sum(exp(input)))` along `dims`."""
    largest = input.max(dims)
    shift = largest.abs().equals(inf).where(0.0, largest)
    return (input - shift.unsqueeze(dims)).exp().sum(dims).log() + shift


PATTERNS: Table = {
    torch.VarOp: Variance(),
    torch.StdOp: Deviation(),
    torch.VarMeanOp: VarianceMean(),
    torch.StdMeanOp: DeviationMean(),
    torch.VectorNormOp: VectorNorm(),
    torch.LogsumexpOp: Logsumexp(),
}
