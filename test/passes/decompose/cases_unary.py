# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that map each element of one tensor."""

from math import inf

from tilewright.dialects import torch as T

from .dtypes import dtypes_of, values
from .inputs import SPECIAL, Cases, Classes, rand, tensor

_SHAPES = [(SPECIAL,), (rand(),), (rand(0, 2),)]

CASES: Cases = {
    **{op: [*_SHAPES, *((values(dtype),) for dtype in dtypes_of(op))] for op in T.ops_of(T.unary)},
    **{
        op: [*_SHAPES, *((values(d),) for d in ("bool", "uint8", "float16", "float64"))]
        for op in T.ops_of(T.elementary)
    },
    T.RoundDecimalsOp: [
        (values(dtype), {"decimals": decimals})
        for dtype in dtypes_of(T.RoundDecimalsOp)
        for decimals in (-2, 0, 1, 3, 5)
    ]
    + [(rand(3, 4, scale=100.0), {"decimals": 2}), (rand(0), {"decimals": -1})],
    T.NanToNumOp: [
        *((values(dtype),) for dtype in dtypes_of(T.NanToNumOp)),
        *((values(dtype), 1.5, 7.0, -inf) for dtype in dtypes_of(T.NanToNumOp)),
        (SPECIAL, None, 2.0),
        (rand(), 1.0),
        (rand(2, 0),),
    ],
    T.LogitOp: [
        *((values(dtype),) for dtype in dtypes_of(T.LogitOp)),
        (SPECIAL, 1e-6),
        (tensor([0.0, 1e-9, 0.25, 0.5, 1.0]),),
        (tensor([0.0, 1e-9, 0.25, 0.5, 1.0]), 0.1),
        (tensor([0.0, 0.25, 1.0, 2.0]), -1.0),
    ],
}

INEXACT: Classes = (*T.ops_of(T.elementary), T.Deg2radOp, T.Rad2degOp, T.RoundDecimalsOp)
