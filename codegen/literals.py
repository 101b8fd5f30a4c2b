# SPDX-License-Identifier: Apache-2.0
"""Constants as C++ text: the shortest text that reads back as the same value."""

from ctypes import c_float
from functools import lru_cache
from math import copysign, isinf, isnan

from xdsl.dialects.builtin import Float32Type, FloatAttr, IntegerAttr, IntegerType, bf16, f16
from xdsl.ir import Attribute

_HALVES: dict[Attribute, str] = {f16: "half", bf16: "bfloat16"}


@lru_cache(maxsize=1 << 12)  # a literal is printed wherever it is used
def literal(value: IntegerAttr | FloatAttr) -> str:
    """
    Return the C++ text of a constant: `1.0f`, `0.1`, `-3`, `5LL`, `true`.

    Infinity and NaN are calls of functions in the prelude. Constants of half types are given by
    their bits: `half{0x3c00}` is 1.
    """
    if isinstance(value, FloatAttr):
        if (name := _HALVES.get(value.type)) is not None:
            return f"{name}{{{_bits(value):#x}}}"
        return _float(value.value.data, isinstance(value.type, Float32Type))
    type = value.type
    assert isinstance(type, IntegerType)
    return _integer(value.value.data, type.width.data)


def _integer(value: int, width: int) -> str:
    if width == 1:
        return "true" if value else "false"
    suffix = "LL" if width == 64 else ""
    if value == -(2 ** (width - 1)):  # the positive number would not fit the type
        return f"({value + 1}{suffix} - 1)"
    return f"{value}{suffix}"


def _bits(value: FloatAttr) -> int:
    return int.from_bytes(value.type.pack((value.value.data,)), "little")


def _float(value: float, is_single: bool) -> str:
    if is_single:
        value = c_float(value).value  # rounded, as the compiler rounds
    if isnan(value):
        return "quiet_nan()"
    if isinf(value):
        return "infinity()" if value > 0 else "-infinity()"
    if value == 0:
        return ("-" if copysign(1.0, value) < 0 else "") + ("0.0f" if is_single else "0.0")
    return f"{_shortest_single(value)}f" if is_single else repr(value)


def _shortest_single(value: float) -> str:
    numbers = (float(f"{value:.{digits}g}") for digits in range(1, 10))
    return repr(next(number for number in numbers if c_float(number).value == value))
