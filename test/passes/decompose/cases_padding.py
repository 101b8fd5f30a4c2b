# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that pad."""

from math import inf

from tilewright.dialects import torch as T

from .inputs import SPECIAL, Cases, Classes, integers, pytorch, rand

_EDGES = [
    ((1, 5), [1, 2]),
    ((1, 5), [4, 4]),
    ((1, 5), [0, 0]),
    ((1, 5), [-1, 2]),
    ((1, 5), [2, -1]),
    ((1, 5), [-2, -2]),
    ((2, 3, 4), [1, 2]),
    ((2, 3, 4), [3, 1, 0, 2]),
    ((2, 2, 3, 4), [1, -1, 2, 1]),
    ((2, 2, 3, 3), [2, 0, 0, 2, 1, 1]),
    ((1, 1, 2, 3, 2), [1, 1, 2, 0, 0, 1]),
    ((0, 3, 4), [1, 2]),
]

CASES: Cases = {
    T.ConstantPadOp: [
        (rand(4, 8), [1, 2]),
        (rand(4, 8), [1, 2, 3, 0], 2.5),
        (rand(4, 8), [-1, -2, 1, -3], -inf),
        (rand(4, 8), []),
        (rand(2, 3, 4), [0, 0, 1, 1], True),
        (rand(4, 8), [-4, -4]),
        (rand(3, 0), [1, 2], 7),
        (rand(3, 0), [0, 0, 1, 1], 7),
        (SPECIAL, [2, -1], -0.0),
        (integers(3, 4), [1, 1], 2.9),
        (integers(4).to(pytorch.uint8), [1, 1], -1),
        (integers(4) > 0, [1, 1], 3),
        (rand(4).to(pytorch.float16), [1, 1], 0.1),
        (rand(4).to(pytorch.bfloat16), [1, 1], inf),
        (rand(4).double(), [1, 1], 0.1),
        (rand(), []),
    ],
    T.PadOp: [
        (rand(4, 8), [1, 2]),
        (rand(4, 8), [1, 2], "constant", 2.5),
        (rand(4, 8), [-1, 2, 3, -4], "constant", None),
        (integers(4), [1, 2], "constant", 2.9),
        (rand(2, 3), [], "constant"),
        *(
            (rand(*s), pad, mode)
            for mode in ("reflect", "replicate", "circular")
            for s, pad in _EDGES
        ),
        (rand(1, 5), [7, 9], "replicate"),
        (rand(1, 5), [-4, 3], "replicate"),
        (rand(1, 5), [-4, 3], "reflect"),
        (rand(1, 5), [5, 5], "circular"),
        (rand(1, 5), [-2, -3], "circular"),
        (integers(1, 5), [1, 2], "reflect"),
        (integers(1, 5) > 0, [1, 2], "circular"),
        (rand(1, 5).to(pytorch.float16), [1, 2], "replicate", 0.0),
    ],
    T.Im2colOp: [
        (rand(1, 3, 4, 5), [2, 2], [1, 1], [0, 0], [1, 1]),
        (rand(2, 3, 5, 6), [3, 2], [1, 2], [1, 0], [2, 1]),
        (rand(3, 4, 4), 2, 1, 2, 3),
        (rand(2, 1, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1]),
        (rand(0, 2, 3, 3), [2, 2], [1, 1], [0, 0], [1, 1]),
        (rand(1, 1, 4, 4).to(pytorch.float16), [3, 3], [1, 1], [1, 1], [1, 1]),
    ],
}

INEXACT: Classes = ()
