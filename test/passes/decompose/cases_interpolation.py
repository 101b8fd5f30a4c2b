# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that resize."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T
from tilewright.dialects.torch.interpolation import CubicResizeOp, LinearResizeOp

from .inputs import Cases, Classes, pytorch, rand

F64, F16, BF16 = pytorch.float64, pytorch.float16, pytorch.bfloat16
BYTES = pytorch.arange(12, dtype=pytorch.uint8).reshape(1, 2, 6)

# Sizes of one axis, before and after: same, twice, half, odd ratios, from and to one.
SIZES = [(4, 4), (4, 8), (6, 3), (5, 7), (7, 5), (1, 3), (5, 1), (10, 29), (29, 10)]
FACTORS = [(4, 2.0), (4, 1.5), (5, 1.5), (5, 0.7), (7, 0.3), (9, 1.1), (3, 2.7), (6, 0.5)]


def special() -> Any:
    """Return a sequence with infinity and NaN, which spread by weighted sums."""
    x = rand(1, 2, 6)
    x[0, 0, 2], x[0, 1, 3] = inf, nan
    return x


def plain_1d(*more: Any) -> list[tuple[Any, ...]]:
    """Return calls of a plain overload on sequences; `more` stands before the scales."""
    return [
        *((rand(2, 1, size), [to], *more) for size, to in SIZES),
        *((rand(1, 1, size), [int(size * by)], *more, by) for size, by in FACTORS),
        (rand(0, 3, 4), [8], *more),
        (rand(1, 1, 5), [7], *more, -1.0),
        (special(), [9], *more),
        (special(), [6], *more),
        *((rand(1, 1, 5).to(dtype), [8], *more) for dtype in (F64, F16, BF16)),
    ]


def vec_1d(*more: Any) -> list[tuple[Any, ...]]:
    """Return calls of a `.vec` overload on sequences."""
    return [
        *((rand(2, 1, size), [to], *more, None) for size, to in SIZES[2:5]),
        *((rand(1, 1, size), None, *more, [by]) for size, by in FACTORS),
    ]


def images(*more: Any) -> list[tuple[Any, ...]]:
    """Return calls of a plain overload on images."""
    return [
        (rand(1, 2, 3, 4), [6, 8], *more),
        (rand(2, 1, 5, 3), [4, 7], *more),
        (rand(1, 1, 5, 6), [7, 4], *more, 1.5, 0.7),
    ]


def vec_images(*more: Any) -> list[tuple[Any, ...]]:
    """Return calls of a `.vec` overload on images."""
    return [
        (rand(1, 2, 3, 4), None, *more, [2.0, 2.0]),
        (rand(1, 2, 3, 5), None, *more, [1.5, 0.7]),
        (rand(1, 2, 3, 5), [2, 8], *more, None),
    ]


def volumes(*more: Any) -> list[tuple[Any, ...]]:
    """Return calls of a plain overload on volumes."""
    return [
        (rand(1, 1, 2, 3, 4), [4, 6, 8], *more),
        (rand(1, 2, 3, 2, 3), [2, 3, 5], *more, 0.7, 1.5, 1.7),
    ]


def vec_volumes(*more: Any) -> list[tuple[Any, ...]]:
    """Return calls of a `.vec` overload on volumes."""
    return [
        (rand(1, 1, 2, 3, 4), None, *more, [2.0, 1.5, 0.5]),
        (rand(1, 1, 2, 3, 4), [3, 3, 3], *more, None),
    ]


def both(cases: Any) -> list[tuple[Any, ...]]:
    """Return the cases for aligned and for unaligned corners."""
    return [case for align_corners in (False, True) for case in cases(align_corners)]


CASES: Cases = {
    **{
        op: [*plain_1d(), (BYTES, [9]), (BYTES, [12])]
        for op in (T.UpsampleNearest1dOp, T.UpsampleNearestExact1dOp)
    },
    **{op: vec_1d() for op in (T.UpsampleNearest1dVecOp, T.UpsampleNearestExact1dVecOp)},
    **{op: images() for op in (T.UpsampleNearest2dOp, T.UpsampleNearestExact2dOp)},
    **{op: vec_images() for op in (T.UpsampleNearest2dVecOp, T.UpsampleNearestExact2dVecOp)},
    **{op: volumes() for op in (T.UpsampleNearest3dOp, T.UpsampleNearestExact3dOp)},
    **{op: vec_volumes() for op in (T.UpsampleNearest3dVecOp, T.UpsampleNearestExact3dVecOp)},
    T.UpsampleLinear1dOp: both(plain_1d),
    T.UpsampleLinear1dVecOp: both(vec_1d),
    T.UpsampleBilinear2dOp: both(images),
    T.UpsampleBilinear2dVecOp: both(vec_images),
    T.UpsampleTrilinear3dOp: both(volumes),
    T.UpsampleTrilinear3dVecOp: both(vec_volumes),
    T.UpsampleBicubic2dOp: [
        *images(False)[1:],
        (rand(1, 1, 3, 3), [5, 4], True),
        (rand(1, 1, 3, 3).to(F64), [5, 4], False),
    ],
    T.UpsampleBicubic2dVecOp: vec_images(False)[1:2],
}

INEXACT: Classes = (LinearResizeOp, CubicResizeOp)
