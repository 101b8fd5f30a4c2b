# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of comparisons, and of ops on bools and bits."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T
from tilewright.dialects.torch.op import TorchOp

from .dtypes import DTYPES, NUMBERS, dtypes_of, mixed, pairs, values
from .inputs import COLUMN, ROW, SPECIAL, Cases, Classes, pytorch, rand

_SHAPES = [(rand(4, 8), rand(8)), (rand(), rand(2, 1)), (rand(3, 0), rand(1)), (COLUMN, ROW)]
_INTEGER_PAIRS = [
    (values("int32")[:3], values("int64")[:, None]),
    (values("int8")[:, None], values("uint8")),
    (values("uint8"), pytorch.tensor(3)),
    (pytorch.tensor(7), pytorch.tensor([[1], [2]])),
    (values("int16")[:0], values("int16")[:1]),
]


def _compared(op: type[TorchOp]) -> list[tuple[Any, ...]]:
    """Return tensors, or tensors and numbers, that are equal, close, unordered, or out of range."""
    dtypes = DTYPES if op in (T.EqOp, T.LtOp, T.EqScalarOp, T.LtScalarOp) else ("uint8", "float16")
    if not issubclass(op, T.ScalarOp):
        return [*_SHAPES, *(pairs(dtype) for dtype in dtypes), *mixed()]
    typed = [(values(dtype), number) for dtype in dtypes for number in NUMBERS[dtype]]
    special = [(SPECIAL, number) for number in (0.0, inf, -inf, nan, 1e40)]
    large = pytorch.tensor([2**24, 2**24 + 1])
    return [*typed, *special, (large, 2.0**24), (rand(), 0), (rand(2, 0), 1)]


def _logical(op: type[TorchOp]) -> list[tuple[Any, ...]]:
    tiny = pytorch.tensor([1e-30, 0.0])
    return [*_compared(op), (tiny, tiny.half())]


def _bitwise(op: type[TorchOp]) -> list[tuple[Any, ...]]:
    """Return integers, numbers with more bits, and bools where an op takes them."""
    dtypes = [*dtypes_of(op)]
    if issubclass(op, T.ScalarOp):
        return [(values(d), n) for d in dtypes for n in (-1, 300)] + [(values("bool"), 2)]
    if issubclass(op, T.ScalarFirstOp):
        return [(n, values(d)) for d in dtypes for n in (-1, 300)] + [(3, values("bool"))]
    return [*(pairs(dtype) for dtype in dtypes), *_INTEGER_PAIRS]


def _shifted(op: type[TorchOp]) -> list[tuple[Any, ...]]:
    """Return shifts by negative amounts, by up to the number of bits, and by more."""
    if issubclass(op, T.ScalarOp):
        shifts = (-1, 1, 7, 8, 31, 64, 257)
        return [(values(dtype), n) for dtype in dtypes_of(op) for n in shifts]
    wide = (1, pytorch.tensor([31, 32, 62, 63, 64]))
    return [*_bitwise(op), *([wide] if issubclass(op, T.ScalarFirstOp) else [])]


_PREDICATES = [op for op in T.ops_of(T.comparison) if issubclass(op, T.PredicateUnaryOp)]
_COMPARISONS = [
    op for op in T.ops_of(T.comparison) if issubclass(op, T.ComparisonOp | T.ComparisonScalarOp)
]
_LOGICAL = [op for op in T.ops_of(T.comparison) if issubclass(op, T.LogicalOp)]
_SHIFTS = [
    op for op in T.ops_of(T.bits) if issubclass(op, T.ShiftOp | T.ShiftScalarOp | T.ScalarShiftOp)
]

CASES: Cases = {
    **{op: _compared(op) for op in _COMPARISONS},
    **{op: _logical(op) for op in _LOGICAL},
    **{
        op: [*((values(dtype),) for dtype in DTYPES), (SPECIAL,), (rand(),), (rand(2, 0),)]
        for op in _PREDICATES
    },
    **{op: _bitwise(op) for op in T.ops_of(T.bits) if op not in _SHIFTS},
    **{op: _shifted(op) for op in _SHIFTS},
    T.BitwiseNotOp: [(values(dtype),) for dtype in dtypes_of(T.BitwiseNotOp)],
}

INEXACT: Classes = ()
