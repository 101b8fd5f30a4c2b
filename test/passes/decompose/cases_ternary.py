# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of selections, bounds, interpolation and fused products."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T

from .dtypes import DTYPES, NUMBERS, dtypes_of, mixed, pairs, values
from .inputs import COLUMN, ROW, SPECIAL, Cases, Classes, pytorch, rand

_FLAGS = pytorch.tensor([True, False, True, True, False])
_CHOICES = [
    (values(dtype)[:2], number)
    for dtype in DTYPES
    for number in NUMBERS[dtype]
    if not (dtype in ("uint8", "int8") and number == 300)
]
_MASK = _FLAGS[:2]


def _with_mask(pair: tuple[Any, Any]) -> tuple[Any, Any, Any]:
    """Return a mask of the shape that the pair broadcasts to, and the pair."""
    return (pair[0] == pair[0].flatten()[0], *pair)


_CLAMPED = [(values(dtype), 0) for dtype in DTYPES] + [
    (SPECIAL, 0.5),
    (SPECIAL, nan),
    (rand(4, 8), -1),
    (rand(), 0),
    (rand(3, 0), 0.1),
    (values("uint8"), -1),
    (values("int32"), 0.5),
]
_CLAMPED_AT_ONE_END = [
    (x, bound)
    for x, bound in _CLAMPED
    if bound == bound or pytorch.__version__ >= "2.13"  # before, NaN was no bound there
]
_CLAMPED_BY_TENSOR = [
    *((pairs(dtype)) for dtype in DTYPES),
    (COLUMN, ROW),
    (rand(4, 8), rand(8)),
    (rand(), rand(2, 1)),
    (rand(3, 0), rand(1)),
    *mixed(),
]

CASES: Cases = {
    T.WhereOp: [
        *(_with_mask(pairs(dtype)) for dtype in DTYPES),
        *map(_with_mask, mixed()),
        (_FLAGS, rand(3, 1), rand(5)),
        (_FLAGS[0], rand(0), rand(1)),
        (_FLAGS[0], rand(), rand()),
    ],
    T.WhereScalarSelfOp: [
        *((_MASK, number, choice) for choice, number in _CHOICES),
        (_FLAGS, -inf, rand(4, 5)),
        (_FLAGS[0], nan, rand()),
    ],
    T.WhereScalarOtherOp: [
        *((_MASK, choice, number) for choice, number in _CHOICES),
        (_FLAGS, rand(4, 1), inf),
        (_FLAGS[0], rand(), nan),
        (_MASK, values("uint8")[:2], -1),
    ],
    T.WhereScalarOp: [
        (_FLAGS, 1, 0),
        (_FLAGS, 1.5, -inf),
        (_FLAGS, True, False),
        (_FLAGS, 2, 0.1),
        (_FLAGS, True, 7),
        (_FLAGS[0], 1.0, 2.0),
    ],
    T.MaskedFillOp: [
        *((choice, _MASK, number) for choice, number in _CHOICES),
        (rand(4, 5), _FLAGS, -inf),
        (rand(4, 1), _FLAGS, nan),
        (rand(), _FLAGS[0], 2),
        (values("uint8")[:2], _MASK, -1),
    ],
    T.MaskedFillTensorOp: [
        *((choice, _MASK, pytorch.tensor(2.5)) for choice, _ in _CHOICES),
        (rand(4, 5), _FLAGS, pytorch.tensor(3)),
        (rand(4, 1), _FLAGS, pytorch.tensor(nan)),
    ],
    T.ClampOp: [
        *_CLAMPED_AT_ONE_END,
        *((x, None, bound) for x, bound in _CLAMPED_AT_ONE_END),
        (SPECIAL, 0, 6),
        (SPECIAL, 3.0, 1.0),
        (SPECIAL, -inf, nan),
        (values("int64"), -2, 2.5),
        (values("float16"), -0.1, 0.1),
        (rand(2, 0), 0, 1),
    ],
    T.ClampMinOp: _CLAMPED,
    T.ClampMaxOp: _CLAMPED,
    T.ClampTensorOp: [
        *_CLAMPED_BY_TENSOR,
        *((x, None, bound) for x, bound in _CLAMPED_BY_TENSOR),
        (rand(4, 8), rand(8), rand(4, 1)),
        (values("int8"), values("uint8")[:, None], pytorch.tensor(2.5)),
    ],
    T.ClampMinTensorOp: _CLAMPED_BY_TENSOR,
    T.ClampMaxTensorOp: _CLAMPED_BY_TENSOR,
    T.LerpScalarOp: [
        *((*pairs(dtype), w) for dtype in dtypes_of(T.LerpScalarOp) for w in (0.1, 0.9)),
        *((rand(4, 8), rand(8), w) for w in (0, 1, 0.5, -2, True)),
        (rand(), rand(2, 1), 0.3),
        (rand(0, 2), rand(2), 0.3),
    ],
    T.LerpOp: [
        *((*pairs(dtype), pairs(dtype)[1]) for dtype in dtypes_of(T.LerpOp)),
        (rand(4, 8), rand(8), rand(2, 1, 1)),
        (rand(), rand(), rand()),
        (rand(0, 2), rand(2), rand()),
    ],
    **{
        op: [
            *((*pairs(dtype), pairs(dtype)[1]) for dtype in dtypes_of(op)),
            *(
                (*pairs(dtype), pairs(dtype)[1], {"value": value})
                for dtype in dtypes_of(op)
                for value in (3, 0.1)
            ),
            (rand(4, 8), rand(8), rand(2, 1, 1), {"value": -0.5}),
            (rand(), rand(), rand()),
            (rand(0, 2), rand(2), rand(), {"value": 2}),
            (rand(3), rand(3).double(), rand(3).half(), {"value": 2}),
        ]
        for op in (T.AddcmulOp, T.AddcdivOp)
    },
}

INEXACT: Classes = (T.LerpOp, T.LerpScalarOp, T.AddcmulOp, T.AddcdivOp)
