# SPDX-License-Identifier: Apache-2.0
"""`arith` and `math`: each op in the tables, in a loop over awkward operands."""

import math as scalar
from collections.abc import Callable
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects import scalar as scalar_dialect
from tilewright.interpreters import interpret
from tilewright.interpreters.casts import CASTS
from tilewright.interpreters.scalar import ELEMENTWISE, erf

Parse = Callable[[str], ModuleOp]
Array = NDArray[Any]

DTYPES: dict[str, Any] = {
    "i1": np.bool_,
    "i8": np.int8,
    "ui8": np.uint8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}

FLOATS = [
    0.0,
    -0.0,
    0.3,
    0.49999997,
    -0.7,
    1.0,
    2.5,
    -2.5,
    3.5,
    1e-3,
    40.0,
    -40.0,
    scalar.inf,
    scalar.nan,
]


def _cbrt(x: torch.Tensor) -> torch.Tensor:
    return torch.copysign(x.abs().double() ** (1 / 3), x).float()


def _round(x: torch.Tensor) -> torch.Tensor:
    return torch.copysign((x.double().abs() + 0.5).floor(), x.double()).float()


def _fma(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return (a.double() * b.double() + c.double()).float()


# Results of each function by PyTorch or exact arithmetic, by number of operands.
Table = dict[type[Operation], Callable[..., torch.Tensor]]

UNARY: Table = {
    arith.NegfOp: torch.neg,
    math.AbsFOp: torch.abs,
    math.AcosOp: torch.acos,
    math.AcoshOp: torch.acosh,
    math.AsinOp: torch.asin,
    math.AsinhOp: torch.asinh,
    math.AtanOp: torch.atan,
    math.AtanhOp: torch.atanh,
    math.CbrtOp: _cbrt,
    math.CeilOp: torch.ceil,
    math.CosOp: torch.cos,
    math.CoshOp: torch.cosh,
    math.ErfOp: torch.erf,
    math.Exp2Op: torch.exp2,
    math.ExpM1Op: torch.expm1,
    math.ExpOp: torch.exp,
    math.FloorOp: torch.floor,
    math.Log10Op: torch.log10,
    math.Log1pOp: torch.log1p,
    math.Log2Op: torch.log2,
    math.LogOp: torch.log,
    math.RoundEvenOp: torch.round,
    math.RoundOp: _round,
    math.RsqrtOp: torch.rsqrt,
    math.SinOp: torch.sin,
    math.SinhOp: torch.sinh,
    math.SqrtOp: torch.sqrt,
    math.TanOp: torch.tan,
    math.TanhOp: torch.tanh,
    math.TruncOp: torch.trunc,
    scalar_dialect.ErfcOp: torch.erfc,
}
BINARY: Table = {
    arith.AddfOp: torch.add,
    arith.SubfOp: torch.sub,
    arith.MulfOp: torch.mul,
    arith.DivfOp: torch.div,
    arith.MaximumfOp: torch.maximum,
    arith.MinimumfOp: torch.minimum,
    arith.MaxnumfOp: torch.fmax,
    arith.MinnumfOp: torch.fmin,
    math.Atan2Op: torch.atan2,
    math.CopySignOp: torch.copysign,
    math.PowFOp: torch.pow,
    scalar_dialect.FmodOp: torch.fmod,
}
TERNARY: Table = {math.FmaOp: _fma}
ON_FLOATS: Table = {**UNARY, **BINARY, **TERNARY}

INTEGERS = [-7, -2, -1, 1, 2, 3, 7]

ON_INTEGERS: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.DivSIOp: lambda a, b: int(a / b),
    arith.FloorDivSIOp: lambda a, b: a // b,
    arith.CeilDivSIOp: lambda a, b: -(-a // b),
    arith.RemSIOp: lambda a, b: int(scalar.fmod(a, b)),
    arith.MaxSIOp: lambda a, b: max(a, b),
    arith.MinSIOp: lambda a, b: min(a, b),
    arith.AndIOp: lambda a, b: a & b,
    arith.OrIOp: lambda a, b: a | b,
    arith.XOrIOp: lambda a, b: a ^ b,
    math.IPowIOp: lambda a, b: int(torch.tensor(a).pow(torch.tensor(b))),
}

SHIFTS: dict[type[Operation], Callable[[int, int, int], int]] = {
    arith.ShLIOp: lambda a, b, bits: a << b if 0 <= b < bits else 0,
    arith.ShRSIOp: lambda a, b, bits: a >> (b if 0 <= b < bits else bits),
    arith.ShRUIOp: lambda a, b, bits: (a % 2**bits) >> b if 0 <= b < bits else 0,
}


def wrapped(value: int, bits: int) -> int:
    """Return the integer of `bits` bits that `value` wraps around to."""
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def run(parse: Parse, lines: str, inputs: list[Array], types: list[str]) -> Array:
    """Run `lines`, which compute %r of the last type from %0, %1, ..., elementwise in a loop."""
    n = len(inputs[0])
    names = range(len(inputs))
    loads = [f"%{i} = loop.load %m{i}[%i] : memref<{n}x{types[i]}>" for i in names]
    module = parse(f"""
      loop.kernel @k({", ".join(f"%m{i}: memref<{n}x{types[i]}>" for i in names)})
          -> (%out: memref<{n}x{types[-1]}>) {{
        loop.for %i in {n} {{
          {" ".join(loads)}
          {lines}
          loop.store %r, %out[%i] : memref<{n}x{types[-1]}>
        }}
      }}""")
    return interpret(module, *inputs, function="k")[0]


def combinations(values: list[Any], arity: int, dtype: Any) -> list[Array]:
    """Return every combination of `values` for `arity` operands."""
    return [np.array(column, dtype) for column in zip(*product(values, repeat=arity), strict=True)]


def text_of(op: type[Operation], arity: int, type: str) -> str:
    """Return the op in its custom syntax."""
    return f"%r = {op.name} {', '.join(f'%{i}' for i in range(arity))} : {type}"


@pytest.mark.parametrize("op", ON_FLOATS, ids=lambda op: op.name)
def test_float_function(parse: Parse, op: type[Operation]) -> None:
    inputs = combinations(FLOATS, 1 if op in UNARY else 2 if op in BINARY else 3, np.float32)
    result = run(parse, text_of(op, len(inputs), "f32"), inputs, ["f32"] * (len(inputs) + 1))
    expected = ON_FLOATS[op](*map(torch.as_tensor, inputs)).numpy()
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected, rtol=5e-7, atol=1e-7)


@pytest.mark.parametrize("op", ON_INTEGERS, ids=lambda op: op.name)
@pytest.mark.parametrize("type", ["i32", "i64"])
def test_integer_function(parse: Parse, op: type[Operation], type: str) -> None:
    inputs = combinations(INTEGERS, 2, np.int32 if type == "i32" else np.int64)
    result = run(parse, text_of(op, len(inputs), type), inputs, [type] * (len(inputs) + 1))
    assert result.tolist() == [ON_INTEGERS[op](*map(int, row)) for row in zip(*inputs, strict=True)]


@pytest.mark.parametrize("op", SHIFTS, ids=lambda op: op.name)
@pytest.mark.parametrize("bits", [32, 64])
def test_shifts(parse: Parse, op: type[Operation], bits: int) -> None:
    values = [0, 1, -1, 5, -7, 2 ** (bits - 1) - 1, -(2 ** (bits - 1))]
    amounts = [0, 1, bits - 1, bits, bits + 1, -1, -bits]
    dtype = np.int32 if bits == 32 else np.int64
    pairs = list(product(values, amounts))
    inputs = [np.array(column, dtype) for column in zip(*pairs, strict=True)]
    result = run(parse, text_of(op, 2, f"i{bits}"), inputs, [f"i{bits}"] * 3)
    assert result.tolist() == [wrapped(SHIFTS[op](a, b, bits), bits) for a, b in pairs]


def test_integers_wrap(parse: Parse) -> None:
    low, high = np.array([-(2**31)], np.int32), np.array([2**31 - 1], np.int32)
    types = ["i32"] * 3
    assert run(parse, "%r = arith.addi %0, %1 : i32", [high, high], types) == -2
    assert run(parse, "%r = arith.muli %0, %1 : i32", [high, high], types) == 1
    assert (
        run(parse, "%r = math.ipowi %0, %1 : i32", [high, np.array([3], np.int32)], types) == high
    )
    assert run(parse, "%r = math.absi %0 : i32", [low], types[1:]) == low


def test_integer_functions_on_indices(parse: Parse) -> None:
    inputs = combinations(INTEGERS, 2, np.int64)
    line = text_of(arith.FloorDivSIOp, 2, "index")
    assert run(parse, line, inputs, ["index"] * 3).tolist() == (inputs[0] // inputs[1]).tolist()


def test_every_function_of_the_table_is_tested() -> None:
    assert set(ELEMENTWISE) == {
        *(*ON_FLOATS, *ON_INTEGERS, *SHIFTS, math.AbsIOp, arith.SelectOp),
    }


def test_absolute_integers(parse: Parse) -> None:
    result = run(parse, "%r = math.absi %0 : i32", [np.array([-7, 7], np.int32)], ["i32", "i32"])
    assert result.tolist() == [7, 7]


COMPARE_FLOAT: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "ne": lambda a, b: a != b,
}


@pytest.mark.parametrize("name", [f"{o}{c}" for o in "ou" for c in COMPARE_FLOAT])
def test_float_comparison(parse: Parse, name: str) -> None:
    a, b = combinations(FLOATS, 2, np.float32)
    result = run(parse, f"%r = arith.cmpf {name}, %0, %1 : f32", [a, b], ["f32", "f32", "i1"])
    expected = [
        name[0] == "u" if x != x or y != y else COMPARE_FLOAT[name[1:]](x, y)
        for x, y in zip(a.tolist(), b.tolist(), strict=True)
    ]
    assert result.tolist() == expected


@pytest.mark.parametrize("name", ["false", "true", "ord", "uno"])
def test_ordered_and_unordered_floats(parse: Parse, name: str) -> None:
    a, b = combinations(FLOATS, 2, np.float32)
    result = run(parse, f"%r = arith.cmpf {name}, %0, %1 : f32", [a, b], ["f32", "f32", "i1"])
    unordered = np.isnan(a) | np.isnan(b)
    expected = {"false": unordered & False, "true": unordered | True, "uno": unordered}
    assert result.tolist() == expected.get(name, ~unordered).tolist()


@pytest.mark.parametrize(
    ("name", "compare"),
    [
        ("eq", np.equal),
        ("ne", np.not_equal),
        *[(f"{s}{c}", COMPARE_FLOAT[c]) for s in "su" for c in ("lt", "le", "gt", "ge")],
    ],
)
def test_integer_comparison(parse: Parse, name: str, compare: Callable[[Any, Any], Any]) -> None:
    a, b = combinations(INTEGERS, 2, np.int32)
    result = run(parse, f"%r = arith.cmpi {name}, %0, %1 : i32", [a, b], ["i32", "i32", "i1"])
    if name.startswith("u"):
        a, b = a.astype(np.uint32), b.astype(np.uint32)
    assert result.tolist() == compare(a, b).tolist()


def test_select(parse: Parse) -> None:
    p = np.array([True, False])
    a, b = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    result = run(
        parse, "%r = arith.select %0, %1, %2 : f32", [p, a, b], ["i1", "f32", "f32", "f32"]
    )
    assert result.tolist() == [1, 4]


INF, NAN = scalar.inf, scalar.nan
LOW32, HIGH32 = -(2**31), 2**31 - 1
LOW64, HIGH64 = -(2**63), 2**63 - 1

CAST_CASES: list[tuple[type[Operation], str, str, list[Any], list[Any]]] = [
    (arith.ExtFOp, "f32", "f64", [0.1], [float(np.float32(0.1))]),
    (arith.ExtFOp, "bf16", "f32", [0.1, INF], [0.10009765625, INF]),
    (arith.ExtFOp, "f16", "f32", [0.1, 6e-8], [0.0999755859375, 5.960464477539063e-08]),
    (arith.TruncFOp, "f64", "f32", [0.1], [float(np.float32(0.1))]),
    (arith.TruncFOp, "f32", "f16", [65504, 65520, 1e-8], [65504, INF, 0]),
    (arith.TruncFOp, "f32", "bf16", [3.4e38, 1 + 2**-8], [INF, 1]),
    # just beyond a tie: rounded to f32 first, it would be one
    (arith.TruncFOp, "f64", "f16", [1 + 2**-11 + 2**-40, -INF], [1 + 2**-10, -INF]),
    (arith.TruncFOp, "f64", "bf16", [1 + 2**-8 + 2**-40, 1 - 2**-9, 1e39], [1 + 2**-7, 1, INF]),
    (arith.ExtSIOp, "i32", "i64", [-5, 7], [-5, 7]),
    (arith.ExtSIOp, "i8", "i32", [-128, 7], [-128, 7]),
    (arith.ExtSIOp, "i1", "i32", [True, False], [-1, 0]),
    (arith.ExtUIOp, "i1", "i64", [True, False], [1, 0]),
    (arith.ExtUIOp, "ui8", "i32", [255, 7], [255, 7]),
    (arith.ExtUIOp, "i16", "i32", [-1, 7], [65535, 7]),
    (arith.TruncIOp, "i64", "i32", [2**32 + 3, -1], [3, -1]),
    (arith.TruncIOp, "i32", "ui8", [256 + 3, -1], [3, 255]),
    (arith.TruncIOp, "i32", "i8", [128, -129], [-128, 127]),
    (arith.TruncIOp, "i32", "i1", [2, 3], [False, True]),
    (arith.IndexCastOp, "i32", "index", [-5, 7], [-5, 7]),
    (arith.SIToFPOp, "i32", "f32", [-5, 7], [-5.0, 7.0]),
    (arith.SIToFPOp, "i64", "f32", [2**62 + 1, LOW64], [2.0**62, -(2.0**63)]),
    (arith.UIToFPOp, "i1", "f32", [True, False], [1.0, 0.0]),
    (arith.UIToFPOp, "ui8", "f64", [200], [200.0]),
    (arith.UIToFPOp, "i32", "f64", [-1], [2.0**32 - 1]),
    (arith.FPToSIOp, "f32", "i32", [-2.7, 2.7], [-2, 2]),
    (arith.FPToSIOp, "f32", "i32", [3e9, -INF, NAN], [HIGH32, LOW32, 0]),
    (arith.FPToSIOp, "f32", "i64", [3e9, 1e19, NAN], [3 * 10**9, HIGH64, LOW64]),
    (arith.FPToSIOp, "f64", "i32", [2147483646.5, INF, NAN], [HIGH32 - 1, HIGH32, LOW32]),
    (arith.FPToUIOp, "f32", "i32", [3e9, -1.5, INF], [3 * 10**9 - 2**32, 0, -1]),
    (arith.BitcastOp, "f32", "i32", [1.0], [0x3F800000]),
    (arith.BitcastOp, "i64", "f64", [0x3FF0000000000000], [1.0]),
]


@pytest.mark.parametrize("case", CAST_CASES, ids=lambda case: f"{case[0].name}-{case[1]}-{case[2]}")
def test_cast(parse: Parse, case: tuple[type[Operation], str, str, list[Any], list[Any]]) -> None:
    op, source, target, values, expected = case
    line = f"%r = {op.name} %0 : {source} to {target}"
    result = run(parse, line, [np.array(values, DTYPES[source])], [source, target])
    assert result.dtype == DTYPES[target]
    assert result.tolist() == expected


def test_every_cast_is_tested() -> None:
    assert CASTS.keys() == {op for op, *_ in CAST_CASES}


def test_nan_stays_nan_where_floats_are_cast(parse: Parse) -> None:
    for source, target in product(("f64", "f32"), ("f16", "bf16")):
        line = f"%r = arith.truncf %0 : {source} to {target}"
        result = run(parse, line, [np.array([NAN], DTYPES[source])], [source, target])
        assert np.isnan(result).all()


def test_comparisons_of_bits(parse: Parse) -> None:
    p, q = np.array([True, True, False]), np.array([True, False, True])
    signed, unsigned = (
        run(parse, f"%r = arith.cmpi {name}, %0, %1 : i1", [p, q], ["i1"] * 3)
        for name in ("slt", "ult")
    )
    assert signed.tolist() == [False, True, False]
    assert unsigned.tolist() == [False, False, True]


def test_single_bits_wrap(parse: Parse) -> None:
    p, q = np.array([True, True, False]), np.array([True, False, False])
    for name, expected in (("addi", p ^ q), ("subi", p ^ q), ("muli", p & q)):
        result = run(parse, f"%r = arith.{name} %0, %1 : i1", [p, q], ["i1"] * 3)
        assert result.tolist() == expected.tolist()


def test_erf_in_float64() -> None:
    x = np.linspace(-6, 6, 1001)
    assert erf(x).tolist() == [scalar.erf(v) for v in x]
    assert erf(np.asarray(0.5)).tolist() == scalar.erf(0.5)
