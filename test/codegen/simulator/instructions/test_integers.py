# SPDX-License-Identifier: Apache-2.0
"""Integer arithmetic, bit fields and conversions, compared with Python's integers."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from tilewright.codegen.simulator import Report

Run = Callable[..., Report]

_EDGES = [0, 1, 2, 3, 7, 31, 32, 255, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF, 0xFFFFFFFE]
_WORDS = [*_EDGES, *np.random.default_rng(3).integers(0, 1 << 32, 40).tolist()]
PAIRS = [(a, b) for a in _WORDS for b in _WORDS]


def _signed(x: int, bits: int = 32) -> int:
    return (x & (1 << bits) - 1) - ((x >> bits - 1 & 1) << bits)


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _permuted(a: int, b: int, selector: int) -> int:
    octets = (a | b << 32).to_bytes(8, "little")
    result = 0
    for place in range(4):
        nibble = selector >> 4 * place & 15
        octet = octets[nibble & 7]
        if nibble & 8:
            octet = 255 if octet & 128 else 0
        result |= octet << 8 * place
    return result


def _dot(a: int, b: int, count: int, signed: bool = False, signed_bytes: bool = False) -> int:
    """Return the dot product of the `count` parts of `a` and the lowest bytes of `b`."""
    bits = 32 // count
    parts = [a >> bits * i & (1 << bits) - 1 for i in range(count)]
    octets = [b >> 8 * i & 255 for i in range(count)]
    left = [_signed(part, bits) if signed else part for part in parts]
    right = [_signed(octet, 8) if signed_bytes else octet for octet in octets]
    return sum(x * y for x, y in zip(left, right, strict=True))


# A C expression of unsigned a, b and signed s, t, and its value modulo 2**32.
_EXPRESSIONS: dict[str, Callable[[int, int], int]] = {
    "a + b": lambda a, b: a + b,
    "a - b": lambda a, b: a - b,
    "a * b": lambda a, b: a * b,
    "a / (b | 1)": lambda a, b: a // (b | 1),
    "a % (b | 1)": lambda a, b: a % (b | 1),
    "s / (t | 1)": lambda a, b: _truncated(_signed(a), _signed(b | 1)),
    "s % (t | 1)": lambda a, b: int(math.fmod(_signed(a), _signed(b | 1))),
    "s / 7": lambda a, b: _truncated(_signed(a), 7),
    "a % 10": lambda a, b: a % 10,
    "__umulhi(a, b)": lambda a, b: a * b >> 32,
    "__mulhi(s, t)": lambda a, b: _signed(a) * _signed(b) >> 32,
    "min(s, t)": lambda a, b: min(_signed(a), _signed(b)),
    "max(a, b)": lambda a, b: max(a, b),
    "abs(s)": lambda a, b: abs(_signed(a)),
    "a << (b & 31)": lambda a, b: a << (b & 31),
    "a >> (b & 31)": lambda a, b: a >> (b & 31),
    "s >> (b & 31)": lambda a, b: _signed(a) >> (b & 31),
    "(a >> 5) & 63": lambda a, b: a >> 5 & 63,
    "__popc(a)": lambda a, b: a.bit_count(),
    "__clz(a)": lambda a, b: 32 - a.bit_length(),
    "__ffs(a)": lambda a, b: (a & -a).bit_length(),
    "__brev(a)": lambda a, b: int(f"{a:032b}"[::-1], 2),
    "__byte_perm(a, b, 0x3715)": lambda a, b: _permuted(a, b, 0x3715),
    "__funnelshift_l(a, b, 9)": lambda a, b: (b << 32 | a) << 9 >> 32,
    "__funnelshift_r(a, b, b)": lambda a, b: (b << 32 | a) >> (b & 31),
    "a > b ? a ^ b : ~(a & b)": lambda a, b: a ^ b if a > b else ~(a & b),
    "s < t": lambda a, b: _signed(a) < _signed(b),
    "(unsigned)((unsigned long long)a * b >> 20)": lambda a, b: a * b >> 20,
    "(unsigned)((long long)s * t >> 40)": lambda a, b: _signed(a) * _signed(b) >> 40,
    "(unsigned)(((unsigned long long)a << 32 | b) / (b | 1ull))": lambda a, b: (
        (a << 32 | b) // (b | 1)
    ),
    "(unsigned)__umul64hi((unsigned long long)a << 32 | b, (unsigned long long)b << 31)": (
        lambda a, b: (a << 32 | b) * (b << 31) >> 64
    ),
    "(unsigned)__mul64hi((long long)s << 32, (long long)t << 31)": lambda a, b: (
        (_signed(a) << 32) * _signed(_signed(b) << 31, 64) >> 64
    ),
    "(unsigned)(unsigned char)a + (unsigned)(int)(signed char)b": lambda a, b: (
        (a & 255) + _signed(b & 255, 8)
    ),
    "(unsigned)(int)(short)a * (unsigned)(unsigned short)b": lambda a, b: (
        _signed(a & 0xFFFF, 16) * (b & 0xFFFF)
    ),
    "__clzll((unsigned long long)a << 16)": lambda a, b: 64 - (a << 16).bit_length(),
    "__popcll((unsigned long long)a << 16 | b)": lambda a, b: (a << 16 | b).bit_count(),
    "(unsigned)__brevll((unsigned long long)a << 16)": lambda a, b: int(f"{a << 16:064b}"[::-1], 2),
}


def test_every_expression(run: Run):
    """All expressions in one kernel, for all pairs of edge values and random words."""
    a = np.array([pair[0] for pair in PAIRS], np.uint32)
    b = np.array([pair[1] for pair in PAIRS], np.uint32)
    y = np.zeros((len(_EXPRESSIONS), len(PAIRS)), np.uint32)
    lines = "".join(
        f"y[{number} * n + i] = (unsigned)({text});\n" for number, text in enumerate(_EXPRESSIONS)
    )
    source = f"""(const unsigned* x, const unsigned* z, unsigned* y, int n) {{
      int i = blockIdx.x * 128 + threadIdx.x; if (i >= n) return;
      unsigned a = x[i], b = z[i]; int s = a, t = b; {lines} }}"""
    report = run(source, a, b, y, len(PAIRS), grid=-(-len(PAIRS) // 128), block=128)
    assert report.ok, report.errors
    for (text, function), row in zip(_EXPRESSIONS.items(), y.tolist(), strict=True):
        expected = [int(function(p, q)) & 0xFFFFFFFF for p, q in PAIRS]
        wrong = [i for i in range(len(PAIRS)) if row[i] != expected[i]]
        assert not wrong, (text, PAIRS[wrong[0]], row[wrong[0]], expected[wrong[0]])


_PTX: dict[str, Callable[[int, int], int]] = {
    "bfe.u32 %0, %1, %2, 9;": lambda a, b: a >> min(b & 255, 32) & 511,
    "dp2a.lo.u32.u32 %0, %1, %2, %1;": lambda a, b: _dot(a, b, 2) + a,
    "dp2a.hi.u32.u32 %0, %1, %2, %1;": lambda a, b: _dot(a, b >> 16, 2) + a,
    "dp2a.lo.s32.u32 %0, %1, %2, %1;": lambda a, b: _dot(a, b, 2, signed=True) + a,
    "dp2a.lo.u32.s32 %0, %1, %2, 5;": lambda a, b: _dot(a, b, 2, signed_bytes=True) + 5,
    "dp4a.u32.u32 %0, %1, %2, %1;": lambda a, b: _dot(a, b, 4) + a,
    "dp4a.s32.s32 %0, %1, %2, %2;": lambda a, b: _dot(a, b, 4, True, True) + b,
    "bfe.s32 %0, %1, 4, 9;": lambda a, b: _signed(a >> 4 & 511, 9),
    "bfe.s32 %0, %1, 28, 9;": lambda a, b: _signed(a) >> 28,
    "bfi.b32 %0, %1, %2, 8, 12;": lambda a, b: b & ~0xFFF00 | (a & 0xFFF) << 8,
    "lop3.b32 %0, %1, %2, 0xF0F0F0F0, 0x96;": lambda a, b: a ^ b ^ 0xF0F0F0F0,
    "lop3.b32 %0, %1, %2, 0xF0F0F0F0, 0xCA;": lambda a, b: a & b | ~a & 0xF0F0F0F0,
    "bfind.u32 %0, %1;": lambda a, b: a.bit_length() - 1,
    "bfind.s32 %0, %1;": lambda a, b: (a if a < 1 << 31 else ~a & 0xFFFFFFFF).bit_length() - 1,
    "shf.l.clamp.b32 %0, %1, %2, 40;": lambda a, b: a,
    "shl.b32 %0, %1, 40;": lambda a, b: 0,
    "shr.s32 %0, %1, 40;": lambda a, b: -(a >> 31),
    "slct.u32.s32 %0, %1, %2, %2;": lambda a, b: a if b < 1 << 31 else b,
    "set.gt.u32.s32 %0, %1, %2;": lambda a, b: -(_signed(a) > _signed(b)),
    "cnot.b32 %0, %1;": lambda a, b: a == 0,
    "mad.hi.u32 %0, %1, %2, 5;": lambda a, b: (a * b >> 32) + 5,
    "div.u32 %0, %1, 0;": lambda a, b: 0xFFFFFFFF,
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("text", _PTX)
def test_instruction(run: Run, text: str):
    a = np.array([pair[0] for pair in PAIRS], np.uint32)
    b = np.array([pair[1] for pair in PAIRS], np.uint32)
    y = np.zeros_like(a)
    source = f"""(const unsigned* x, const unsigned* z, unsigned* y, int n) {{
      int i = blockIdx.x * 128 + threadIdx.x; if (i >= n) return; unsigned r;
      asm("{text}" : "=r"(r) : "r"(x[i]), "r"(z[i])); y[i] = r; }}"""
    run(source, a, b, y, len(PAIRS), grid=-(-len(PAIRS) // 128), block=128)
    assert y.tolist() == [int(_PTX[text](p, q)) & 0xFFFFFFFF for p, q in PAIRS]


_CARRIES: dict[str, tuple[Callable[[int, int], int], str]] = {
    "add": (lambda a, b: a + b, "add.cc.u32 %0, %2, %4; addc.u32 %1, %3, %5;"),
    "sub": (lambda a, b: a - b, "sub.cc.u32 %0, %2, %4; subc.u32 %1, %3, %5;"),
    "mul": (
        lambda a, b: (a & 0xFFFFFFFF) * (b & 0xFFFFFFFF) + a,
        "mad.lo.cc.u32 %0, %2, %4, %2; madc.hi.u32 %1, %2, %4, %3;",
    ),
}


@pytest.mark.parametrize("name", _CARRIES)
def test_carries(run: Run, name: str):
    """64-bit arithmetic in halves of 32 bits."""
    exact, text = _CARRIES[name]
    a, b = (
        np.array(x, np.uint64) * np.uint64(0x9E3779B97F4A7C15) for x in zip(*PAIRS, strict=True)
    )
    a[:3], b[:3] = [2**64 - 1, 2**32 - 1, 0], [1, 1, 1]
    y = np.zeros_like(a)
    source = f"""(const uint2* x, const uint2* z, uint2* y, int n) {{
      int i = blockIdx.x * 128 + threadIdx.x;
      if (i < n) {{ uint2 a = x[i], b = z[i], r;
        asm("{text}" : "=&r"(r.x), "=r"(r.y) : "r"(a.x), "r"(a.y), "r"(b.x), "r"(b.y));
        y[i] = r; }} }}"""
    report = run(source, a, b, y, len(a), grid=-(-len(a) // 128), block=128)
    assert report.ok, report.errors
    expected = [exact(*map(int, pair)) % 2**64 for pair in zip(a, b, strict=True)]
    assert y.tolist() == expected
