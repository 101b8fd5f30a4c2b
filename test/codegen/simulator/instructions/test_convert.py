# SPDX-License-Identifier: Apache-2.0
"""`cvt` between floats and integers, including values at the bounds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.codegen.simulator import Report, SimulatorError

Run = Callable[..., Report]

_FLOATS = np.array(
    [
        *(0, -0.0, 0.5, -0.5, 1.5, -1.5, 2.5, 1e9, -1e9, 2147483520.0, 2147483648.0, -2147483648.0),
        *(
            4294967040.0,
            4294967296.0,
            1e20,
            -1e20,
            np.inf,
            -np.inf,
            np.nan,
            1e-40,
            65504.0,
            65520.0,
        ),
        *(9.2e18, 9.223372e18, 1.8446744e19, 254.5, 255.5, 300.0, -1.0, 1 / 3),
    ],
    np.float32,
)


def _bounded(round: Callable[[Any], Any], low: int, high: int, nan: int) -> Callable[[Any], int]:
    def convert(x: float) -> int:
        if np.isnan(x):
            return nan
        return int(max(low, min(high, round(x)))) if np.isfinite(x) else (high if x > 0 else low)

    return convert


_S32 = (-(1 << 31), (1 << 31) - 1, 0)
_TO_INTEGER: dict[str, Callable[[Any], int]] = {
    "cvt.rni.s32.f32 %0, %1;": _bounded(np.rint, *_S32),
    "cvt.rzi.s32.f32 %0, %1;": _bounded(np.trunc, *_S32),
    "cvt.rmi.s32.f32 %0, %1;": _bounded(np.floor, *_S32),
    "cvt.rpi.s32.f32 %0, %1;": _bounded(np.ceil, *_S32),
    "cvt.rzi.u32.f32 %0, %1;": _bounded(np.trunc, 0, (1 << 32) - 1, 0),
    "{ .reg .u64 t; cvt.rzi.u64.f32 t, %1; shr.u64 t, t, 32; cvt.u32.u64 %0, t; }": lambda x: (
        _bounded(np.trunc, 0, (1 << 64) - 1, 1 << 63)(x) >> 32
    ),
    "{ .reg .s64 t; cvt.rzi.s64.f32 t, %1; shr.s64 t, t, 32; cvt.u32.u64 %0, t; }": lambda x: (
        _bounded(np.trunc, -(1 << 63), (1 << 63) - 1, -(1 << 63))(x) >> 32
    ),
    "{ .reg .u16 t; cvt.rzi.u8.f32 t, %1; cvt.u32.u16 %0, t; }": _bounded(np.trunc, 0, 255, 0),
}


@pytest.mark.parametrize("text", _TO_INTEGER)
def test_float_to_integer_stops_at_the_bounds(run: Run, text: str):
    y = np.zeros(len(_FLOATS), np.uint32)
    source = f"""(const float* x, unsigned* y) {{ unsigned r;
      asm("{text}" : "=r"(r) : "f"(x[threadIdx.x])); y[threadIdx.x] = r; }}"""
    assert run(source, _FLOATS, y, block=len(_FLOATS)).ok
    assert y.tolist() == [_TO_INTEGER[text](x) & 0xFFFFFFFF for x in _FLOATS]


_WORDS = np.array([0, 1, 16777217, 16777219, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 3], np.uint32)
_FROM_INTEGER: dict[str, Callable[[Any], Any]] = {
    "cvt.rn.f32.s32 %0, %1;": lambda x: x.view(np.int32).astype(np.float32),
    "cvt.rn.f32.u32 %0, %1;": lambda x: x.astype(np.float32),
    "cvt.rz.f32.u32 %0, %1;": lambda x: np.array(
        [0, 1, 16777216, 16777218, 2147483520, 2147483648, 4294967040, 3]
    ),
    "cvt.rp.f32.u32 %0, %1;": lambda x: np.array(
        [0, 1, 16777218, 16777220, 2147483648, 2147483648, 4294967296, 3]
    ),
    "{ .reg .s64 t; cvt.s64.s32 t, %1; cvt.rn.f32.s64 %0, t; }": lambda x: x.view(np.int32).astype(
        np.float32
    ),
}


@pytest.mark.parametrize("text", _FROM_INTEGER)
def test_integer_to_float_rounds_in_the_named_mode(run: Run, text: str):
    y = np.zeros(len(_WORDS), np.float32)
    source = f"""(const unsigned* x, float* y) {{ float r;
      asm("{text}" : "=f"(r) : "r"(x[threadIdx.x])); y[threadIdx.x] = r; }}"""
    assert run(source, _WORDS, y, block=len(_WORDS)).ok
    np.testing.assert_array_equal(y, _FROM_INTEGER[text](_WORDS))


def test_halves_and_bfloats(run: Run):
    source = """(const float* x, unsigned short* h, float* y) { int t = threadIdx.x;
      float v = x[t], a, b; unsigned short half, brain; unsigned pair;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(v));
      asm("cvt.f32.f16 %0, %1;" : "=f"(a) : "h"(half));
      asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(brain) : "f"(v));
      asm("cvt.f32.bf16 %0, %1;" : "=f"(b) : "h"(brain));
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(v), "f"(1.0f));
      h[t] = half; h[32 + t] = brain; h[64 + t] = pair >> 16; h[96 + t] = pair & 0xffff;
      y[t] = a; y[32 + t] = b; }"""
    values = [0, -1, 1 / 3, 1e-8, 65504, 1e9, np.inf, 1.00390625, 1.01171875]
    x = np.resize(np.array(values, np.float32), 32)
    h, y = np.zeros((4, 32), np.uint16), np.zeros((2, 32), np.float32)
    assert run(source, x, h, y).ok
    with np.errstate(over="ignore"):
        half = x.astype(np.float16)
    np.testing.assert_array_equal(h[0], half.view(np.uint16))
    np.testing.assert_array_equal(y[0], half.astype(np.float32))
    np.testing.assert_array_equal(h[1].astype(np.uint32) << 16, y[1].view(np.uint32))
    np.testing.assert_array_equal(h[2], h[1])
    assert (h[3] == 0x3F80).all()
    assert y[1, 7] == 1.0
    assert y[1, 8] == 1.015625
    finite = np.isfinite(x)
    np.testing.assert_allclose(y[1][finite], x[finite], rtol=2**-8)


_TF32 = {
    -0.0: -0.0,
    1 + 2.0**-11: 1 + 2.0**-10,  # ties go away from zero
    -1 - 2.0**-11: -1 - 2.0**-10,
    1 + 3 * 2.0**-11: 1 + 2.0**-9,
    1 + 2.0**-11 - 2.0**-23: 1.0,
    2 - 2.0**-23: 2.0,
    2.0**-140 + 2.0**-149: 0.0,
    2.0**-137: 2.0**-136,
    float(np.finfo(np.float32).max): np.inf,
    np.inf: np.inf,
    -np.inf: -np.inf,
    np.nan: np.nan,
}


def test_tf32_has_ten_bits_of_mantissa(run: Run):
    source = """(const float* x, unsigned* y) { unsigned r;
      asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x[threadIdx.x])); y[threadIdx.x] = r; }"""
    x, expected = (np.array([*each], np.float32) for each in (_TF32, _TF32.values()))
    y = np.zeros(len(x), np.uint32)
    assert run(source, x, y, block=len(x)).ok
    np.testing.assert_array_equal(y, expected.view(np.uint32))
    random = np.random.default_rng(2).integers(0, 1 << 32, 1024, np.uint32).view(np.float32)
    x, y = random[np.isfinite(random)], np.zeros(1024, np.uint32)
    assert run(source, x, y, block=len(x)).ok
    got, exact = y[: len(x)].view(np.float32).astype(np.float64), x.astype(np.float64)
    spacing = 2.0 ** np.maximum(np.floor(np.log2(np.abs(exact))) - 10, -136)
    np.testing.assert_array_equal(got / spacing, np.trunc(exact / spacing + np.copysign(0.5, x)))


@pytest.mark.parametrize("text", ["cvt.rn.tf32.f32", "cvt.rna.s32.f32", "cvt.rna.tf32.f16"])
def test_other_roundings_to_tf32_are_refused(run: Run, text: str):
    source = f"""(unsigned* y) {{ unsigned r = 0;
      asm volatile("{text} %0, %1;" : "=r"(r) : "r"(y[0])); y[0] = r; }}"""
    with pytest.raises(SimulatorError, match=f"line 2: .* does not know '{text}'"):
        run(source, np.zeros(1, np.uint32))


def test_doubles(run: Run):
    source = """(const double* x, double* y) { int t = threadIdx.x; double v = x[t];
      y[t] = v / 3 + sqrt(v) * 2 - fma(v, v, -1.0); y[32 + t] = (double)(float)v;
      y[64 + t] = (double)(long long)v; y[96 + t] = max(v, 5.0); }"""
    x = np.linspace(0.1, 12345.678, 32)
    y = np.zeros((4, 32))
    assert run(source, x, y).ok
    np.testing.assert_allclose(y[0], x / 3 + np.sqrt(x) * 2 - (x * x - 1), rtol=1e-15, atol=1e-7)
    np.testing.assert_array_equal(y[1:], [x.astype(np.float32), np.trunc(x), np.maximum(x, 5)])


def test_comparisons_with_nan(run: Run):
    names = ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu"]
    names += ["num", "nan"]
    lines = "".join(
        f'asm("{{ .reg .pred p; setp.{name}.f32 p, %1, %2; selp.u32 %0, 1, 0, p; }}" '
        f': "=r"(r) : "f"(v), "f"(w)); y[{number} * n + i] = r;\n'
        for number, name in enumerate(names)
    )
    source = f"""(const float* x, const float* z, unsigned* y, int n) {{
      int i = threadIdx.x; float v = x[i], w = z[i]; unsigned r; {lines} }}"""
    values = np.array([1, 2, np.nan, -0.0, 0, np.inf], np.float32)
    v, w = np.repeat(values, 6), np.tile(values, 6)
    y = np.zeros((len(names), 36), np.uint32)
    assert run(source, v, w, y, 36, block=36).ok
    nan = np.isnan(v) | np.isnan(w)
    ordered = {
        "eq": v == w,
        "ne": v != w,
        "lt": v < w,
        "le": v <= w,
        "gt": v > w,
        "ge": v >= w,
    }
    expected = [np.where(nan, False, ordered[name]) for name in names[:6]]
    expected += [np.where(nan, True, ordered[name[:2]]) for name in names[6:12]]
    expected += [~nan, nan]
    np.testing.assert_array_equal(y, expected)


def test_an_unknown_instruction_is_named_with_its_line(run: Run):
    source = """(unsigned* y) {
      unsigned r;
      asm("bmsk.clamp.b32 %0, %1, %1;" : "=r"(r) : "r"(7));
      y[0] = r; }"""
    with pytest.raises(SimulatorError, match=r"line 3: .* does not know 'bmsk.clamp.b32'"):
        run(source, np.zeros(1, np.uint32))


def test_a_known_instruction_with_an_unknown_modifier_is_refused(run: Run):
    source = """(unsigned* y) {
      unsigned r; asm("add.sat.s32 %0, %1, %1;" : "=r"(r) : "r"(7)); y[0] = r; }"""
    with pytest.raises(SimulatorError, match=r"add\.sat\.s32"):
        run(source, np.zeros(1, np.uint32))


def test_a_collective_with_an_unknown_modifier_is_refused(run: Run):
    source = """(float* y) { float r;
      asm("redux.sync.min.abs.f32 %0, %1, -1;" : "=f"(r) : "f"(y[threadIdx.x])); y[0] = r; }"""
    with pytest.raises(SimulatorError, match=r"line 2: .* 'redux\.sync\.min\.abs\.f32'"):
        run(source, np.zeros(32, np.float32))
