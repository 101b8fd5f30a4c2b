# SPDX-License-Identifier: Apache-2.0
"""
Attention: scores of queries and keys, their softmax, and the values weighted with it.

    %3 = torch.scaled_dot_product_attention %0, %1, %2 is_causal true

becomes, of LxE, SxE and SxEv,

    scores  = sum over E of query[l, e] * key[s, e]        LxS
    scores  = scores * scale                               LxS
    scores  = l - s >= 0 ? scores : -inf                   LxS    the mask is a predicate
    largest = max(max over S of scores, -3.4e38)           L      finite: -inf - -inf is NaN
    shifted = scores - largest                             LxS
    total   = max(sum over S of exp(shifted), 1)           L      less than 1 is 0
    weights = exp(l - s >= 0 ? shifted : -inf)             LxS    no other, but it shows
    result  = (sum over S of weights * value) / total      LxEv

A row with nothing to attend to has no weights, and gives 0. Any other has a largest score, whose
weight is 1, so that its total is at least 1.

A mask that is a condition on positions is said again of the weights: scores may have been in memory
meanwhile, and then nobody could tell which weights are 0. Their products with values carry
`fastmath<nnan,ninf>`, by which 0 times a value is 0, so that steps behind the mask can be left out.
Of many rows it is said again of what `largest` and `total` join, too.
"""

from math import inf, prod, sqrt

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import IntegerType, f64, i1
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import BlockArgument, SSAValue

from tilewright.dialects import prim, torch
from tilewright.dialects.needed_first import needed_first, operands_of
from tilewright.dialects.types import element_of, shape_of
from tilewright.passes.decompose.contraction import contract, transposed
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import scaled
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import Shape, axes_of

_LOWEST = {False: -3.4028234663852886e38, True: -1.7976931348623157e308}
"""The lowest finite number of f32, and of f64."""

_OF_POSITIONS = (
    prim.IotaOp,
    prim.PredicateOp,
    prim.ConstantOp,
    prim.ElementwiseOp,
    prim.IndexMapOp,
)
"""What a condition on positions is computed with."""

_MANY = 256
"""Queries and keys from which on it pays to ask the mask in the statistics of rows, too."""

_FINITE = FastMathFlagsAttr([FastMathFlag.NO_NANS, FastMathFlag.NO_INFS])
"""Of weights and values: what is behind a mask may be left out, be it infinite or NaN."""


def shared_heads(tensor: Tensor, group: int) -> Tensor:
    """Return each head, the third last dimension, repeated for `group` heads that share it."""
    if group == 1:
        return tensor
    coordinates, dim = axes_of(tensor.rank), tensor.rank - 3
    coordinates[dim] = coordinates[dim] // group
    shape = (*tensor.shape[:dim], tensor.shape[dim] * group, *tensor.shape[dim + 1 :])
    return tensor.view(coordinates, shape)


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """-inf where a key is not attended to; or the sum, of a mask of floats."""
    return mask.where(scores, -inf) if mask.element == i1 else scores + mask.cast(scores.element)


def _hidden(scores: Tensor, positions: Tensor | None) -> Tensor:
    """Scores that are masked already, with a mask of positions said again."""
    return scores if positions is None else masked(scores, positions)


def is_of_positions(mask: Tensor) -> bool:
    """
    True if a mask is a condition on positions, and on inputs of one integer, as the position of a
    decode step is: it costs no memory to ask again.
    """
    known = set[SSAValue]()
    for each in needed_first(mask.source, known, operands_of):
        known.add(each)
        if not _is_of_positions(each):
            return False
    return mask.element == i1


def _is_of_positions(value: SSAValue) -> bool:
    """True if a value costs next to nothing, if what it is computed of does."""
    if isinstance(value, BlockArgument):
        return isinstance(element_of(value), IntegerType) and prod(shape_of(value)) == 1
    return isinstance(value.owner, _OF_POSITIONS)


class ScaledDotProductAttention(Decomposition[torch.ScaledDotProductAttentionOp]):
    """softmax(scale * query @ key^T, masked) @ value"""

    def decompose(self, op: torch.ScaledDotProductAttentionOp, emit: Emitter) -> Tensor:
        of_key, of_value = op.groups()
        query, key = emit(op.query), shared_heads(emit(op.key), of_key)
        value = shared_heads(emit(op.value), of_value)
        scores = scaled(contract(query, key), self.scale(op))
        mask = self.mask(op, emit, scores.shape)
        scores = scores if mask is None else masked(scores, mask)
        dims = [scores.rank - 1]
        positions = mask if mask is not None and is_of_positions(mask) else None
        again = positions if min(scores.shape[-2:]) >= _MANY else None
        largest = _hidden(scores, again).max(dims).maximum(_LOWEST[emit.type == f64])
        shifted = scores - largest.unsqueeze(dims)
        counted = _hidden(shifted, again).exp()
        total = counted.sum(dims).maximum(1.0)
        weights = counted if again is positions else _hidden(shifted, positions).exp()
        fastmath = None if positions is None else _FINITE
        return contract(weights, transposed(value), fastmath) / total.unsqueeze(dims)

    def scale(self, op: torch.ScaledDotProductAttentionOp) -> float:
        """What scores are multiplied by."""
        if op.scale is not None:
            return op.scale.value.data
        return 1.0 / sqrt(max(shape_of(op.query)[-1], 1))

    def mask(
        self, op: torch.ScaledDotProductAttentionOp, emit: Emitter, shape: Shape
    ) -> Tensor | None:
        """Whether a key is attended to, or what is added to its score; None: all are."""
        if op.is_causal.value.data:
            *_, query, key = axes_of(len(shape))
            return emit.predicate([query - key], shape)
        return None if op.attn_mask is None else emit.stored(op.attn_mask)


PATTERNS: Table = {
    torch.ScaledDotProductAttentionOp: ScaledDotProductAttention(),
}
