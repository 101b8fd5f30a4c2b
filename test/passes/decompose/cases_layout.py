# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that only rearrange elements."""

from tilewright.dialects import torch as T

from .inputs import SPECIAL, Cases, Classes, integers, pytorch, rand

CASES: Cases = {
    **{op: [(SPECIAL,), (rand(),), (rand(2, 0),)] for op in T.OPS if issubclass(op, T.IdentityOp)},
    T.CloneOp: [(SPECIAL,), (rand(1, 2, 3, 4), {"memory_format": pytorch.channels_last})],
    **{
        op: [
            (rand(4, 8), [2, -1]),
            (rand(4, 8), [4, 8]),
            (rand(1), []),
            (rand(), [1, 1]),
            (rand(6, 35), [10, 21]),
            (rand(2, 3, 4), [-1]),
            (rand(0, 3), [3, 0]),
        ]
        for op in (T.ReshapeOp, T.ViewOp, T.UnsafeViewOp)
    },
    T.FlattenOp: [
        (rand(2, 3, 4),),
        (rand(2, 3, 4), 1),
        (rand(2, 3, 4), 0, -2),
        (rand(),),
        (rand(2, 0, 3),),
    ],
    T.UnsqueezeOp: [(rand(4, 8), dim) for dim in (0, 1, -1)] + [(rand(), 0)],
    T.SqueezeOp: [(rand(1, 4, 1),), (rand(1, 1),), (rand(),), (rand(2, 3),)],
    T.SqueezeDimOp: [(rand(1, 4, 1), -1), (rand(1, 4, 1), 1), (rand(), 0)],
    T.SqueezeDimsOp: [(rand(1, 4, 1), [0, -1]), (rand(1, 4, 1), [0, 1]), (rand(1, 4), [])],
    T.TOp: [(rand(4, 8),), (rand(4),), (rand(),), (rand(1, 3),)],
    T.TransposeOp: [
        (rand(2, 3, 4), 0, -1),
        (rand(2, 3, 4), 1, 1),
        (rand(), 0, -1),
        (rand(1, 3), 1, 0),
    ],
    T.PermuteOp: [
        (rand(2, 3, 4), [2, 0, 1]),
        (rand(2, 3, 4), [-2, -1, 0]),
        (rand(2, 3), [0, 1]),
        (rand(), []),
    ],
    T.ExpandOp: [
        (rand(4, 1), [2, -1, 8]),
        (rand(), [3]),
        (rand(1), [0]),
        (rand(4, 8), [4, 8]),
        (rand(1, 1), [1, 5]),
    ],
    T.RepeatOp: [
        (rand(4, 8), [2, 3]),
        (rand(4, 8), [2, 1, 3]),
        (rand(4, 8), [1, 1]),
        (rand(), [2, 3]),
        (rand(1, 3), [4, 1]),
        (rand(4, 8), [0, 2]),
        (rand(0, 3), [2, 2]),
        (integers(3) > 0, [2]),
    ],
    T.RepeatInterleaveOp: [
        (rand(4, 8), 3, 1),
        (rand(4, 8), 3, -2),
        (rand(2, 3), 2),
        (rand(2, 3), 2, 0, {"output_size": 4}),
        (rand(), 2),
        (rand(2, 3), 0, 1),
        (rand(2, 3), 1, 1),
        (rand(0, 3), 2),
        (integers(3), 2),
    ],
    T.PixelShuffleOp: [
        (rand(1, 8, 3, 2), 2),
        (rand(9, 1, 2), 3),
        (rand(2, 2, 4, 1, 1), 2),
        (rand(2, 3, 3), 1),
        (rand(0, 4, 2, 2), 2),
        (integers(4, 2, 2), 2),
    ],
    # Without elements, eager PyTorch gives pixel_unshuffle the shape of the input.
    T.PixelUnshuffleOp: [
        (rand(1, 2, 6, 4), 2),
        (rand(1, 3, 6), 3),
        (rand(2, 2, 1, 2, 2), 2),
        (rand(2, 3, 3), 1),
        (integers(1, 4, 4), 2),
    ],
    T.ChannelShuffleOp: [
        (rand(2, 6, 3), 2),
        (rand(1, 6, 2, 2), 3),
        (rand(1, 4, 2), 1),
        (rand(1, 4, 2), 4),
        (integers(1, 4, 2), 2),
    ],
}

INEXACT: Classes = ()
