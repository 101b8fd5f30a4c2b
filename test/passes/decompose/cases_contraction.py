# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that multiply matrices and vectors."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T

from .inputs import Cases, Classes, pytorch, rand, tensor

HALVES = (pytorch.float16, pytorch.bfloat16)
DTYPES = (
    *HALVES,
    pytorch.float64,
    pytorch.int64,
    pytorch.int32,
    pytorch.int16,
    pytorch.int8,
    pytorch.uint8,
)
"""Dtypes in addition to float32: all but bool, which has no products."""


def of(dtype: Any, *shapes: tuple[int, ...]) -> list[Any]:
    """Return random tensors of a dtype; integers are so large that narrow ones wrap."""
    scale = 1.0 if dtype.is_floating_point else 40.0
    return [rand(*shape, scale=scale).to(dtype) for shape in shapes]


CASES: Cases = {
    T.MatmulOp: [
        (rand(*a), rand(*b))
        for a, b in [
            ((5,), (5,)),
            ((5,), (5, 3)),
            ((4, 5), (5,)),
            ((4, 5), (5, 3)),
            ((1, 1), (1, 1)),
            ((2, 4, 5), (5,)),
            ((5,), (2, 5, 3)),
            ((2, 4, 5), (5, 3)),
            ((4, 5), (2, 5, 3)),
            ((2, 1, 4, 5), (3, 5, 6)),
            ((1, 4, 5), (7, 5, 1)),
            ((0, 5), (5, 3)),
            ((4, 0), (0, 3)),
            ((2, 3, 1, 5), (2, 3, 5, 1)),
            ((33, 65), (65, 17)),
        ]
    ]
    + [(*of(dtype, (4, 5), (5, 3)),) for dtype in DTYPES]
    # The sum of a half product is rounded once.
    + [(*of(dtype, (4, 200), (200, 3)),) for dtype in HALVES],
    T.MmOp: [
        (rand(4, 5), rand(5, 3)),
        (rand(1, 5), rand(5, 1)),
        (rand(4, 1), rand(1, 3)),
        *((*of(dtype, (4, 5), (5, 3)),) for dtype in DTYPES),
    ],
    T.BmmOp: [
        (rand(2, 4, 5), rand(2, 5, 3)),
        (rand(1, 1, 5), rand(1, 5, 1)),
        (rand(0, 4, 5), rand(0, 5, 3)),
        *((*of(dtype, (2, 4, 5), (2, 5, 3)),) for dtype in DTYPES),
    ],
    T.MvOp: [
        (rand(4, 5), rand(5)),
        (rand(1, 1), rand(1)),
        (rand(4, 0), rand(0)),
        (rand(0, 4), rand(4)),
        *((*of(dtype, (4, 5), (5,)),) for dtype in DTYPES),
    ],
    T.DotOp: [
        (rand(5), rand(5)),
        (rand(0), rand(0)),
        (rand(1), rand(1)),
        (tensor([1.0, inf]), tensor([nan, 0.0])),
        *((*of(dtype, (5,), (5,)),) for dtype in DTYPES),
    ],
    T.AddmmOp: [
        (rand(*i), rand(4, 5), rand(5, 3), scales)
        for i in ((3,), (4, 3), (4, 1), (), (1, 1))
        for scales in ({}, {"beta": 0.5, "alpha": -2}, {"beta": 0})
    ]
    + [
        (tensor([nan, 1.0, inf]), rand(4, 5), rand(5, 3), {"beta": 0}),
        (rand(3), tensor([[nan, 1.0]]), rand(2, 3), {"alpha": 0, "beta": 2}),
        (rand(3), tensor([[nan, 1.0]]), rand(2, 3), {"alpha": 0, "beta": 0}),
        (rand(4, 3), rand(4, 0), rand(0, 3), {"beta": 2}),
        # PyTorch truncates a scale of integers to an integer.
        (*of(pytorch.int64, (3,), (4, 5), (5, 3)), {"alpha": 2.5, "beta": 0.5}),
        *((*of(dtype, (3,), (4, 5), (5, 3)), {"alpha": 2, "beta": 3}) for dtype in DTYPES),
    ],
    T.AddmvOp: [
        (rand(*i), rand(4, 5), rand(5), scales)
        for i in ((4,), (1,), ())
        for scales in ({}, {"beta": 0.5, "alpha": -2}, {"beta": 0})
    ]
    + [
        (tensor([nan, 1.0, inf]), rand(3, 5), rand(5), {"beta": 0}),
        (rand(3), tensor([[nan, 1.0]] * 3), rand(2), {"alpha": 0}),
        (rand(3), rand(3, 0), rand(0), {"beta": 2}),
        *((*of(dtype, (4,), (4, 5), (5,)), {"alpha": 2}) for dtype in DTYPES),
    ],
    T.AddbmmOp: [
        (rand(*i), rand(2, 4, 5), rand(2, 5, 3), scales)
        for i in ((4, 3), (3,), (4, 1))
        for scales in ({}, {"beta": 0.5, "alpha": -2}, {"beta": 0})
    ]
    + [
        (tensor([nan, 1.0, inf]), rand(2, 4, 5), rand(2, 5, 3), {"beta": 0}),
        (rand(4, 3), rand(2, 4, 5) * nan, rand(2, 5, 3), {"alpha": 0}),
        (rand(4, 3), rand(0, 4, 5), rand(0, 5, 3), {"beta": 2}),
        *((*of(dtype, (4, 3), (2, 4, 5), (2, 5, 3)), {"alpha": 2}) for dtype in DTYPES),
    ],
    # In PyTorch, alpha 0 with NaN gives results that depend on the size; here the operand is not
    # read.
    T.BaddbmmOp: [
        (rand(*i), rand(2, 4, 5), rand(2, 5, 3), scales)
        for i in ((2, 4, 3), (3,), (4, 1), (2, 1, 1), ())
        for scales in ({}, {"beta": 0.5, "alpha": -2}, {"beta": 0})
    ]
    + [
        (tensor([nan, 1.0, inf]), rand(2, 4, 5), rand(2, 5, 3), {"beta": 0}),
        (rand(2, 4, 3), rand(2, 4, 5), rand(2, 5, 3), {"alpha": 0}),
        *((*of(dtype, (4, 3), (2, 4, 5), (2, 5, 3)), {"alpha": 2}) for dtype in DTYPES),
    ],
    T.LinearOp: [
        (rand(4, 5), rand(3, 5)),
        (rand(4, 5), rand(3, 5), rand(3)),
        (rand(5), rand(3, 5), rand(3)),
        (rand(2, 4, 5), rand(3, 5), rand(3)),
        (rand(2, 4, 5), rand(5)),
        (rand(5), rand(5)),
        (rand(2, 4, 5), rand(5), rand()),
        (rand(2, 1), rand(1, 1), rand(1)),
        *((*of(dtype, (4, 5), (3, 5), (3,)),) for dtype in DTYPES),
    ],
    T.BilinearOp: [
        (rand(4, 3), rand(4, 5), rand(2, 3, 5)),
        (rand(4, 3), rand(4, 5), rand(2, 3, 5), rand(2)),
        (rand(3), rand(5), rand(2, 3, 5), rand(2)),
        (rand(2, 4, 3), rand(2, 4, 5), rand(2, 3, 5), rand(2)),
        (rand(0, 3), rand(0, 5), rand(2, 3, 5)),
        *((*of(dtype, (4, 3), (4, 5), (2, 3, 5)),) for dtype in DTYPES),
    ],
}

INEXACT: Classes = tuple(CASES)
