# SPDX-License-Identifier: Apache-2.0
"""What the ops that multiply matrices are called with."""

from math import inf, nan

from tilewright.dialects import torch as T

from .inputs import Cases, Classes, rand, tensor

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
    ],
    T.MmOp: [(rand(4, 5), rand(5, 3)), (rand(1, 5), rand(5, 1)), (rand(4, 1), rand(1, 3))],
    T.BmmOp: [
        (rand(2, 4, 5), rand(2, 5, 3)),
        (rand(1, 1, 5), rand(1, 5, 1)),
        (rand(0, 4, 5), rand(0, 5, 3)),
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
    ],
}

INEXACT: Classes = (
    T.MatmulOp,
    T.MmOp,
    T.BmmOp,
    T.AddmmOp,
    T.LinearOp,
)
