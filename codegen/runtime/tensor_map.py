# SPDX-License-Identifier: Apache-2.0
"""
Arguments of cuTensorMapEncodeTiled for a tensor map of a launch plan.

Reference: CUDA driver API, section "Tensor Map Object Management"; enumerations as in `cuda.h`.
"""

from collections.abc import Mapping
from itertools import accumulate
from operator import mul
from typing import NamedTuple

from tilewright.codegen.launch_plan import MapOf

MAP_BYTES = 128
"""Bytes of a CUtensorMap, and its alignment, which is 64 before CUDA 13."""

_DTYPES: Mapping[str, int] = {
    "uint8": 0,
    "int8": 0,  # the copy does not interpret the bytes
    "bool": 0,
    "uint16": 1,
    "int16": 1,
    "uint32": 2,
    "int32": 3,
    "uint64": 4,
    "int64": 5,
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "bfloat16": 9,
}
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
_L2_PROMOTION_128B = 2


class Encoding(NamedTuple):
    """A tensor map as arguments of the driver, axes innermost first."""

    dtype: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    """Strides in bytes of all axes except the innermost."""
    box: tuple[int, ...]
    swizzle: int
    l2_promotion: int = _L2_PROMOTION_128B


def encoding(map: MapOf, dtype: str, itemsize: int) -> Encoding:
    """Return the driver's arguments for a tensor map."""
    extents = map.shape[::-1]
    row_major = accumulate(extents[:-1], mul, initial=1)
    strides = tuple(n * itemsize for n in map.strides[::-1] or row_major)[1:]
    return Encoding(_DTYPES[dtype], extents, strides, map.box[::-1], _SWIZZLES[map.swizzle])
