# SPDX-License-Identifier: Apache-2.0
"""
Attention: scores of queries and keys, their softmax, and the values weighted with it.

    %3 = torch.scaled_dot_product_attention %0, %1, %2 is_causal true

becomes, of LxE, SxE and SxEv,

    scores  = sum over E of query[l, e] * key[s, e]        LxS
    scores  = scores * scale                               LxS
    scores  = l - s >= 0 ? scores : -inf                   LxS    the mask is a predicate
    largest = max(max over S of scores, -3.4e38)           L      finite: -inf - -inf is NaN
    weights = exp(scores - largest)                        LxS
    total   = max(sum over S of weights, 1)                L      less than 1 is 0
    result  = (sum over S of weights * value) / total      LxEv

A row with nothing to attend to has no weights, and gives 0. Any other has a largest score, whose
weight is 1, so that its total is at least 1.
"""

from math import inf, sqrt

from xdsl.dialects.builtin import f64, i1

from tilewright.dialects import torch
from tilewright.dialects.types import shape_of
from tilewright.passes.decompose.contraction import contract, transposed
from tilewright.passes.decompose.decomposition import Decomposition, Table
from tilewright.passes.decompose.elementwise import scaled
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import axes_of

_LOWEST = {False: -3.4028234663852886e38, True: -1.7976931348623157e308}
"""The lowest finite number of f32, and of f64."""


def shared_heads(tensor: Tensor, group: int) -> Tensor:
    """Each head, the third last dimension, repeated for `group` heads that share it."""
    if group == 1:
        return tensor
    coordinates, dim = axes_of(tensor.rank), tensor.rank - 3
    coordinates[dim] = coordinates[dim] // group
    shape = (*tensor.shape[:dim], tensor.shape[dim] * group, *tensor.shape[dim + 1 :])
    return tensor.view(coordinates, shape)


class ScaledDotProductAttention(Decomposition[torch.ScaledDotProductAttentionOp]):
    """softmax(scale * query @ key^T, masked) @ value"""

    def decompose(self, op: torch.ScaledDotProductAttentionOp, emit: Emitter) -> Tensor:
        of_key, of_value = op.groups()
        query, key = emit(op.query), shared_heads(emit(op.key), of_key)
        value = shared_heads(emit(op.value), of_value)
        scores = self.masked(op, emit, scaled(contract(query, key), self.scale(op)))
        dims = [scores.rank - 1]
        largest = scores.max(dims).maximum(_LOWEST[emit.type == f64])
        weights = (scores - largest.unsqueeze(dims)).exp()
        total = weights.sum(dims).maximum(1.0)
        return contract(weights, transposed(value)) / total.unsqueeze(dims)

    def scale(self, op: torch.ScaledDotProductAttentionOp) -> float:
        """What scores are multiplied by."""
        if op.scale is not None:
            return op.scale.value.data
        return 1.0 / sqrt(max(shape_of(op.query)[-1], 1))

    def masked(
        self, op: torch.ScaledDotProductAttentionOp, emit: Emitter, scores: Tensor
    ) -> Tensor:
        """-inf where a key is not attended to, or the sum of scores and mask."""
        if op.is_causal.value.data:
            *_, query, key = axes_of(scores.rank)
            return emit.predicate([query - key], scores.shape).where(scores, -inf)
        if op.attn_mask is None:
            return scores
        mask = emit.stored(op.attn_mask)
        if mask.element == i1:
            return mask.where(scores, -inf)
        return scores + mask.cast(emit.type)


PATTERNS: Table = {
    torch.ScaledDotProductAttentionOp: ScaledDotProductAttention(),
}
