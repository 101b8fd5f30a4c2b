# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that accumulate along a dimension."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T

from .cases_reduction import DTYPES, FLOATS, HUGE, TIES, f16, f64, i8, i32, small, ui8
from .inputs import SPECIAL, Cases, Classes, rand, tensor

_DIMS: list[tuple[Any, ...]] = [
    (rand(4, 8), 1),
    (rand(4, 8), 0),
    (rand(2, 3, 4), -2),
    (rand(3, 1), 1),
    (rand(), 0),
    (rand(), -1),
    (rand(2, 0, 4), 1),
    (rand(0, 3), 1),
]
_LOG_SUMS = tensor([[-inf, 1.0, inf, -inf], [-inf, -inf, nan, 0.0], [1e4, 1e4, 0.0, 2e4]])

CASES: Cases = {
    **{
        op: [
            *_DIMS,
            (SPECIAL, 0),
            (TIES, 1),
            (HUGE, 1),
            *((small(dtype), 1) for dtype in DTYPES),
            (rand(4, 8), 1, {"dtype": f64}),
            (rand(4, 8, scale=4.0), 1, {"dtype": i32}),
            (small(f64), 0, {"dtype": f16}),
            (small(ui8) * 40, 1, {"dtype": ui8}),
            (small(ui8) * 40, 1, {"dtype": i8}),
        ]
        for op in (T.CumsumOp, T.CumprodOp)
    },
    T.LogcumsumexpOp: [
        *_DIMS,
        (_LOG_SUMS, 1),
        (_LOG_SUMS, 0),
        *((small(dtype), 1) for dtype in FLOATS),
    ],
    **{
        op: [*_DIMS, (SPECIAL, 0), (TIES, 1), (TIES, 0), (HUGE, 1)]
        + [(small(dtype), 1) for dtype in DTYPES]
        for op in (T.CummaxOp, T.CumminOp)
    },
}

INEXACT: Classes = (T.ScanOp,)
