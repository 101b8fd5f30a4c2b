# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that create tensors from numbers, or convert tensors."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T

from .inputs import SPECIAL, Cases, Classes, integers, pytorch, rand

F16, BF16, F32, F64 = pytorch.float16, pytorch.bfloat16, pytorch.float32, pytorch.float64
U8, I8, I16, I32, I64 = (
    pytorch.uint8,
    pytorch.int8,
    pytorch.int16,
    pytorch.int32,
    pytorch.int64,
)
BOOL = pytorch.bool
FLOATS = (F16, BF16, F32, F64)
INTEGERS = (U8, I8, I16, I32, I64)
DTYPES = (*FLOATS, *INTEGERS, BOOL)

_OPTIONS = {"device": "cpu", "layout": pytorch.strided, "pin_memory": False}
_LIKE = {**_OPTIONS, "memory_format": pytorch.preserve_format}
_SIZES: list[tuple[Any, ...]] = [
    ([2, 3],),
    ([],),
    ([0, 2],),
    ([1], _OPTIONS),
    *(([2], {"dtype": t}) for t in DTYPES),
]
_INPUTS = [rand(2, 3), rand(), rand(0, 2), integers(3), rand(3) > 0, rand(2).to(F16)]
_LIKES = [
    *((input,) for input in _INPUTS),
    (rand(2, 3), _LIKE),
    *((rand(2), {"dtype": t}) for t in DTYPES),
]
_NEW: list[tuple[Any, ...]] = [
    *((input, [2, 3]) for input in _INPUTS),
    (rand(2), [], _OPTIONS),
    *((rand(2), [2], {"dtype": t}) for t in DTYPES),
]
_VALUES = [True, 3, -2, 2.75, inf, -inf, nan, -0.0]

_FRACTIONS = pytorch.tensor([0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 99.9, -99.9, 100.0, 3e-5])
_WHOLE = pytorch.tensor([0, 1, -1, 2, 127, 128, 255, 256, 2049, -2051, 65535, 70001, -(2**31)])
_LARGE = pytorch.tensor([2**24 + 1, 2**31 - 1, 2**31, -(2**40) + 1, 2**53 + 1, 2**62 + 2**54 + 1])
_TIES = pytorch.tensor(
    [1 + 2.0**-11, 1 + 2.0**-8, 1 + 2.0**-24, 1 + 2.0**-11 + 2.0**-40], dtype=F64
)
_CAST = [
    *((SPECIAL, {"dtype": t}) for t in (*FLOATS, BOOL)),
    *((_FRACTIONS.to(s), {"dtype": t}) for s in FLOATS for t in (*FLOATS, *INTEGERS, BOOL)),
    *((_WHOLE.to(s), {"dtype": t}) for s in (*INTEGERS, BOOL) for t in DTYPES),
    *((_LARGE, {"dtype": t}) for t in DTYPES),
    *((_TIES.to(s), {"dtype": t}) for s in (F32, F64) for t in FLOATS),
]

CASES: Cases = {
    T.FullOp: [
        *(([2], value) for value in _VALUES),
        *(([2], 3, {"dtype": t}) for t in DTYPES),
        *(([2], 2.75, {"dtype": t}) for t in DTYPES),
        ([2], -1, {"dtype": U8}),
        ([2], 0.1, {"dtype": F16}),
        ([2], 0.1, {"dtype": F64}),
        ([2], 2**53 + 1),
        ([2], nan, {"dtype": BOOL}),
        ([], 2.0),
        ([0, 3], 2.0),
        ([2, 3], 2.0, _OPTIONS),
    ],
    T.FullLikeOp: [
        *((rand(2), value) for value in _VALUES),
        (integers(2), 2.75),
        (rand(2) > 0, 5),
        (rand(2), 3, {"dtype": I64}),
        (rand(), 3),
        (rand(0, 2), 3, _LIKE),
    ],
    T.NewFullOp: [
        *((rand(2), [3], value) for value in _VALUES),
        (integers(2), [2, 2], 2.75),
        (rand(2), [], 3, {"dtype": I8, **_OPTIONS}),
        (rand(2), [0], 3),
    ],
    **{op: _SIZES for op in (T.ZerosOp, T.OnesOp)},
    **{op: _LIKES for op in (T.ZerosLikeOp, T.OnesLikeOp)},
    **{op: _NEW for op in (T.NewZerosOp, T.NewOnesOp)},
    # All values are right, so only tensors without elements can be compared.
    T.EmptyOp: [([0, 3],), ([2, 0], {"dtype": I8, "memory_format": pytorch.contiguous_format})],
    T.EmptyLikeOp: [(rand(0, 3),), (integers(0), {"dtype": BOOL, **_LIKE})],
    T.NewEmptyOp: [(rand(2), [0]), (integers(2), [2, 0], {"dtype": F16, **_OPTIONS})],
    T.ScalarTensorOp: [
        *((value,) for value in _VALUES),
        *((3, {"dtype": t}) for t in DTYPES),
        (2.75, {"dtype": I32, **_OPTIONS}),
    ],
    T.FillScalarOp: [
        *((rand(2, 3), value) for value in _VALUES),
        (rand(), 2),
        (rand(0), 2),
        (integers(2), 2.75),
        (rand(2).to(BF16), 0.1),
        (rand(2) > 0, 5),
    ],
    T.FillOp: [
        (rand(2, 3), rand()),
        (rand(), rand()),
        (rand(0), rand()),
        (integers(3), pytorch.tensor(-2.75)),
        (rand(3) > 0, pytorch.tensor(0.5)),
        (rand(3).to(F16), pytorch.tensor(2049)),
    ],
    T.ArangeOp: [
        *((end,) for end in (5, 5.0, 4.5, 0, 1, 0.0)),
        *((7, {"dtype": t}) for t in (*FLOATS, *INTEGERS)),
        (300, {"dtype": U8}),
        (2.7, {"dtype": I64}),
        (2.7, {"dtype": I32}),
        (5, _OPTIONS),
    ],
    T.ArangeStartOp: [
        (2, 7),
        (-3.0, 2),
        (0.25, 3.5),
        (-3, 3, {"dtype": U8}),
        (2**40, 2**40 + 3),
        (0.5, 5, {"dtype": I64}),
        (5, 5),
        (2, 7, {"dtype": F16, **_OPTIONS}),
    ],
    T.ArangeStepOp: [
        (0, 10, 3),
        (10, 0, -3),
        (0, 1, 0.1),
        (-2, 2, 0.01),
        (0.5, 7.3, 0.3, {"dtype": F64}),
        (0, 1, 0.1, {"dtype": F16}),
        (0, 1, 0.1, {"dtype": BF16}),
        (1, 5, 0.3, {"dtype": I32}),
        (1.5, 7, 2, {"dtype": I64}),
        (0, 300, 100, {"dtype": I8}),
        (5, 0, -0.5),
        (0, 4),
    ],
    T.LinspaceOp: [
        (0, 1, 5),
        (-3.3, 7.7, 37),
        (1, 0, 100),
        (2, 2, 3),
        (3, 4, 1),
        (3, 4, 0),
        (3, 4, 2),
        (-1.5, 7.25, 20, {"dtype": F64}),
        (-1.5, 7.25, 20, {"dtype": F16}),
        (-3.3, 7.7, 300, {"dtype": BF16}),
        (0, 10, 7, {"dtype": I64}),
        (0.5, 10.7, 4, {"dtype": I32}),
        (-10, 10, 6, {"dtype": I8}),
        (0, 5, 11, {"dtype": U8}),
        (0, 1, 5, _OPTIONS),
    ],
    T.EyeOp: [(3,), (1,), (0,), (2, _OPTIONS), *((2, {"dtype": t}) for t in DTYPES)],
    T.EyeMOp: [(2, 4), (4, 2), (3, 0), (2, 3, {"dtype": BOOL}), (2, 3, _OPTIONS)],
    T.ToCopyOp: [
        (rand(2, 3),),
        (rand(2, 3), _LIKE),
        (rand(1, 2, 3, 4), {"memory_format": pytorch.channels_last, "non_blocking": True}),
        *_CAST,
    ],
}

# Eager PyTorch's arange in vectors is less exact than in scalars; float64 has no wider type.
INEXACT: Classes = (T.ArangeStepOp, T.LinspaceOp)
