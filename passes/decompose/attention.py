# SPDX-License-Identifier: Apache-2.0
"""
Decomposition of attention: scores of queries and keys, their softmax, and the sum of values
weighted by it.

    %3 = torch.scaled_dot_product_attention %0, %1, %2 is_causal true

becomes, for a query of LxE, a key of SxE and a value of SxEv,

    scores  = sum over E of query[l, e] * key[s, e]        LxS
    scores  = scores * scale                               LxS
    scores  = l - s >= 0 ? scores : -inf                   LxS    the mask is a predicate
    largest = max(max over S of scores, -3.4e38)           L      finite: -inf - -inf is NaN
    shifted = scores - largest                             LxS
    total   = max(sum over S of exp(shifted), 1)           L      a sum below 1 is 0
    weights = exp(l - s >= 0 ? shifted : -inf)             LxS    unchanged, but shows the mask
    result  = (sum over S of weights * value) / total      LxEv

A query with no keys to attend to has only weights of 0, and its result is 0. Any other query has a
largest score, whose weight is 1: its total is at least 1.

A mask that is a condition on positions is applied again to the weights. Scores may have been stored
in memory in between, and then nothing else shows which weights are 0. Products of weights and
values carry `fastmath<nnan,ninf>`: 0 times any value is 0, so that steps behind the mask can be
skipped. If there are many queries and keys, the mask is also applied again to the values that
`largest` and `total` join.

If the values have a half type, the weights are rounded to it before they are multiplied, as by
PyTorch's fused kernels (FlashAttention-2, section 3): matrix instructions multiply half types.
"""

from math import inf, prod, sqrt

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import BlockArgument, SSAValue

from tilewright.dialects import prim, torch
from tilewright.dialects.element_types import HALVES, LOWEST
from tilewright.dialects.fastmath import FINITE
from tilewright.dialects.needed_first import needed_first, operands_of
from tilewright.dialects.types import element_of, shape_of
from tilewright.passes.decompose.contraction import contract, transposed
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import scaled
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import Shape, axes_of

_POSITION_OPS = (
    prim.IotaOp,
    prim.PredicateOp,
    prim.ConstantOp,
    prim.ElementwiseOp,
    prim.IndexMapOp,
)
"""Ops that may compute a condition on positions."""

_MANY = 256
"""
Number of queries and of keys from which it pays to apply the mask to the statistics of rows, too.
"""


def shared_heads(tensor: Tensor, group: int) -> Tensor:
    """
    Return `tensor` with each head, along the third last dimension, repeated for the `group` heads
    that share it.
    """
    if group == 1:
        return tensor
    coordinates, dim = axes_of(tensor.rank), tensor.rank - 3
    coordinates[dim] = coordinates[dim] // group
    shape = (*tensor.shape[:dim], tensor.shape[dim] * group, *tensor.shape[dim + 1 :])
    return tensor.view(coordinates, shape)


def masked(scores: Tensor, mask: Tensor) -> Tensor:
    """
    Return `scores` with -inf where a mask of bools is false; a mask of floats is added instead.
    """
    return mask.where(scores, -inf) if mask.element == i1 else scores + mask.cast(scores.element)


def _masked_again(scores: Tensor, positions: Tensor | None) -> Tensor:
    """
    Return `scores`, which are masked already, with the mask `positions` applied again if there is
    one.
    """
    return scores if positions is None else masked(scores, positions)


def _rounded(weights: Tensor, op: torch.ScaledDotProductAttentionOp) -> Tensor:
    """Return the weights, rounded to the type of the values if this is a half type."""
    element = element_of(op.value)
    return weights.cast(element).cast(weights.element) if element in HALVES else weights


def is_position_condition(mask: Tensor) -> bool:
    """
    True if a mask is a condition on positions, and on integer inputs with one element, such as the
    position of a decode step. Applying it again reads no other memory.
    """
    known = set[SSAValue]()
    for each in needed_first(mask.source, known, operands_of):
        known.add(each)
        if not _is_cheap(each):
            return False
    return mask.element == i1


def _is_cheap(value: SSAValue) -> bool:
    """
    True if a value costs next to nothing to compute from its operands, or is an integer input with
    one element.
    """
    if isinstance(value, BlockArgument):
        return isinstance(element_of(value), IntegerType) and prod(shape_of(value)) == 1
    return isinstance(value.owner, _POSITION_OPS)


class ScaledDotProductAttention(Decomposition[torch.ScaledDotProductAttentionOp]):
    """
    Decomposition of `scaled_dot_product_attention`: `softmax(scale * query @ key^T, masked) @
    value`.
    """

    def decompose(self, op: torch.ScaledDotProductAttentionOp, emit: Emitter) -> Tensor:
        of_key, of_value = op.groups()
        query, key = emit(op.query), shared_heads(emit(op.key), of_key)
        value = shared_heads(emit(op.value), of_value)
        scores = scaled(contract(query, key), self.scale(op))
        mask = self.mask(op, emit, scores.shape)
        scores = scores if mask is None else masked(scores, mask)
        dims = [scores.rank - 1]
        positions = mask if mask is not None and is_position_condition(mask) else None
        again = positions if min(scores.shape[-2:]) >= _MANY else None
        largest = _masked_again(scores, again).max(dims).maximum(LOWEST[emit.type])
        shifted = scores - largest.unsqueeze(dims)
        counted = _masked_again(shifted, again).exp()
        total = counted.sum(dims).maximum(1.0)
        weights = counted if again is positions else _masked_again(shifted, positions).exp()
        # steps behind the mask may then be skipped, even if values there are infinite or NaN
        fastmath = () if positions is None else FINITE
        product = contract(_rounded(weights, op), transposed(value), fastmath)
        return product / total.unsqueeze(dims)

    def scale(self, op: torch.ScaledDotProductAttentionOp) -> float:
        """Return the factor of the scores; the default is `1 / sqrt(E)`."""
        if op.scale is not None:
            return op.scale.value.data
        return 1.0 / sqrt(max(shape_of(op.query)[-1], 1))

    def mask(
        self, op: torch.ScaledDotProductAttentionOp, emit: Emitter, shape: Shape
    ) -> Tensor | None:
        """
        Return the mask: bools that are true where a key is attended to, or floats that are added to
        the scores. None means that all keys are.
        """
        if op.is_causal.value.data:
            *_, query, key = axes_of(len(shape))
            return emit.predicate([query - key], shape)
        return None if op.attn_mask is None else emit.stored(op.attn_mask)


PATTERNS: Table = {
    torch.ScaledDotProductAttentionOp: ScaledDotProductAttention(),
}
