# SPDX-License-Identifier: Apache-2.0
"""Functions of float32 and float64 compared with exact results, special values included."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.codegen.simulator import Report
from tilewright.rounding import (
    FusedMultiplyAdd,
    directed,
    directed_64,
    fma64,
    two_sum,
)

Run = Callable[..., Report]

_SPECIALS = np.array(
    [
        *(0.0, -0.0, 1, -1, 0.5, 2, 2.5, -2.5, 3.5, 127.5, np.inf, -np.inf, np.nan),
        *(1e-40, -1e-40, 1e-45, 1.1754944e-38, 3.4e38, -3.4e38, 1e-7, -1e-7, 0.9999999, 1.0000001),
        *(88.7, 88.8, -87.3, -103.0, -104.0, 105614.0, 1e6, -1e10, 1e30),
    ],
    np.float32,
)
_erf = np.vectorize(math.erf, otypes=[float])

# C expression of v (and w): its reference in float64, and the largest error in units in the last
# place. The bounds are those of CUDA 13's programming guide (Table "Single-Precision Mathematical
# Standard Library Functions").
_FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], float]] = {
    "v + w": (lambda v, w: v + w, 0.5),
    "v - w": (lambda v, w: v - w, 0.5),
    "v * w": (lambda v, w: v * w, 0.5),
    "v / w": (lambda v, w: v / w, 0.5),
    "1.0f / v": (lambda v, w: 1 / v, 0.5),
    "sqrtf(v)": (lambda v, w: np.sqrt(v), 0.5),
    "rsqrtf(v)": (lambda v, w: 1 / np.sqrt(v), 2),
    "expf(v)": (lambda v, w: np.exp(v), 2),
    "exp2f(v)": (lambda v, w: np.exp2(v), 2),
    "logf(v)": (lambda v, w: np.log(v), 1),
    "log2f(v)": (lambda v, w: np.log2(v), 1),
    "log1pf(v)": (lambda v, w: np.log1p(v), 1),
    "expm1f(v)": (lambda v, w: np.expm1(v), 1.5),
    "tanhf(v)": (lambda v, w: np.tanh(v), 2),
    "erff(v)": (lambda v, w: _erf(v), 2),
    "sinf(v)": (lambda v, w: np.sin(v), 2),
    "cosf(v)": (lambda v, w: np.cos(v), 2),
    "powf(v, w)": (lambda v, w: np.power(v, w), 4),
    "fmodf(v, w)": (lambda v, w: np.fmod(v, w), 0),
    "fmaxf(v, w)": (lambda v, w: np.fmax(v, w), 0),
    "fminf(v, w)": (lambda v, w: np.fmin(v, w), 0),
    "fabsf(v)": (lambda v, w: np.abs(v), 0),
    "copysignf(v, w)": (lambda v, w: np.copysign(v, w), 0),
    "floorf(v)": (lambda v, w: np.floor(v), 0),
    "ceilf(v)": (lambda v, w: np.ceil(v), 0),
    "truncf(v)": (lambda v, w: np.trunc(v), 0),
    "rintf(v)": (lambda v, w: np.rint(v), 0),
    "roundf(v)": (lambda v, w: np.copysign(np.floor(np.abs(v) + 0.5), v), 0),
    "(float)exp((double)v)": (lambda v, w: np.exp(v), 0.51),
}


def _operands() -> tuple[np.ndarray, np.ndarray]:
    """Return all pairs of special values, values around one, and values of all magnitudes."""
    rng = np.random.default_rng(7)
    count = len(_SPECIALS)
    spread = [rng.choice([-1, 1], 3000) * np.exp(rng.uniform(-85, 85, 3000)) for _ in range(2)]
    v = [np.repeat(_SPECIALS, count), rng.standard_normal(6000) * 8, spread[0]]
    w = [np.tile(_SPECIALS, count), rng.standard_normal(6000) * 3, spread[1]]
    return np.concatenate(v).astype(np.float32), np.concatenate(w).astype(np.float32)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("expression", _FUNCTIONS)
def test_function_is_as_exact_as_cuda_promises(run: Run, expression: str):
    reference, bound = _FUNCTIONS[expression]
    v, w = _operands()
    y = np.zeros_like(v)
    source = f"""(const float* x, const float* z, float* y, int n) {{
      int i = blockIdx.x * 256 + threadIdx.x;
      if (i < n) {{ float v = x[i], w = z[i]; y[i] = {expression}; }} }}"""
    report = run(source, v, w, y, len(v), grid=-(-len(v) // 256), block=256)
    assert report.ok, report.errors
    with np.errstate(all="ignore"):
        exact = reference(v.astype(float), w.astype(float))
        rounded = exact.astype(np.float32)
    np.testing.assert_array_equal(np.isnan(y), np.isnan(rounded))
    finite = np.isfinite(rounded)
    unit = np.spacing(np.abs(rounded[finite])).astype(float)
    assert np.max(np.abs(y[finite] - exact[finite]) / unit) <= bound
    np.testing.assert_array_equal(y[np.isinf(rounded)], rounded[np.isinf(rounded)])


def test_zeros_have_signs(run: Run):
    source = """(const float* x, float* y) { float v = x[threadIdx.x];
      y[threadIdx.x] = 1 / fmaxf(v, -v); y[32 + threadIdx.x] = 1 / fminf(v, -v);
      y[64 + threadIdx.x] = 1 / (v * 1e-30f * 1e-30f); }"""
    x = np.tile(np.array([0.0, -0.0], np.float32), 16)
    y = np.zeros((3, 32), np.float32)
    assert run(source, x, y).ok
    assert (y[0] == np.inf).all()
    assert (y[1] == -np.inf).all()
    np.testing.assert_array_equal(y[2], np.copysign(np.inf, x))


def test_the_maximum_that_keeps_nan(run: Run):
    source = """(const float* x, float* y) { float v = x[threadIdx.x], r, s;
      asm("max.NaN.f32 %0, %1, 0f3F800000;" : "=f"(r) : "f"(v));
      asm("min.NaN.f32 %0, %1, 0f3F800000;" : "=f"(s) : "f"(v));
      y[threadIdx.x] = r; y[32 + threadIdx.x] = s; }"""
    x = np.linspace(-3, 3, 32, dtype=np.float32)
    x[5] = np.nan
    y = np.zeros((2, 32), np.float32)
    assert run(source, x, y).ok
    np.testing.assert_array_equal(y, [np.maximum(x, 1), np.minimum(x, 1)])


def test_minima_of_magnitudes(run: Run):
    source = """(const float* x, float* y) { float v = x[threadIdx.x], r;
      asm("min.xorsign.abs.f32 %0, %1, 0f40000000;" : "=f"(r) : "f"(v));
      y[threadIdx.x] = r; }"""
    x = np.resize(np.array([1.5, -1.5, 3, -3, np.inf, -np.inf, -0.0, np.nan], np.float32), 32)
    y = np.zeros(32, np.float32)
    assert run(source, x, y).ok
    np.testing.assert_array_equal(y[:7], np.clip(x[:7], -2, 2))
    assert np.signbit(y[6])
    assert abs(y[7]) == 2


def test_flushing_and_saturating_forms(run: Run):
    source = """(const float* x, float* y) { float v = x[threadIdx.x], r, s, t;
      asm("add.ftz.f32 %0, %1, 0f00000000;" : "=f"(r) : "f"(v));
      asm("add.sat.f32 %0, %1, 0f00000000;" : "=f"(s) : "f"(v));
      asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(t) : "f"(v));
      y[threadIdx.x] = r; y[32 + threadIdx.x] = s; y[64 + threadIdx.x] = t; }"""
    x = np.resize(np.array([1e-40, -1e-40, 2, -2, 0.25, np.nan, -126.5, 3e38], np.float32), 32)
    y = np.zeros((3, 32), np.float32)
    assert run(source, x, y).ok
    np.testing.assert_array_equal(y[0], np.where(np.abs(x) < 1e-38, 0, x))
    np.testing.assert_array_equal(y[1], np.nan_to_num(np.clip(x, 0, 1)))
    assert y[2, 6] == 0
    assert y[2, 7] == np.inf


_floats = st.floats(
    width=32, allow_nan=False, allow_infinity=False, min_value=-(2.0**60), max_value=2.0**60
)
_normal = _floats.filter(lambda x: x == 0 or abs(x) > 1e-15)


def _exactly(*values: float) -> np.float32:
    """Return a * b + c rounded once to float32, to nearest even, by exact fractions."""
    a, b, c = (Fraction(value) for value in values)
    exact = a * b + c
    nearest = np.float32(float(exact))
    down, up = (np.nextafter(nearest, np.float32(side)) for side in (-np.inf, np.inf))
    around = [down, nearest, up]
    best = min(abs(Fraction(float(x)) - exact) for x in around)
    close = [x for x in around if abs(Fraction(float(x)) - exact) == best]
    return next((x for x in close if not x.view(np.uint32) & 1), close[0])


@given(a=_normal, b=_normal, c=_normal)
@settings(derandomize=True, max_examples=drawn(400))
def test_fma_rounds_once(a: float, b: float, c: float):
    operands = [np.array([value], np.float32) for value in (a, b, c)]
    result = np.zeros(1, np.float32)
    FusedMultiplyAdd(1)(operands[0], operands[1], operands[2], result)
    assert result[0] == _exactly(a, b, c)


def test_fma_at_the_middle_between_two_floats():
    """The sum's first 53 bits are a tie that the rest decides; plain double rounding fails here."""
    a = np.array([1 + 2**-12, 1 + 2**-12], np.float32)
    b = np.array([1 + 2**-12, 1 + 2**-12], np.float32)
    c = np.array([2**-60, -(2**-60)], np.float32)
    product = np.array([2**-24 + 2**-11 + 1], np.float64)
    assert product.astype(np.float32) == np.float32(1 + 2**-11)
    result = np.zeros(2, np.float32)
    FusedMultiplyAdd(2)(a, b, c, result)
    assert result.tolist() == [1 + 2**-11 + 2**-23, 1 + 2**-11]


@given(a=_normal, b=_normal, mode=st.sampled_from(["rz", "rm", "rp"]))
@settings(derandomize=True, max_examples=drawn(300))
def test_directed_rounding_brackets_the_exact_sum(a: float, b: float, mode: str):
    total, error = two_sum(np.array([a]), np.array([b]))
    result = directed(total, error, mode)[0]
    exact = Fraction(a) + Fraction(b)
    towards = {"rm": -np.inf, "rp": np.inf, "rz": 0}[mode]
    inward = -towards if mode != "rz" else math.copysign(np.inf, exact)
    beyond = np.nextafter(result, np.float32(inward))
    low, high = sorted([Fraction(float(result)), Fraction(float(beyond))])
    assert Fraction(float(result)) == exact or low < exact < high


_doubles = st.floats(allow_nan=False, allow_infinity=False)


@given(a=_doubles, b=_doubles, c=_doubles)
@settings(derandomize=True, max_examples=drawn(600))
def test_fma_of_doubles_rounds_once(a: float, b: float, c: float):
    with np.errstate(all="ignore"):
        result = fma64(np.array([a]), np.array([b]), np.array([c])).item()
    _assert_nearest(result, Fraction(a) * Fraction(b) + Fraction(c))


def test_fma_of_doubles_at_the_middle_between_two():
    """The product is a tie, broken by an addend that a plain sum would lose."""
    a, b = np.full(3, 1 + 2**-26), np.full(3, 1 + 2**-27)
    c = np.array([0.0, 2.0**-200, -(2.0**-200)])
    exact = [Fraction(1 + 2**-26) * Fraction(1 + 2**-27) + Fraction(x) for x in c.tolist()]
    result = fma64(a, b, c)
    assert result[1] > result[2]
    for value, truth in zip(result.tolist(), exact, strict=True):
        _assert_nearest(value, truth)


def test_fma_of_doubles_gives_the_error_of_a_product():
    a, b = np.array([0.1, 1e200]), np.array([0.3, 1e-300])
    result = fma64(a, b, -(a * b))
    for value, x, y in zip(result.tolist(), a.tolist(), b.tolist(), strict=True):
        assert Fraction(value) == Fraction(x) * Fraction(y) - Fraction(x * y) != 0


def test_fma_of_doubles_keeps_special_values():
    a = np.array([-0.0, 0.0, math.inf, math.inf, 1e300, 1e300, math.nan])
    b = np.array([1.0, -1.0, 1.0, 0.0, 1e300, 1e300, 1.0])
    c = np.array([-0.0, -0.0, -math.inf, 1.0, 1.0, -math.inf, 1.0])
    with np.errstate(all="ignore"):
        result = fma64(a, b, c)
    assert [math.copysign(1, x) for x in result[:2]] == [-1, -1]
    np.testing.assert_array_equal(result[2:], [math.nan] * 2 + [math.inf, -math.inf, math.nan])


def _assert_nearest(result: float, exact: Fraction) -> None:
    """
    Assert that no neighbour is nearer to `exact`; subnormal results may be off by one unit more.
    """
    if math.isinf(result):
        assert abs(exact) >= Fraction(np.finfo(float).max)
        return
    unit = 2 if abs(result) < 2.0**-1020 else 1
    around = [math.nextafter(result, side) for side in (-math.inf, math.inf)]
    gaps = [abs(Fraction(x) - exact) for x in around if math.isfinite(x)]
    assert abs(Fraction(result) - exact) <= unit * min(gaps)


_halves = st.floats(min_value=-(2.0**1022), max_value=2.0**1022)


@given(a=_halves, b=_halves, mode=st.sampled_from(["rz", "rm", "rp"]))
@settings(derandomize=True, max_examples=drawn(300))
def test_directed_rounding_of_doubles_brackets_the_sum(a: float, b: float, mode: str):
    with np.errstate(all="ignore"):
        total, error = two_sum(np.array([a]), np.array([b]))
        result = directed_64(total, error, mode).item()
    exact = Fraction(a) + Fraction(b)
    towards = {"rm": -math.inf, "rp": math.inf, "rz": 0}[mode]
    inward = -towards if mode != "rz" else math.copysign(math.inf, exact)
    beyond = Fraction(math.nextafter(result, inward))
    low, high = sorted([Fraction(result), beyond])
    assert Fraction(result) == exact or low < exact < high
