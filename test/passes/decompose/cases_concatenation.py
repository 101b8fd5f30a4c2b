# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that split and join tensors, and write tensors into others."""

from math import inf, nan

from tilewright.dialects import torch as T

from .inputs import SPECIAL, Cases, Classes, integers, pytorch, rand

_END = 2**63 - 1
_FLOAT = pytorch.tensor([0.0, 2.7, -2.7, 200.0, -0.0])

CASES: Cases = {
    T.SplitOp: [
        (rand(4, 8), 3, 1),
        (rand(4, 8), 2),
        (rand(4, 8), 9, -1),
        (rand(0, 8), 3),
        (rand(0, 8), 0),
        (rand(1, 3), 1, 1),
        (integers(5) > 0, 2),
    ],
    T.SplitWithSizesOp: [
        (rand(4, 8), [2, 0, 6], 1),
        (rand(4, 8), [1, 3]),
        (rand(4, 8), [8], -1),
        (rand(4, 0), [0, 0], 1),
        (rand(5).to(pytorch.float16), [2, 3]),
    ],
    T.UnbindOp: [(rand(3, 4),), (rand(2, 3, 2), 1), (rand(2, 3), -1), (rand(1),), (rand(2, 0),)],
    T.CatOp: [
        ([rand(4, 8), rand(4, 2)], 1),
        ([rand(4, 8), rand(1, 8), rand(2, 8)],),
        ([rand(2, 3, 4), rand(2, 0, 4), rand(2, 1, 4)], -2),
        ([rand(3)],),
        ([rand(0), rand(4, 8), rand(0)], 1),
        ([rand(0), rand(0)],),
        ([rand(0, 3), rand(0, 3)], 1),
        ([SPECIAL, SPECIAL],),
        ([integers(3), rand(2)],),
        ([integers(0), rand(2, 3).to(pytorch.float16)], 1),
        ([rand(2).to(pytorch.float16), rand(3).to(pytorch.bfloat16)],),
        ([integers(3) > 0, integers(2).to(pytorch.uint8)],),
        ([integers(3) > 0, integers(2) > 0],),
        ([rand(2).double(), rand(3)],),
    ],
    T.StackOp: [
        ([rand(4, 8), rand(4, 8)],),
        ([rand(4, 8), rand(4, 8), rand(4, 8)], 1),
        ([rand(4, 8), rand(4, 8)], -1),
        ([rand(), rand()],),
        ([rand(3)], 0),
        ([rand(0, 2), rand(0, 2)], 1),
        ([integers(3), rand(3).to(pytorch.float16)],),
    ],
    T.SelectScatterOp: [
        (rand(4, 8), rand(8), 0, 2),
        (rand(4, 8), rand(4), -1, -8),
        (rand(1, 3), rand(3), 0, 0),
        (rand(3), rand(), 0, 1),
        (rand(0, 3), rand(0), 1, 1),
        (integers(2, 5), _FLOAT, 0, 1),
        (integers(2, 5).to(pytorch.uint8), _FLOAT.abs(), 0, 1),
        (rand(2, 5) > 0, _FLOAT, 0, 1),
    ],
    T.SliceScatterOp: [
        (rand(4, 8), rand(4, 8)),
        (rand(4, 8), rand(4, 3), 1, 2, 5),
        (rand(4, 8), rand(4, 3), -1, -3, _END),
        (rand(4, 8), rand(4, 6), 1, None, -2),
        (rand(4, 8), rand(4, 3), 1, -100, 100, 3),
        (rand(4, 8), rand(4, 2), 1, 3, 6, 2),
        (rand(4, 8), rand(4, 0), 1, 5, 2),
        (rand(4, 8), rand(1, 8), 0, 1, 4, 5),
        (rand(0, 8), rand(0, 4), 1, 0, 4),
        (rand(4, 8).to(pytorch.float16), rand(4, 3), 1, 2, 5),
        (integers(5), _FLOAT[:2], 0, 1, 3),
    ],
    T.DiagonalScatterOp: [
        (rand(4, 4), rand(4)),
        (rand(3, 5), rand(3), 1),
        (rand(5, 3), rand(3), -1),
        (rand(3, 5), rand(1), 4),
        (rand(3, 5), rand(0), 5),
        (rand(2, 3, 4), rand(3, 2), -0, 0, 2),
        (rand(2, 3, 4), rand(2, 3), -1, 2, 1),
        (rand(2, 3, 4), rand(2, 2), -1, 1, 2),
        (integers(5, 5), _FLOAT),
    ],
    T.CopyOp: [
        (rand(4, 8), rand(4, 8)),
        (rand(4, 8), rand(8), True),
        (rand(4, 8), rand(4, 1)),
        (rand(4, 8), rand()),
        (rand(2, 0), rand(1)),
        (integers(5), _FLOAT),
        (rand(5) > 0, _FLOAT),
        (rand(2).to(pytorch.float16), pytorch.tensor([nan, inf])),
    ],
}

INEXACT: Classes = ()
