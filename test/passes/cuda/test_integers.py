# SPDX-License-Identifier: Apache-2.0
"""Integer and bool arithmetic: each operation, also on bounds, compared with Python's integers."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray

from .elementwise import DTYPES, Elementwise
from .scalar_cases import (
    ARITHMETIC,
    COMPARISONS,
    CONSTANTS,
    INTEGER_CASES,
    INTEGERS,
    ON_BOOLS,
    ON_INTEGERS,
    PREDICATES,
)

pytestmark = needs_nvrtc

Array = NDArray[Any]
Binary = Callable[[int, int], int]
Rows = Sequence[tuple[int, ...]]


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _power(a: int, b: int) -> int:
    """Return a power as PyTorch: negative powers are 0, except those of 1 and -1."""
    if b >= 0:
        return pow(a, b, 2**64)
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


WRAPPING: dict[str, Binary] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.maxsi": max,
    "arith.minsi": min,
    "arith.andi": lambda a, b: a & b,
    "arith.ori": lambda a, b: a | b,
    "arith.xori": lambda a, b: a ^ b,
    "math.ipowi": _power,
}

# Divisors are not 0, and the lowest integer is not divided by -1.
DIVISIONS: dict[str, Binary] = {
    "arith.divsi": _quotient,
    "arith.floordivsi": lambda a, b: a // b,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.remsi": lambda a, b: a - b * _quotient(a, b),
}

SHIFTS: dict[str, Callable[[int, int, int], int]] = {
    "arith.shli": lambda a, b, bits: a << b if 0 <= b < bits else 0,
    "arith.shrsi": lambda a, b, bits: a >> (b if 0 <= b < bits else bits),
    "arith.shrui": lambda a, b, bits: (a % 2**bits) >> b if 0 <= b < bits else 0,
}

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def test_every_operation_is_tested():
    assert {*WRAPPING, *DIVISIONS, *SHIFTS} == set(ON_INTEGERS)


@cache
def kernels() -> Elementwise:
    """Return one module with all kernels."""
    return Elementwise(INTEGER_CASES, 512)


def bits_of(type: str) -> int:
    """Return the number of bits of an integer type."""
    return 1 if type == "i1" else 8 * DTYPES[type].itemsize


def wrapped(value: int, bits: int) -> int:
    """Return the integer of `bits` bits that `value` wraps around to."""
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def pairs(type: str) -> Rows:
    """Return all pairs of awkward integers."""
    high = 2 ** (bits_of(type) - 1) - 1
    return list(
        product([0, 1, -1, 2, -2, 3, -7, 10, 1000, -54321, high, high - 1, -high - 1], repeat=2)
    )


def columns(rows: Rows, type: str) -> list[Array]:
    """Return the operands as arrays."""
    return [np.array(column, DTYPES[type]) for column in zip(*rows, strict=True)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("type", INTEGERS)
@pytest.mark.parametrize("op", WRAPPING)
def test_arithmetic_that_wraps(op: str, type: str):
    rows = pairs(type)
    result = kernels().run(ARITHMETIC[op, type], *columns(rows, type))
    assert result.tolist() == [wrapped(WRAPPING[op](a, b), bits_of(type)) for a, b in rows]


@pytest.mark.parametrize("type", INTEGERS)
@pytest.mark.parametrize("op", DIVISIONS)
def test_division(op: str, type: str):
    low = -(2 ** (bits_of(type) - 1))
    rows = [(a, b) for a, b in pairs(type) if b and (a, b) != (low, -1)]
    result = kernels().run(ARITHMETIC[op, type], *columns(rows, type))
    assert result.tolist() == [DIVISIONS[op](a, b) for a, b in rows]


@pytest.mark.parametrize("type", INTEGERS)
@pytest.mark.parametrize("op", SHIFTS)
def test_shifts_of_any_length(op: str, type: str):
    bits = bits_of(type)
    amounts = [0, 1, 5, bits - 1, bits, bits + 1, -1, -bits]
    rows = [(a, b) for a, _ in pairs(type)[::13] for b in amounts]
    result = kernels().run(ARITHMETIC[op, type], *columns(rows, type))
    assert result.tolist() == [wrapped(SHIFTS[op](a, b, bits), bits) for a, b in rows]


@pytest.mark.parametrize("type", INTEGERS)
def test_absolute_value(type: str):
    rows = pairs(type)[::13]
    result = kernels().run(ARITHMETIC["math.absi", type], columns(rows, type)[0])
    assert result.tolist() == [wrapped(abs(a), bits_of(type)) for a, _ in rows]


@pytest.mark.parametrize("type", [*INTEGERS, "i1"])
@pytest.mark.parametrize("predicate", PREDICATES)
def test_comparison(predicate: str, type: str):
    rows = pairs(type) if type != "i1" else list(product((0, -1), repeat=2))
    result = kernels().run(COMPARISONS[predicate, type], *columns(rows, type))
    modulus = 2 ** bits_of(type) if predicate.startswith("u") else 0
    compare = COMPARE[predicate[-2:]]
    seen = [(a % modulus, b % modulus) if modulus else (a, b) for a, b in rows]
    assert result.tolist() == [compare(a, b) for a, b in seen]


@pytest.mark.parametrize("op", ON_BOOLS)
def test_single_bits(op: str):
    rows = list(product((0, 1), repeat=2))
    result = kernels().run(ARITHMETIC[op, "i1"], *columns(rows, "i1"))
    assert result.tolist() == [bool(WRAPPING[op](a, b) & 1) for a, b in rows]


@pytest.mark.parametrize("constant", CONSTANTS)
def test_constants_of_64_bits(constant: int):
    x = np.array([0, -1, math.isqrt(2**62)], np.int64)
    result = kernels().run(CONSTANTS[constant], x)
    assert result.tolist() == [value ^ constant for value in x.tolist()]
