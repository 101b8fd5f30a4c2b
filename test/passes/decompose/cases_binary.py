# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops on two broadcast tensors, or on a tensor and a number."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T
from tilewright.dialects.element_types import DTYPES as ELEMENTS
from tilewright.dialects.torch.op import TorchOp

from .dtypes import DTYPES, NUMBERS, dtypes_of, mixed, nonzero, pairs, values
from .inputs import COLUMN, ROUNDING, ROW, SPECIAL, Cases, Classes, pytorch, rand, tensor

_OPS = [*T.ops_of(T.binary), *T.ops_of(T.division)]


def _is_difference(op: type[TorchOp]) -> bool:
    return issubclass(op, T.DifferenceOp | T.DifferenceScalarOp)


def _divides(op: type[TorchOp]) -> bool:
    return op in T.ops_of(T.division)


def _takes(op: type[TorchOp], *arguments: Any) -> bool:
    """True if the domain of an op contains the promoted type of the arguments."""
    assert issubclass(op, T.ElementwiseOp)
    promoted = ELEMENTS[str(pytorch.result_type(*arguments)).removeprefix("torch.")]
    no_bool = _is_difference(op) or _divides(op)
    return promoted in op.DOMAIN.elements and not (no_bool and isinstance(arguments[1], bool))


def _typed_pairs(op: type[TorchOp], dtype: str) -> tuple[Any, Any]:
    """
    Return pairs of a dtype, with small quotients for bfloat16.

    On a CPU, PyTorch rounds the steps of a floor division in bfloat16.
    """
    left, right = pairs(dtype)
    if dtype == "bfloat16" and _divides(op):
        return left.clamp(-3, 3), right.clamp(-3, 3)
    return left, right


def _pairs(op: type[TorchOp]) -> list[tuple[Any, ...]]:
    """Return pairs of tensors: shapes that broadcast, every dtype, two dtypes."""
    skipped = {"bool"} if _is_difference(op) else set[str]()
    typed = [_typed_pairs(op, dtype) for dtype in dtypes_of(op) if dtype not in skipped]
    return [
        (COLUMN, ROW),
        (rand(4, 8), rand(8)),
        (rand(), rand(2, 1)),
        (rand(3, 0), rand(1)),
        *typed,
        *(pair for pair in mixed() if _takes(op, *pair)),
    ]


def _scalars(op: type[TorchOp]) -> list[tuple[Any, ...]]:
    """
    Return pairs of a tensor and a number, of each dtype and kind, including numbers that wrap.
    """
    typed = [
        (values(dtype), number)
        for dtype in DTYPES
        if not (dtype == "bool" and (_is_difference(op) or _divides(op)))
        for number in NUMBERS[dtype]
        if _takes(op, values(dtype), number)
    ]
    return [(SPECIAL, 2.5), (rand(4, 8), -3), (rand(), 2), (rand(5), inf), (rand(5), 0.1), *typed]


def _swapped(cases: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the cases with the number first; tensors that divide have no 0."""
    return [(number, nonzero(str(t.dtype).removeprefix("torch."))) for t, number in cases]


CASES: Cases = {
    **{op: _pairs(op) for op in _OPS if issubclass(op, T.BinaryOp)},
    **{op: _scalars(op) for op in _OPS if issubclass(op, T.ScalarOp)},
    **{
        op: [*_swapped(_scalars(op)), (2.5, SPECIAL), (-3, rand(3, 0)), (2, rand())]
        for op in _OPS
        if issubclass(op, T.ScalarFirstOp)
    },
    **{
        op: [
            *_pairs(op),
            (rand(4, 8), rand(4, 1), {"alpha": 2.5}),
            (rand(8), rand(2, 4, 8), {"alpha": -3}),
            (rand(8), tensor([inf]), {"alpha": 0}),
            (*pairs("float16"), {"alpha": 2}),
            (*pairs("int8"), {"alpha": 3}),
            (values("int64"), values("float32")[:11], {"alpha": 0.5}),
        ]
        for op in (T.AddOp, T.SubOp, T.RsubOp)
    },
    **{
        op: [
            *_scalars(op),
            (SPECIAL, 2),
            (rand(4, 8), 0.5, 2.5),
            (rand(), 3, -2),
            (rand(3), -1, 0.5),
            (values("uint8"), 200, 3),
            (values("int32"), 0.5, 3),
        ]
        for op in (T.AddScalarOp, T.SubScalarOp, T.RsubScalarOp)
    },
    **{
        op: [(*case, {"rounding_mode": mode}) for mode in ROUNDING for case in cases]
        for op, cases in (
            (
                T.DivModeOp,
                [
                    (COLUMN, ROW),
                    (rand(4, 8, scale=10.0), rand(8)),
                    *(_typed_pairs(T.DivModeOp, d) for d in DTYPES if d != "bool"),
                ],
            ),
            (
                T.DivScalarModeOp,
                [(ROW, 0.1), (ROW, -3), (ROW, 2), *_scalars(T.DivScalarOp)],
            ),
        )
    },
    T.PowOp: [
        *_pairs(T.PowOp),
        (tensor([[-2.0], [3.0]]), tensor([-3.0, 0.0, 1.0, 4.0, 0.5])),
    ],
    T.PowScalarOp: [
        *((SPECIAL, e) for e in (0, 1, 2, 3, 4, -1, -2, -3, 0.5, -0.5, 1.5, 0.1, inf, nan)),
        *((values(d), e) for d in dtypes_of(T.PowScalarOp) for e in (2, 5, 0.5)),
        (values("bool"), 3),
        (rand(0, 2), 2),
        (rand(), 2.5),
    ],
    T.ScalarPowOp: [
        *((base, SPECIAL) for base in (-2, 0, 1, 2.0, 0.1, inf)),
        *((base, values(d)) for d in dtypes_of(T.ScalarPowOp) for base in (-1, 300, 0.5)),
        (2, values("bool")),
        (3, rand(0, 2)),
        (3.0, rand()),
    ],
}

INEXACT: Classes = (
    T.PowOp,
    T.PowScalarOp,
    T.ScalarPowOp,
    T.Atan2Op,
    T.HypotOp,
    T.XlogyOp,
    T.XlogyScalarOp,
    T.ScalarXlogyOp,
    T.LdexpOp,
)
