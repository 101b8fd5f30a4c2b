# SPDX-License-Identifier: Apache-2.0
"""Functions of `math` and `scalar` on f32 and f64: errors in units in the last place."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray

from .elementwise import DTYPES, Case, Elementwise
from .scalar_cases import ARITIES, FLOATS, FUNCTIONS

pytestmark = needs_nvrtc

Array = NDArray[Any]

mpmath: Any = import_module("mpmath")  # it has no type annotations

_erf = np.vectorize(math.erf, otypes=[float])
_erfc = np.vectorize(math.erfc, otypes=[float])


def _round(x: Array) -> Array:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) < 0.5, whole, whole + np.copysign(1, x))


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _real_cbrt(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _real_exp2(x: Any) -> Any:
    return mpmath.power(2, x)


def _real_log2(x: Any) -> Any:
    return mpmath.log(x, 2)


def _real_rsqrt(x: Any) -> Any:
    return 1 / mpmath.sqrt(x)


def _real_erfc(x: Any) -> Any:
    return mpmath.erfc(min(x, 100))  # it underflows long before


# Largest errors of results in f32 and f64: the CUDA C++ Programming Guide's tables of mathematical
# functions. References are mpmath's; at zeros and infinities they are those of C.
INEXACT: dict[str, tuple[int, int, Callable[..., Any], Callable[..., Any]]] = {
    "math.acos": (2, 2, mpmath.acos, np.arccos),
    "math.acosh": (4, 3, mpmath.acosh, np.arccosh),
    "math.asin": (2, 2, mpmath.asin, np.arcsin),
    "math.asinh": (3, 3, mpmath.asinh, np.arcsinh),
    "math.atan": (2, 2, mpmath.atan, np.arctan),
    "math.atan2": (3, 2, mpmath.atan2, np.arctan2),
    "math.atanh": (3, 2, mpmath.atanh, np.arctanh),
    "math.cbrt": (1, 1, _real_cbrt, np.cbrt),
    "math.cos": (2, 2, mpmath.cos, np.cos),
    "math.cosh": (2, 1, mpmath.cosh, np.cosh),
    "math.erf": (2, 2, mpmath.erf, _erf),
    "math.exp": (2, 1, mpmath.exp, np.exp),
    "math.exp2": (2, 1, _real_exp2, np.exp2),
    "math.expm1": (1, 1, mpmath.expm1, np.expm1),
    "math.log": (1, 1, mpmath.log, np.log),
    "math.log10": (2, 1, mpmath.log10, np.log10),
    "math.log1p": (1, 1, mpmath.log1p, np.log1p),
    "math.log2": (1, 1, _real_log2, np.log2),
    "math.powf": (4, 2, mpmath.power, np.power),
    "math.rsqrt": (2, 1, _real_rsqrt, _rsqrt),
    "math.sin": (2, 2, mpmath.sin, np.sin),
    "math.sinh": (3, 2, mpmath.sinh, np.sinh),
    "math.sqrt": (0, 0, mpmath.sqrt, np.sqrt),
    "math.tan": (4, 2, mpmath.tan, np.tan),
    "math.tanh": (2, 2, mpmath.tanh, np.tanh),
    "scalar.erfc": (4, 5, _real_erfc, _erfc),
}

# Functions with one right result.
EXACT: dict[str, Callable[..., Any]] = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.negf": np.negative,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "math.absf": np.abs,
    "math.ceil": np.ceil,
    "math.copysign": np.copysign,
    "math.floor": np.floor,
    "math.round": _round,
    "math.roundeven": np.rint,
    "math.trunc": np.trunc,
    "scalar.fmod": np.fmod,
}


def test_every_function_is_tested():
    assert {*INEXACT, *EXACT, "math.fma"} == ARITIES.keys()


@cache
def kernels() -> Elementwise:
    """Return one module with all kernels."""
    return Elementwise(list(FUNCTIONS.values()), 2048)


_SPECIAL = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 2.5, -2.5, 3.0, 127.5, math.inf, -math.inf, math.nan),
    *(0.49999997, 0.9999999, 1.0000001, 1e-7, -1e-7, 88.7, 89.0, -87.3, -104.0, 1e-40, -1e-45),
    *(8388609.5, 105615.0, 1e6, -1e10, 1.5e22, 1e30, 3.4e38, -3.4e38),
)
_SPECIAL_64 = (709.7, -745.0, 710.5, 1e-308, -5e-324, 1e300, -1.7e308, 2.0**53 - 1, 1e17)


@cache
def operands(type: str, arity: int) -> list[Array]:
    """
    Return all combinations of special values, values around one, and values of all magnitudes.
    """
    random = np.random.default_rng(3)
    special = np.array([*_SPECIAL, *(_SPECIAL_64 if type == "f64" else ())], DTYPES[type])
    few = special if arity < 3 else special[:9]
    combined = list(zip(*product(few.tolist(), repeat=arity), strict=True))
    size = 280 if type == "f64" else 60
    columns = [
        np.concatenate(
            [
                combined[i],
                random.uniform(-1, 1, 60),
                random.standard_normal(60) * 8,
                random.choice([-1, 1], 60) * np.exp(random.uniform(-size, size, 60)),
            ]
        ).astype(DTYPES[type])
        for i in range(arity)
    ]
    assert len(columns[0]) <= 2048
    return columns


def _units(values: Array, exact: Array) -> float:
    """Return the largest error in units in the last place."""
    unit = np.spacing(np.abs(exact)).astype(np.longdouble)
    return float(np.max(np.abs(values.astype(np.longdouble) - exact) / unit))


def _truth(function: Callable[..., Any], row: tuple[float, ...]) -> Any:
    """Return the real result, or None if there is none."""
    try:
        value = function(*map(mpmath.mpf, row))
    except (ValueError, ZeroDivisionError):
        return None
    return value if isinstance(value, mpmath.mpf) else None


@pytest.mark.one_in(3)
@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("name", INEXACT)
def test_function_is_as_exact_as_cuda_promises(name: str, type: str):
    *bounds, exact, library = INEXACT[name]
    inputs = operands(type, ARITIES[name])
    result = kernels().run(FUNCTIONS[name, type], *inputs)
    with np.errstate(all="ignore"):
        rounded = library(*(x.astype(np.float64) for x in inputs)).astype(result.dtype)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(rounded))
    ordinary = np.isfinite(rounded) & np.logical_and.reduce(
        [np.isfinite(x) & (x != 0) for x in inputs]
    )
    np.testing.assert_array_equal(result[~ordinary & (rounded == 0)], 0)
    special = ~ordinary & ~np.isnan(rounded)
    np.testing.assert_array_equal(np.signbit(result[special]), np.signbit(rounded[special]))
    np.testing.assert_allclose(
        result[special], rounded[special], rtol=4e-7 if type == "f32" else 1e-15
    )
    rows = list(zip(*(x[ordinary].tolist() for x in inputs), strict=True))
    with mpmath.workdps(40):
        truth = [_truth(exact, row) for row in rows]
        assert None not in truth
    nearest = np.array([float(value) for value in truth]).astype(result.dtype)
    assert _units(result[ordinary], nearest) <= bounds[FLOATS.index(type)]


@pytest.mark.parametrize("type", FLOATS)
@pytest.mark.parametrize("name", EXACT)
def test_function_with_one_right_result(name: str, type: str):
    inputs = operands(type, ARITIES[name])
    result = kernels().run(FUNCTIONS[name, type], *inputs)
    with np.errstate(all="ignore"):
        expected = EXACT[name](*inputs)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("type", FLOATS)
def test_fma_rounds_once(type: str):
    inputs = operands(type, 3)
    result = kernels().run(FUNCTIONS["math.fma", type], *inputs)
    with np.errstate(all="ignore"):
        rough = inputs[0] * inputs[1] + inputs[2]
    np.testing.assert_array_equal(np.isnan(result), np.isnan(rough))
    finite = np.isfinite(rough)
    rows = zip(*(x[finite].tolist() for x in inputs), strict=True)
    for value, (a, b, c) in zip(result[finite], rows, strict=True):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        away = [abs(Fraction(float(x)) - exact) for x in _neighbours(value)]
        assert abs(Fraction(float(value)) - exact) <= min(away)


def _neighbours(value: Any) -> list[Any]:
    """Return the finite neighbours of a value."""
    both = [np.nextafter(value, value.dtype.type(side)) for side in (-np.inf, np.inf)]
    return [x for x in both if np.isfinite(x)]


def test_an_exponential_may_be_approximate():
    case = Case("%r = math.exp %v0 fastmath<afn> : f32", ("f32",), "f32")
    (x,) = operands("f32", 1)
    result = Elementwise([case], 2048).run(case, x)
    with np.errstate(all="ignore"):
        exact = np.exp(x.astype(np.float64))
    np.testing.assert_array_equal(np.isnan(result), np.isnan(x))
    tiny, huge = exact < 2.0**-126, exact > np.finfo(np.float32).max
    np.testing.assert_array_equal(result[tiny], 0)
    np.testing.assert_array_equal(result[huge], np.inf)
    rest = ~tiny & ~huge & ~np.isnan(x)
    x, result, exact = x[rest], result[rest], exact[rest]
    assert np.all(np.abs(result - exact) <= exact * (2.0**-22 + np.abs(x) * 2.0**-23))
