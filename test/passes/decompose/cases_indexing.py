# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops whose subscripts are elements of tensors."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T

from .inputs import Cases, Classes, pytorch, rand, tensor


def ids(elements: Any, dtype: Any = None) -> Any:
    """Return subscripts, i64 by default."""
    return pytorch.tensor(elements, dtype=dtype or pytorch.int64)


def drawn(high: int, *shape: int) -> Any:
    """Return random subscripts below `high`."""
    return pytorch.randint(high, shape, generator=_random)


def of(dtype: Any, *shape: int) -> Any:
    """Return random small whole numbers of a dtype; sums of a few are exact in each dtype."""
    return pytorch.randint(0, 9, shape, generator=_random).to(dtype)


_random = pytorch.Generator().manual_seed(1)
I32 = pytorch.int32
DTYPES = [
    getattr(pytorch, name)
    for name in "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split()
]
FLOAT, HALF, BYTE, BOOL = (DTYPES[i] for i in (0, 2, 8, 9))
SOME = [HALF, pytorch.int64, BYTE]
"""A dtype of each kind: rounded, not computed in, and narrow."""
EMPTY = ids([])

READING: Cases = {
    T.EmbeddingOp: [
        (rand(10, 4), drawn(10, 3)),
        (rand(10, 4), drawn(10, 2, 3), -1, True, False),
        (rand(10, 4), drawn(10, 2, 1, 3), 2),
        (rand(10, 4), ids([[9, 0], [0, 9]], I32)),
        (rand(10, 1), ids(3)),
        (rand(10, 0), drawn(10, 2)),
        (rand(0, 4), EMPTY),
        *((of(dtype, 5, 3), drawn(5, 4)) for dtype in DTYPES),
    ],
    T.GatherOp: [
        (rand(4, 8), 1, drawn(8, 4, 8)),
        (rand(4, 8), 0, drawn(4, 2, 3)),
        (rand(4, 8), -1, drawn(8, 3, 12), {"sparse_grad": True}),
        (rand(2, 3, 4), 1, drawn(3, 2, 5, 1)),
        (rand(2, 3, 4), -3, drawn(2, 1, 1, 1).to(I32)),
        (rand(), 0, ids(0)),
        (rand(), -1, ids([0, 0])),
        (rand(4), 0, ids(2)),
        (rand(4, 8), 0, EMPTY),
        (rand(4, 8), 1, pytorch.zeros((5, 0), dtype=pytorch.int64)),
        *((of(dtype, 5, 3), 0, drawn(5, 4, 2)) for dtype in SOME),
    ],
    T.IndexSelectOp: [
        (rand(4, 8), 0, ids([3, 0, 0])),
        (rand(4, 8), -1, ids([7], I32)),
        (rand(2, 3, 4), 1, drawn(3, 5)),
        (rand(2, 3, 4), 1, ids(2)),
        (rand(4, 8), 1, EMPTY),
        (rand(), 0, ids(0)),
        (rand(), 0, ids([0])),
        (rand(4), 0, ids(1)),
        *((of(dtype, 5, 3), 0, drawn(5, 2)) for dtype in SOME),
    ],
    T.TakeOp: [
        (rand(4, 8), ids([[0, 31], [-1, -32]])),
        (rand(4, 8), ids(5)),
        (rand(), ids([0, -1])),
        (rand(4, 0), EMPTY),
        (of(pytorch.uint8, 3, 3), drawn(9, 2)),
    ],
    T.TakeAlongDimOp: [
        (rand(4, 8), drawn(8, 4, 3), 1),
        (rand(1, 8), drawn(8, 4, 3), -1),
        (rand(4, 8), drawn(4, 2, 1), 0),
        (rand(4, 8), ids([[-1], [9], [-9], [17]]), 1),
        (rand(4, 8), drawn(32, 3, 2)),
        (rand(), ids(0)),
        (rand(4, 8), EMPTY),
        (rand(2, 0), pytorch.zeros((2, 0), dtype=pytorch.int64), 1),
        (of(pytorch.bool, 3, 3), drawn(3, 3, 1), 0),
    ],
    **{
        op: [
            (rand(4, 8), [ids([3, 0, -1, -4])]),
            (rand(4, 8), [None, ids([7, -8], I32)]),
            (rand(4, 8), [drawn(4, 2, 3), drawn(8, 2, 3)]),
            (rand(4, 8), [drawn(4, 2, 1), drawn(8, 3)]),
            (rand(2, 3, 4, 5), [None, drawn(3, 2), drawn(4, 2)]),
            (rand(2, 3, 4, 5), [drawn(2, 2), None, drawn(4, 2)]),
            (rand(2, 3, 4, 5), [None, drawn(3, 6, 1), None, drawn(5, 7)]),
            (rand(2, 3, 4, 5), [ids(1), None, ids([-1, 0, 2]), ids([[4], [0]], I32)]),
            (rand(4, 8), [ids(1)]),
            (rand(4, 8), [None, ids(-1)]),
            (rand(4, 8), [ids(1), ids(-1)]),
            (rand(4, 8), [EMPTY]),
            (rand(4, 0), [ids([1, 2])]),
            (rand(3, 1), [None, ids([0, 0, -1])]),
            *((of(dtype, 5, 3), [drawn(5, 2)]) for dtype in SOME),
        ]
        for op in (T.IndexOp, T.UnsafeIndexOp)
    },
    T.OneHotOp: [(drawn(5, 2, 3), 5), (ids(0), 1), (EMPTY, 4), (ids([0, 2]), 7)],
}

_SRC = [
    (rand(4, 8), 1, drawn(8, 4, 8), rand(4, 8)),
    (rand(4, 8), 0, drawn(4, 2, 3), rand(2, 3)),
    (rand(4, 8), -1, drawn(8, 3, 12), rand(5, 13)),
    (rand(2, 3, 4), 1, drawn(3, 2, 5, 1), rand(2, 5, 4)),
    (rand(2, 3, 4), -3, ids([[[1]]], I32), rand(2, 3, 4)),
    (rand(4, 8), 1, ids([[0, 0, 0], [1, 0, 1], [7, 7, 6]]), rand(3, 3)),
    (rand(), 0, ids(0), rand()),
    (rand(), 0, ids([0]), rand(1)),
    (rand(4), 0, ids([2, 2]), tensor([nan, inf])),
    (rand(4, 8), 0, EMPTY, rand(2)),
    (tensor([nan, inf, 1.0]), 0, ids([0, 1, 1]), tensor([1.0, -inf, 2.0])),
]
_SLICES = [
    (rand(4, 8), 0, ids([3, 0]), rand(2, 8)),
    (rand(4, 8), -1, ids([7, 0, 7]), rand(4, 3)),
    (rand(2, 3, 4), 1, ids(2), rand(2, 1, 4)),
    (rand(2, 3, 4), 0, ids([1, 1, 0, 1]), rand(4, 3, 4)),
    (rand(4, 8), 0, EMPTY, rand(0, 8)),
    (rand(4), 0, ids([1, 1]), tensor([nan, 2.0])),
    (rand(), 0, ids(0), rand()),
]
_FILLED = [
    (4, 8, 0, ids([3, 0])),
    (4, 8, -1, ids([-1, 0, 0])),
    (4, 8, 1, ids(-8)),
    (4, 8, 0, EMPTY),
]


def joined(dtype: Any) -> tuple[Any, ...]:
    """Return a tensor, dim, subscripts with duplicates, and updates."""
    return of(dtype, 5, 3), 0, ids([[0, 1, 2], [0, 1, 1], [4, 1, 2]]), of(dtype, 4, 3)


def sliced(dtype: Any) -> tuple[Any, ...]:
    """Return a tensor, dim, a vector of subscripts with duplicates, and slices."""
    return of(dtype, 5, 3), 0, ids([0, 4, 0]), of(dtype, 3, 3)


WRITING: Cases = {
    T.ScatterOp: [*_SRC, *(joined(dtype) for dtype in DTYPES)],
    T.ScatterValueOp: [
        *((*case[:3], 2.5) for case in _SRC),
        (rand(4, 8), 0, drawn(4, 4, 8), nan),
        *((*joined(dtype)[:3], 2.7) for dtype in DTYPES),
        (*joined(BYTE)[:3], -1),
    ],
    T.ScatterAddOp: [*_SRC, *(joined(dtype) for dtype in DTYPES)],
    T.ScatterJoinOp: [
        (*case, {"reduce": reduce})
        for reduce, cases in {"add": _SRC[4:8], "multiply": _SRC[8:]}.items()
        for case in (*cases, *(joined(dtype) for dtype in (*SOME, BOOL)))
    ],
    T.ScatterValueJoinOp: [
        (*case[:3], 2.5, {"reduce": reduce})
        for reduce in ("add", "multiply")
        for case in (*_SRC[1:3], *(joined(dtype) for dtype in (*SOME, BOOL)))
    ],
    T.ScatterReduceOp: [
        *((*case, "sum") for case in _SRC),
        *((*case, "mean", {"include_self": False}) for case in _SRC),
    ]
    + [
        (*joined(dtype), reduce, {"include_self": include_self})
        for reduce in ("sum", "prod", "amax", "amin")
        for include_self in (True, False)
        for dtype in (FLOAT, BYTE, BOOL)
    ]
    + [
        (*joined(dtype), "mean", {"include_self": include_self})
        for include_self in (True, False)
        for dtype in SOME
    ]
    + [
        (tensor([nan, 2.0, -inf]), 0, ids([0, 1, 2, 2]), tensor([1.0, nan, -inf, 3.0]), reduce)
        for reduce in ("amax", "amin")
    ]
    + [(-joined(pytorch.int64)[0], *joined(pytorch.int64)[1:], "mean")],
    T.IndexCopyOp: [*_SLICES, (rand(4), 0, ids(2), rand()), *(sliced(d) for d in DTYPES)],
    T.IndexAddOp: [
        *_SLICES,
        *((*sliced(dtype), {"alpha": 2}) for dtype in DTYPES),
        *((*sliced(dtype), {"alpha": alpha}) for dtype in SOME for alpha in (0, 2.5)),
        (rand(4, 8), 0, ids([3, 0], I32), rand(2, 8)),
    ],
    T.IndexReduceOp: [
        *((*case, "prod") for case in _SLICES),
        *((*case, "mean", {"include_self": False}) for case in _SLICES),
    ]
    + [
        (*sliced(dtype), reduce, {"include_self": include_self})
        for reduce in ("prod", "mean", "amax", "amin")
        for include_self in (True, False)
        for dtype in (FLOAT, BYTE)
    ],
    T.IndexFillScalarOp: [
        *((rand(*shape), dim, index, 2.5) for *shape, dim, index in _FILLED),
        (rand(), 0, ids(0), 3),
        *((*sliced(dtype)[:3], 2.7) for dtype in DTYPES),
    ],
    T.IndexFillOp: [
        *((rand(*shape), dim, index, tensor(2.5)) for *shape, dim, index in _FILLED),
        (rand(), 0, ids(0), tensor(3)),
        *((*sliced(dtype)[:3], tensor(2.7)) for dtype in SOME),
    ],
    T.IndexPutOp: [
        (*case, {"accumulate": accumulate})
        for accumulate in (False, True)
        for case in (
            (rand(4, 8), [ids([3, 0, -1])], rand(3, 8)),
            (rand(4, 8), [None, ids([7, -8], I32)], rand(4, 2)),
            (rand(4, 8), [drawn(4, 2, 3), drawn(8, 2, 3)], rand(2, 3)),
            (rand(4, 8), [drawn(4, 2, 1), drawn(8, 3)], rand()),
            (rand(2, 3, 4, 5), [None, drawn(3, 2), drawn(4, 2)], rand(2, 2, 5)),
            (rand(2, 3, 4, 5), [drawn(2, 2), None, drawn(4, 2)], rand(3, 5)),
            (rand(2, 3, 4, 5), [None, drawn(3, 6, 1), None, drawn(5, 7)], rand(2, 1)),
            (rand(4, 8), [ids(1)], rand(8)),
            (rand(4, 8), [ids(1), ids(-1)], rand()),
            (rand(4, 8), [EMPTY], rand()),
            *((of(dtype, 5, 3), [ids([0, 4, 0])], of(dtype, 3, 1)) for dtype in (*SOME, BOOL)),
        )
    ],
    T.UnsafeIndexPutOp: [
        (rand(4, 8), [ids([3, 0, -1])], rand(3, 8)),
        (rand(4, 8), [None, ids([7, -8, 7], I32)], rand(4, 3), True),
    ],
    T.PutOp: [
        (*case, accumulate)
        for accumulate in (False, True)
        for case in (
            (rand(4, 8), ids([[0, 31], [-1, -32]]), rand(4)),
            (rand(), ids([0]), rand(1)),
            (rand(4, 8), EMPTY, rand(0)),
            *((of(dtype, 5, 3), ids([0, 14, 0]), of(dtype, 3)) for dtype in (*SOME, BOOL)),
        )
    ],
}

CASES: Cases = {**READING, **WRITING}

INEXACT: Classes = (
    T.IndexPutLikeOp,
    T.PutOp,
    T.ScatterAddOp,
    T.ScatterJoinOp,
    T.ScatterValueJoinOp,
    T.ScatterReduceOp,
    T.IndexAddOp,
    T.IndexReduceOp,
)
