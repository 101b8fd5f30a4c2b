# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of attention."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T

from .inputs import Cases, Classes, pytorch, rand, tensor

CAUSAL = {"is_causal": True}


def attention(
    batch: tuple[int, ...], queries: int, keys: int, size: int = 4, value: int | None = None
) -> tuple[Any, Any, Any]:
    """Return a query, a key and a value."""
    of_value = rand(*batch, keys, size if value is None else value)
    return rand(*batch, queries, size), rand(*batch, keys, size), of_value


_KEPT = tensor([[1, 0, 1], [0, 0, 0], [1, 1, 1], [0, 1, 0]]) > 0
_ADDED = tensor([[0, -inf, 1], [-inf] * 3, [0.5, 2, -3], [-1e9, -1e9, 0]])

CASES: Cases = {
    T.ScaledDotProductAttentionOp: [
        attention((2, 2), 3, 5),
        attention((2,), 3, 5),
        attention((), 3, 5),
        attention((1, 2, 2), 3, 5),
        attention((2, 2), 3, 5, 4, 7),
        attention((2, 1), 1, 1, 1),
        attention((0, 2), 3, 5),
        attention((2, 2), 0, 5),
        attention((2, 2), 3, 0),
        # Without elements all scores are 0. With four dimensions PyTorch's fast path may give NaN.
        attention((2,), 3, 5, 0, 4),
        # Batches are broadcast.
        (rand(2, 1, 3, 4), rand(1, 5, 3, 4), rand(3, 6)),
        *(
            (*attention(batch, queries, keys), CAUSAL)
            for batch in ((2, 2), (2,), ())
            for queries, keys in ((4, 4), (5, 3), (3, 5))
        ),
        (*attention((2, 2), 3, 5), {"scale": 0.3}),
        (*attention((2, 2), 3, 5), {"scale": -2.0}),
        # With four dimensions PyTorch's fast path scales the -inf of the mask, too.
        (*attention((2,), 3, 5), {"scale": -2.0, "is_causal": True}),
        (*attention((2, 2), 3, 5), {"scale": 0.0}),
        # A row with all keys masked gives zeros.
        *(
            (*attention(batch, 4, 3), mask)
            for batch in ((2, 2), (2,))
            for mask in (_KEPT, _ADDED, _KEPT[:, :1], _ADDED[:1], _KEPT.expand(2, 4, 3))
        ),
        (*attention((2, 2), 4, 3), rand(2, 1, 4, 3) > 0),
        (*attention((2, 2), 4, 3), rand(2, 1, 1, 3), {"scale": 0.5}),
        (tensor([[[inf, inf]]]), tensor([[[-inf, -1.0]] * 3]), rand(1, 3, 2)),
        (tensor([[[1e20, 1e20]]]), tensor([[[1e20, 1.0], [-1e20, 1.0]]]), rand(1, 2, 2)),
        (tensor([[[nan, 1.0], [1.0, 1.0]]]), rand(1, 3, 2), rand(1, 3, 2)),
        # Masked elements have the weight 0, and 0 * NaN is NaN.
        (*attention((1,), 2, 2, 1)[:2], tensor([[[1.0], [nan]]]), CAUSAL),
        (rand(2, 4, 3, 4), rand(2, 2, 5, 4), rand(2, 2, 5, 4), {"enable_gqa": True}),
        (rand(2, 6, 3, 4), rand(2, 3, 5, 4), rand(2, 1, 5, 2), {"enable_gqa": True}),
        (rand(4, 3, 4), rand(2, 5, 4), rand(2, 5, 4), {"enable_gqa": True, "is_causal": True}),
        (rand(2, 2, 3, 4), rand(2, 2, 5, 4), rand(2, 2, 5, 4), {"enable_gqa": True}),
        *(
            (*(t.to(dtype) for t in attention((2, 2), 4, 3)), *mask)
            for dtype in (pytorch.float16, pytorch.bfloat16, pytorch.float64)
            for mask in ((), (_KEPT,), (_ADDED.to(dtype),), (CAUSAL,))
        ),
        (*(t.half() for t in attention((2,), 4, 3)), _ADDED),
    ],
}

INEXACT: Classes = tuple(CASES)
