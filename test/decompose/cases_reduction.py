# SPDX-License-Identifier: Apache-2.0
"""What the ops that reduce dimensions are called with."""

from math import inf, nan

from tilewright.dialects import torch as T

from .inputs import SPECIAL, Cases, Classes, pytorch, rand, tensor

CASES: Cases = {
    T.SumOp: [
        (rand(4, 8),),
        (rand(),),
        (rand(0, 3),),
        (tensor([1.0, nan]),),
        (rand(5), {"dtype": pytorch.float32}),
    ],
    T.MeanOp: [(rand(4, 8),), (rand(),), (rand(0, 3),), (tensor([1.0, inf]),), (rand(1, 1),)],
    **{
        op: [
            (rand(4, 8), None),
            (rand(4, 8), []),
            (rand(2, 3, 4), [-1], True),
            (rand(2, 3, 4), [2, 0]),
            (rand(2, 0, 4), [1]),
            (rand(2, 0, 4), [0]),
            (rand(), [-1]),
            (rand(), [0], True),
            (rand(1, 5), [0, 1], True),
            (rand(4, 8), [1], {"dtype": pytorch.float32}),
        ]
        for op in (T.SumDimOp, T.MeanDimOp)
    },
    **{
        op: [
            (rand(4, 8),),
            (rand(2, 3, 4), [-1], True),
            (rand(2, 3, 4), [2, 0]),
            (rand(), [-1]),
            (rand(2, 0, 4), [2]),
            (tensor([[1.0, nan], [-inf, inf], [-inf, -inf]]), [1]),
            (SPECIAL,),
        ]
        for op in (T.AmaxOp, T.AminOp)
    },
}

INEXACT: Classes = (
    T.SumOp,
    T.MeanOp,
    T.SumLikeOp,
)
