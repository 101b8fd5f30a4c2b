# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that sum a function of the elements."""

from math import inf
from typing import Any

from tilewright.dialects import torch as T

from .cases_reduction import DIMS, FLOATS, NO_ELEMENTS, TIES, f16, f32, f64, i8, i64, small
from .inputs import SPECIAL, Cases, Classes, rand, tensor

_CORRECTIONS: list[tuple[Any, ...]] = [
    (rand(4, 8), [1], {"correction": 0}),
    (rand(4, 8), None, {"correction": 2.5, "keepdim": True}),
    (rand(4, 8), [0], {"correction": -1}),
    (tensor([[0.0, 1.0], [1.0, 1.0]]), [1], {"correction": 2}),
    (tensor([[0.0, 1.0], [1.0, 1.0]]), [1], {"correction": 3}),
    (rand(4, 1), [1]),
    (rand(4, 1), [1], {"correction": 0}),
    (tensor([1e4 + 1, 1e4 - 1, 1e4]), [0]),
    (tensor([1.0, inf]), [0]),
    *((small(dtype), [1]) for dtype in FLOATS),
    (rand(64).to(f16) + 100, [0]),
]
_DIMS: list[tuple[Any, ...]] = [
    (*case[:2], {"keepdim": True}) if len(case) > 2 else case for case in (*DIMS, *NO_ELEMENTS)
]

_POWERS = (2, 1, 3.5, -2, 0.5, 3)
_ORDERS = (*_POWERS, 0, inf, -inf, 1.0)
_ZEROS = tensor([[0.0, 2.0], [-0.0, 0.0], [-3.0, 4.0]])

CASES: Cases = {
    **{op: [*_DIMS, *_CORRECTIONS] for op in (T.VarOp, T.StdOp, T.VarMeanOp, T.StdMeanOp)},
    T.VectorNormOp: [
        *((case[0], 2, *case[1:]) for case in (*DIMS, *NO_ELEMENTS)),
        *((rand(4, 8), ord, [1], True) for ord in _ORDERS),
        *((_ZEROS, ord, [-1]) for ord in _ORDERS),
        *((TIES, ord, [1]) for ord in _ORDERS),
        *((SPECIAL[:, None], ord, [1]) for ord in (2, 0, 3.5)),
        *((rand(2, 0), ord, [1]) for ord in (0, 1, 2, 3.5)),
        *((rand(2, 3, 5).to(dtype), ord, [0, 2]) for dtype in FLOATS for ord in (2, 0, 3.5, inf)),
        (rand(4, 8), True),
        (rand(), 0.5),
        (rand(4, 8), 2, None, {"dtype": f64}),
        (rand(4, 8).to(f16), 3, [0], {"dtype": f32}),
    ],
    T.LogsumexpOp: [
        (rand(), []),
        *(case for case in DIMS if case[1:] not in ((), ([],))),
        (rand(2, 0, 4), [1]),
        (tensor([[-inf, -inf], [-inf, 0.0], [inf, 1.0], [inf, -inf], [1e4, 1e4 - 1]]), [1]),
        (TIES, [1], True),
        *((small(dtype), [1]) for dtype in (*FLOATS, i8, i64)),
        (small(f64) > 0, [0, 1]),
    ],
}

INEXACT: Classes = (T.VarianceOp, T.VarianceMeanOp, T.VectorNormOp, T.LogsumexpOp)
