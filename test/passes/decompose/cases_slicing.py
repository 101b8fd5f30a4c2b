# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that take parts of tensors, or reorder elements."""

from tilewright.dialects import torch as T

from .inputs import SPECIAL, Cases, Classes, integers, pytorch, rand

_END = 2**63 - 1
_HALF, _BFLOAT = pytorch.float16, pytorch.bfloat16

CASES: Cases = {
    T.SliceOp: [
        (rand(4, 8),),
        (rand(4, 8), 1, 2, 5),
        (rand(4, 8), -1, -3, _END),
        (rand(4, 8), 1, None, -2),
        (rand(4, 8), 1, -100, 100, 3),
        (rand(4, 8), 1, 5, 2),
        (rand(4, 8), 0, 1, 4, 5),
        (rand(4, 8), 1, 8),
        (rand(1, 0), 1, 0, 3, 2),
        (SPECIAL, 0, 1, None, 2),
        (rand(7).to(_HALF), 0, 1, 6, 2),
        (integers(7) > 0, 0, 3),
    ],
    T.SelectOp: [
        (rand(4, 8), 0, 2),
        (rand(4, 8), -1, -8),
        (rand(3), 0, 0),
        (rand(1, 3, 2), 1, -1),
        (rand(0, 3), 1, 2),
        (integers(3, 2).to(pytorch.uint8), 0, 1),
    ],
    T.DiagonalOp: [
        (rand(4, 4),),
        (rand(3, 5), 1),
        (rand(5, 3), -2),
        (rand(3, 5), 9),
        (rand(3, 5), -3),
        (rand(2, 3, 4), 1, 0, 2),
        (rand(2, 3, 4), -1, -1, -2),
        (rand(2, 3, 4, 5), 0, 2, 0),
        (rand(0, 3),),
        (integers(3, 3),),
    ],
    T.DiagEmbedOp: [
        (rand(3),),
        (rand(2, 3), 1),
        (rand(2, 3), -2),
        (rand(2, 3), 0, 0, 2),
        (rand(2, 3), 1, -1, 0),
        (rand(2, 2, 3), -1, 1, 3),
        (rand(1),),
        (rand(0),),
        (rand(0), 2),
        (SPECIAL,),
        (integers(3) > 0, 1),
        (rand(3).to(_BFLOAT), 1),
    ],
    **{
        op: [
            (rand(4, 4),),
            (rand(3, 5), 1),
            (rand(3, 5), -1),
            (rand(5, 3), 9),
            (rand(5, 3), -9),
            (rand(2, 3, 4), 2),
            (rand(1, 1), 1),
            (rand(0, 3),),
            (rand(2, 0),),
            (pytorch.full((3, 3), float("nan")),),
            (pytorch.full((3, 3), -0.0), -1),
            *((integers(3, 4).to(t), 1) for t in (pytorch.bool, pytorch.uint8, pytorch.int64)),
            *((rand(3, 4).to(t), 1) for t in (_HALF, _BFLOAT, pytorch.float64)),
        ]
        for op in (T.TrilOp, T.TriuOp)
    },
    T.UnfoldOp: [
        (rand(8), 0, 3, 2),
        (rand(4, 8), 1, 3, 1),
        (rand(4, 8), -2, 2, 2),
        (rand(4, 8), 0, 4, 5),
        (rand(4, 8), 1, 0, 3),
        (rand(2, 0), 1, 0, 1),
        (rand(), 0, 1, 1),
        (rand(), -1, 0, 2),
        (integers(6), 0, 2, 3),
    ],
    T.FlipOp: [
        (rand(4, 8), [0]),
        (rand(4, 8), [0, -1]),
        (rand(4, 8), []),
        (rand(2, 3, 4), [1, -1]),
        (rand(), [0]),
        (rand(), []),
        (rand(1, 3), [0]),
        (rand(0, 3), [0, 1]),
        (integers(5) > 0, [0]),
    ],
    T.RollOp: [
        (rand(4, 8), [3]),
        (rand(4, 8), [-33]),
        (rand(4, 8), [1, -2], [0, 1]),
        (rand(4, 8), [17], [-1]),
        (rand(4, 8), [8], [1]),
        (rand(4, 8), [1, 2], [1, 1]),
        (rand(2, 3, 5), [7]),
        (rand(2, 3, 5), [1, 1, 1], [0, 1, 2]),
        (rand(), [3]),
        (rand(1, 3), [1], [0]),
        (rand(0, 3), [1]),
        (rand(0, 3), [1], [0]),
        (integers(6).to(pytorch.int8), [2]),
    ],
}

INEXACT: Classes = ()
