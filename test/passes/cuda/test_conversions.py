# SPDX-License-Identifier: Apache-2.0
"""Element types: each passes through memory unchanged, and each cast gives the expected values."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray
from xdsl.dialects.builtin import bf16

from tilewright.codegen.simulator import simulate

from .elementwise import DTYPES, Elementwise
from .kernel_ir import compile_clean, source_of
from .scalar_cases import CASTS, CHOICES, COPIES, INDEX_CASTS, MOVES

pytestmark = needs_nvrtc

Array = NDArray[Any]
Expected = Callable[[Array], Array]

_FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -1.5, 2.5, 127.0, 128.0, 255.0, -129.0, 65504.0, 65519.9, 65520.0),
    *(math.inf, -math.inf, math.nan, 1e-8, 6e-8, -3e-6, 1e-40, 1e-45, 3.39e38, 2147483648.0, 3e9),
    *(-2147483648.0, -3e9, 9.3e18, -9.3e18, 2e19, 1 + 2**-8, 1 + 3 * 2**-8, 1 + 2**-11, 1e38),
)
# Next to ties; rounding to f32 first would make them ties.
_DOUBLES = (1 + 2**-8 + 2**-40, 1 + 2**-8 - 2**-40, 1 + 2**-11 + 2**-40, 1e39, -1e300, 5e-324)


def values(type: str) -> Array:
    """Return special values and random ones."""
    dtype, random = DTYPES[type], np.random.default_rng(5)
    if type == "i1":
        return random.integers(0, 2, 256).astype(dtype)
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        special = [0, 1, bounds.max, bounds.min, bounds.max - 1, bounds.min // 2, 7, 100]
        drawn = random.integers(bounds.min, bounds.max, 248, dtype)
        return np.concatenate([np.array(special, dtype), drawn])
    with np.errstate(over="ignore"):
        special = np.array([*_FLOATS, *(_DOUBLES if type == "f64" else ())])
        spread = random.choice([-1, 1], 200) * np.exp(random.uniform(-95, 95, 200))
        return np.concatenate([special, spread]).astype(dtype)


def _bits(type: str) -> Expected:
    """Return the value of the operand's bits as an unsigned integer."""
    return lambda x: x.view(f"u{x.itemsize}").astype(DTYPES[type])


def _bfloat16(x: Array) -> Array:
    return np.frombuffer(bf16.pack(x.astype(np.float64).tolist()), DTYPES["bf16"])


def _integer(type: str, low: int, high: int, nan: int) -> Expected:
    """Return a conversion that truncates to zero within bounds."""

    def truncate(value: float) -> int:
        if math.isnan(value):
            return nan
        return int(min(max(value, low), high)) if math.isfinite(value) else (low, high)[value > 0]

    def convert(x: Array) -> Array:
        wide = [min(max(truncate(value), low), high) for value in x.tolist()]
        bits = 8 * DTYPES[type].itemsize
        return np.array([(w + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for w in wide], type_of)

    type_of = DTYPES[type]
    return convert


_LOW32, _HIGH32, _LOW64, _HIGH64 = -(2**31), 2**31 - 1, -(2**63), 2**63 - 1

# (op, from, to) -> its expected results.
SPECIAL: dict[tuple[str, ...], Expected] = {
    ("truncf", "f32", "bf16"): _bfloat16,
    ("truncf", "f64", "bf16"): _bfloat16,
    ("trunci", "i32", "i1"): lambda x: (x & 1) != 0,
    ("trunci", "i64", "i1"): lambda x: (x & 1) != 0,
    ("fptosi", "f32", "i32"): _integer("i32", _LOW32, _HIGH32, 0),
    ("fptosi", "f32", "i64"): _integer("i64", _LOW64, _HIGH64, _LOW64),
    ("fptosi", "f64", "i32"): _integer("i32", _LOW32, _HIGH32, _LOW32),
    ("fptosi", "f64", "i64"): _integer("i64", _LOW64, _HIGH64, _LOW64),
    ("fptoui", "f32", "i32"): _integer("i32", 0, 2**32 - 1, 0),
    ("fptoui", "f32", "i64"): _integer("i64", 0, 2**64 - 1, 2**63),
    ("fptoui", "f64", "i32"): _integer("i32", 0, 2**32 - 1, 2**31),
    ("fptoui", "f64", "i64"): _integer("i64", 0, 2**64 - 1, 2**63),
}


def expected_of(op: str, source: str, result: str) -> Expected:
    """Return the expected results of a cast, which are NumPy's except for special cases."""
    if (special := SPECIAL.get((op, source, result))) is not None:
        return special
    if op == "bitcast":
        return lambda x: x.view(DTYPES[result])
    is_unsigned = op in ("extui", "uitofp") and source != "i1"
    return _bits(result) if is_unsigned else lambda x: x.astype(DTYPES[result])


@cache
def kernels() -> Elementwise:
    """Return one module with all kernels."""
    return Elementwise(MOVES, 256)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("type", DTYPES)
def test_every_type_goes_through_memory(type: str):
    x = values(type)
    anything = np.arange(len(x)) % 3 == 0
    assert kernels().run(COPIES[type], x, anything).tobytes() == x.tobytes()
    chosen = kernels().run(CHOICES[type], x, anything)
    assert chosen.tobytes() == np.where(anything, x, np.ones_like(x)).tobytes()


@pytest.mark.parametrize("key", CASTS, ids="-".join)
def test_cast(key: tuple[str, str, str]):
    x = values(key[1])
    with np.errstate(all="ignore"):
        expected = expected_of(*key)(x)
    result = kernels().run(CASTS[key], x)
    assert result.dtype == expected.dtype
    if key[2] == "bf16":  # NumPy does not recognise its NaN
        result, expected = result.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(result, expected)
    if expected.dtype.kind == "f":
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(result[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("type", INDEX_CASTS)
def test_indices(type: str):
    x = np.array([0, 1, 7, 2**31 - 1, 12345], DTYPES[type])
    assert kernels().run(INDEX_CASTS[type], x).tolist() == x.tolist()


SHUFFLE = """
kernel.func grid 1 block 64 @{type}(%x: memref<64x{type}>) -> (%out: memref<64x{type}>) {{
  %t = kernel.thread_id
  %v = loop.load %x[%t] : memref<64x{type}>
  %r = kernel.shuffle xor %v, 5 width 8 : {type}
  loop.store %r, %out[%t] : memref<64x{type}>
}}"""
SHUFFLED = [type for type in DTYPES if type not in ("f16", "bf16")]


@cache
def shuffles() -> str:
    """Return the PTX of one kernel for each type."""
    return compile_clean(source_of("\n".join(SHUFFLE.format(type=type) for type in SHUFFLED)))


@pytest.mark.parametrize("type", SHUFFLED)
def test_lanes_exchange_every_type(type: str):
    x = values(type)[:64]
    out = np.zeros_like(x)
    report = simulate(shuffles(), type, grid=1, block=64, arguments=[x, out])
    assert report.errors == []
    assert out.tobytes() == x[np.arange(64) ^ 5].tobytes()
