# SPDX-License-Identifier: Apache-2.0
"""What the ops of two broadcast tensors, or of a tensor and a number are called with."""

from math import inf, nan

from tilewright.dialects import torch as T

from .inputs import COLUMN, ROUNDING, ROW, SPECIAL, Cases, Classes, rand, tensor

CASES: Cases = {
    **{
        op: [(COLUMN, ROW), (rand(4, 8), rand(8)), (rand(), rand(2, 1)), (rand(3, 0), rand(1))]
        for op in T.OPS
        if issubclass(op, T.BinaryOp)
    },
    **{
        op: [(SPECIAL, 2.5), (rand(4, 8), -3), (rand(), True), (rand(5), inf), (rand(5), 0.1)]
        for op in T.OPS
        if issubclass(op, T.ScalarOp)
    },
    **{
        op: [
            (COLUMN, ROW),
            (rand(4, 8), rand(4, 1), {"alpha": 2.5}),
            (rand(8), rand(2, 4, 8), {"alpha": -3}),
            (rand(8), tensor([inf]), {"alpha": 0}),
        ]
        for op in (T.AddOp, T.SubOp, T.RsubOp)
    },
    **{
        op: [(SPECIAL, 2), (rand(4, 8), 0.5, 2.5), (rand(), 3, -2), (rand(3), -1, 0.5)]
        for op in (T.AddScalarOp, T.SubScalarOp, T.RsubScalarOp)
    },
    T.DivModeOp: [(COLUMN, ROW, {"rounding_mode": mode}) for mode in ROUNDING]
    + [(rand(4, 8, scale=10.0), rand(8), {"rounding_mode": mode}) for mode in ROUNDING],
    T.DivScalarModeOp: [
        (ROW, other, {"rounding_mode": mode}) for mode in ROUNDING for other in (0.1, -3, 2)
    ],
    T.PowOp: [(COLUMN, ROW), (tensor([[-2.0], [3.0]]), tensor([-3.0, 0.0, 1.0, 4.0, 0.5]))],
    T.PowScalarOp: [
        (SPECIAL, e) for e in (0, 1, 2, 3, 4, -1, -2, -3, 0.5, -0.5, 1.5, 0.1, inf, nan)
    ],
    T.ScalarPowOp: [(base, SPECIAL) for base in (-2, 0, 1, 2.0, 0.1, inf)],
}

INEXACT: Classes = (
    T.PowOp,
    T.PowScalarOp,
    T.ScalarPowOp,
)
