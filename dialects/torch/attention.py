# SPDX-License-Identifier: Apache-2.0
"""Torch ops for attention."""

from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import FLOATS
from tilewright.dialects.torch.op import (
    TensorOp,
    boolean,
    opt_real,
    opt_tensor,
    real,
    tensor,
    torch_op,
)
from tilewright.dialects.torch.shapes import broadcast, check_expands, shown
from tilewright.dialects.types import element_of, shape_of


@torch_op("scaled_dot_product_attention")
class ScaledDotProductAttentionOp(TensorOp):
    """
    softmax(scale * query @ key^T, masked) @ value; a row whose keys are all masked is 0.

    `attn_mask` is added to the scores; a bool mask keeps a key where it is true. With `is_causal`,
    query i attends to the keys up to i. With `enable_gqa`, several heads of the query share one
    head of key and value.

        %3 = torch.scaled_dot_product_attention %0, %1, %2 is_causal true
            : (tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x12xf32>)
            -> tensor<2x4x8x12xf32>
    """

    query = tensor()
    key = tensor()
    value = tensor()
    attn_mask = opt_tensor()
    dropout_p = real(0.0)
    is_causal = boolean(False)
    scale = opt_real()
    enable_gqa = boolean(False)

    def groups(self) -> tuple[int, int]:
        """
        Return how many heads of the query share one head of the key, and one head of the value.
        """
        if not self.enable_gqa.value.data:
            return 1, 1
        shapes = [shape_of(v) for v in (self.query, self.key, self.value)]
        if any(len(shape) < 3 for shape in shapes):
            raise VerifyException("enable_gqa needs a dimension of heads, the third last")
        heads, *shared = (shape[-3] for shape in shapes)
        if any(not count or heads % count for count in shared):
            raise VerifyException(f"{heads} heads cannot share {shared[0]} and {shared[1]} evenly")
        return heads // shared[0], heads // shared[1]

    def score_shape(self) -> tuple[int, ...]:
        """Return the shape of the scores: the broadcast batch, then queries, then keys."""
        query, key, value = (shape_of(v) for v in (self.query, self.key, self.value))
        if min(map(len, (query, key, value))) < 2:
            raise VerifyException("query, key and value have at least two dimensions")
        if query[-1] != key[-1] or key[-2] != value[-2]:
            raise VerifyException(
                f"query {shown(query)}, key {shown(key)} and value {shown(value)} do not fit: "
                "query and key need equal last sizes, key and value equal second last sizes"
            )
        batches = [
            (*shape[:-3], shape[-3] * group) if group > 1 else shape[:-2]
            for shape, group in zip((query, key, value), (1, *self.groups()), strict=True)
        ]
        return (*broadcast(*batches), query[-2], key[-2])

    def result_shape(self) -> tuple[int, ...]:
        scores = self.score_shape()
        if self.dropout_p.value.data:
            raise VerifyException("dropout_p is 0 in inference")
        if self.attn_mask is not None:
            if self.is_causal.value.data:
                raise VerifyException(
                    "attn_mask and is_causal exclude each other: combine both in attn_mask"
                )
            check_expands(shape_of(self.attn_mask), scores, "attn_mask")
        return (*scores[:-1], shape_of(self.value)[-1])

    def result_element(self) -> Attribute:
        element, *others = (element_of(v) for v in (self.query, self.key, self.value))
        if element not in FLOATS or {*others} != {element}:
            raise VerifyException("query, key and value have one float dtype: cast them")
        if self.attn_mask is not None and element_of(self.attn_mask) not in (i1, f32, element):
            raise VerifyException(
                f"attn_mask holds bool, float32 or {element}, not {element_of(self.attn_mask)}"
            )
        return element
