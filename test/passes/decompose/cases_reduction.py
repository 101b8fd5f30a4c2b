# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that fold dimensions."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T

from .inputs import SPECIAL, Cases, Classes, pytorch, rand, tensor

f16, bf16, f32, f64 = pytorch.float16, pytorch.bfloat16, pytorch.float32, pytorch.float64
i8, i16, i32, i64 = pytorch.int8, pytorch.int16, pytorch.int32, pytorch.int64
ui8, bool_ = pytorch.uint8, pytorch.bool
FLOATS = (f16, bf16, f64)
INTEGERS = (ui8, i8, i16, i32, i64)
DTYPES = (*FLOATS, *INTEGERS, bool_)
"""All dtypes but float32, which the other cases have."""


def small(dtype: Any) -> Any:
    """Return a table of small numbers with zeros and ties, in any dtype."""
    return pytorch.tensor([[3, 0, 3, 1], [0, 0, 0, 0], [2, 5, 1, 5]]).to(dtype)


ZEROS = tensor([[0.0, -0.0, 0.0], [nan, 0.0, 0.0], [-inf, 0.5, -1e-30]])
TIES = tensor([[1.0, 3.0, 3.0, nan], [nan, inf, nan, 0.0], [-inf, -inf, 0.0, -0.0]])
BOOLS = pytorch.tensor([[True, False], [True, True], [False, False]])
HUGE = pytorch.tensor([[2**62, 2**62, 5], [-(2**62), 3, 2**61]])
_BYTES = pytorch.tensor([[200, 100, 7], [255, 255, 255]], dtype=ui8)

FULL: list[tuple[Any, ...]] = [(rand(4, 8),), (rand(),), (rand(1, 1),), (tensor([1.0, nan]),)]
"""Cases that fold all dimensions."""

DIMS: list[tuple[Any, ...]] = [
    (rand(4, 8),),
    (rand(4, 8), []),
    (rand(2, 3, 4), [-1], True),
    (rand(2, 3, 4), [2, 0]),
    (rand(2, 0, 4), [2]),
    (rand(), [-1]),
    (rand(), [0], True),
    (rand(1, 5), [0, 1], True),
    (SPECIAL, [0]),
]
"""Cases that fold a list of dimensions, which may be empty."""

NO_ELEMENTS: list[tuple[Any, ...]] = [(rand(2, 0, 4), [1]), (rand(0, 3), [])]

ONE_DIM: list[tuple[Any, ...]] = [
    (rand(4, 8), 0),
    (rand(2, 3, 4), -2, True),
    (rand(), -1),
    (rand(), 0, True),
    (rand(3, 1), 1),
    (rand(2, 0, 4), 2),
    (TIES, 0),
    (TIES, 1),
]

OPT_DIM: list[tuple[Any, ...]] = [
    (rand(4, 8),),
    (rand(4, 8), 0),
    (rand(2, 3, 4), -2, True),
    (rand(2, 3, 4), None, True),
    (rand(), 0, True),
    (rand(2, 0, 4), 2),
    (TIES,),
    (TIES, 1),
    (TIES, 0),
    (HUGE, 1),
]


def _keyword(cases: list[tuple[Any, ...]], *names: str) -> list[tuple[Any, ...]]:
    """Return the cases with all arguments but the first as keywords."""
    return [(case[0], dict(zip(names, case[1:]))) for case in cases]


_SUMS: list[tuple[Any, ...]] = [
    *((small(dtype),) for dtype in DTYPES),
    (HUGE,),
    (rand(5, 3), {"dtype": f64}),
    (rand(5, 3, scale=3.0), {"dtype": i64}),
    (rand(5, 3), {"dtype": bf16}),
    (_BYTES, {"dtype": ui8}),
    (_BYTES, {"dtype": i8}),
    (_BYTES, {"dtype": f16}),
    (BOOLS, {"dtype": bool_}),
    (small(i32), {"dtype": bool_}),
    (small(f64), {"dtype": f32}),
]

_NANSUMS = [c for c in _SUMS if pytorch.__version__ >= "2.13" or c[1:] != ({"dtype": i64},)]
"""Since 2.13, PyTorch's nansum converts floats to integers."""

_MEANS: list[tuple[Any, ...]] = [
    *((small(dtype),) for dtype in FLOATS),
    (pytorch.full((3,), 65504.0, dtype=f16),),
    (small(i64), {"dtype": f32}),
    (small(ui8), {"dtype": f16}),
    (BOOLS, {"dtype": f64}),
    (rand(4, 8), {"dtype": f64}),
]

CASES: Cases = {
    T.SumOp: [*FULL, (rand(0, 3),), *_SUMS],
    T.ProdOp: [*FULL, (rand(0, 3),), *_SUMS],
    T.MeanOp: [*FULL, (rand(0, 3),), *_MEANS],
    T.SumDimOp: [(rand(4, 8), None), *DIMS[1:], *NO_ELEMENTS]
    + [(case[0], [0], *case[1:]) for case in _SUMS],
    T.NansumOp: [*DIMS, *NO_ELEMENTS, (TIES, [1]), *_NANSUMS],
    T.ProdDimOp: [*ONE_DIM, (rand(2, 0, 4), 1), *((case[0], 1, *case[1:]) for case in _SUMS)],
    T.MeanDimOp: [(rand(4, 8), None), *DIMS[1:], *NO_ELEMENTS]
    + [(case[0], [0], *case[1:]) for case in _MEANS],
    T.NanmeanOp: [
        *DIMS,
        *NO_ELEMENTS,
        (TIES, [1]),
        (small(f16), [0]),
        (small(f64), [1]),
        (small(f16), [1], True, {"dtype": f64}),
    ],
    **{
        op: [*FULL, (rand(0, 3),), (ZEROS,), (tensor([0.0, -0.0]),), (BOOLS,), (BOOLS[:1],)]
        + [(small(dtype),) for dtype in DTYPES]
        for op in (T.AnyOp, T.AllOp)
    },
    **{
        op: [*ONE_DIM, (rand(2, 0, 4), 1), (ZEROS, 1), (BOOLS, 0), (BOOLS, 1, True)]
        + [(small(dtype), 1) for dtype in DTYPES]
        for op in (T.AnyDimOp, T.AllDimOp)
    },
    **{
        op: [*DIMS, *NO_ELEMENTS, (ZEROS, [1]), (ZEROS, []), (ZEROS, None, True), (_BYTES, [])]
        + [(small(dtype), [1, 0]) for dtype in DTYPES]
        for op in (T.AnyDimsOp, T.AllDimsOp)
    },
    T.CountNonzeroOp: [(ZEROS,), (ZEROS, 1), (ZEROS, -2), (rand(), 0), (rand(0, 3), 0)]
    + [(small(dtype), 0) for dtype in DTYPES],
    T.CountNonzeroDimsOp: [(ZEROS, [1]), (ZEROS, []), (ZEROS, [0, -1]), (rand(0, 3), [1])],
    **{
        op: [*DIMS, (TIES, [1]), *((small(dtype), [1]) for dtype in DTYPES), (HUGE, [0])]
        for op in (T.AmaxOp, T.AminOp)
    },
    **{
        op: [*FULL, (TIES,), (HUGE,), *((small(dtype),) for dtype in DTYPES)]
        for op in (T.MaxOp, T.MinOp)
    },
    T.AminmaxOp: _keyword([*OPT_DIM, *((small(dtype), 1) for dtype in DTYPES)], "dim", "keepdim"),
    **{
        op: [*ONE_DIM, (HUGE, 0), *((small(dtype), 1) for dtype in DTYPES)]
        for op in (T.MaxDimOp, T.MinDimOp)
    },
    **{
        op: [*OPT_DIM, *((small(dtype), 1) for dtype in (*FLOATS, *INTEGERS)), (small(i8),)]
        for op in (T.ArgmaxOp, T.ArgminOp)
    },
}

INEXACT: Classes = (T.SumLikeOp, T.MeanLikeOp)
