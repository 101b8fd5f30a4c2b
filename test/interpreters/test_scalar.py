# SPDX-License-Identifier: Apache-2.0
"""`arith` and `math`: every op in the tables, as a loop over awkward operands."""

import math as scalar
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.interpreters import interpret
from tilewright.interpreters.scalar import CASTS, ELEMENTWISE, erf

Parse = Callable[[str], ModuleOp]
Array = NDArray[Any]

FLOATS = [0.0, -0.0, 0.3, -0.7, 1.0, 2.5, -2.5, 3.5, 1e-3, 40.0, -40.0, scalar.inf, scalar.nan]


def _cbrt(x: torch.Tensor) -> torch.Tensor:
    return torch.copysign(x.abs().double() ** (1 / 3), x).float()


def _round(x: torch.Tensor) -> torch.Tensor:
    return torch.copysign((x.abs() + 0.5).floor(), x)


def _fma(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    return (a.double() * b.double() + c.double()).float()


# What PyTorch, or exact arithmetic, says of each function, by number of operands.
Table = dict[type[Operation], Callable[..., torch.Tensor]]

UNARY: Table = {
    arith.NegfOp: torch.neg,
    math.AbsFOp: torch.abs,
    math.AtanOp: torch.atan,
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
}


def run(parse: Parse, lines: str, inputs: list[Array], types: list[str]) -> Array:
    """Runs `lines`, which compute %r of the last type from %0, %1, ..., elementwise in a loop."""
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
    """Every combination of `values` for `arity` operands."""
    return [np.array(column, dtype) for column in zip(*product(values, repeat=arity), strict=True)]


def text_of(op: type[Operation], arity: int, type: str) -> str:
    """The op in its custom syntax."""
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


def test_integer_functions_on_indices(parse: Parse) -> None:
    inputs = combinations(INTEGERS, 2, np.int64)
    line = text_of(arith.FloorDivSIOp, 2, "index")
    assert run(parse, line, inputs, ["index"] * 3).tolist() == (inputs[0] // inputs[1]).tolist()


def test_every_function_of_the_table_is_tested() -> None:
    assert set(ELEMENTWISE) == {*ON_FLOATS, *ON_INTEGERS, math.AbsIOp, arith.SelectOp}


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
def test_whether_floats_compare_at_all(parse: Parse, name: str) -> None:
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


@pytest.mark.parametrize(
    ("op", "source", "target", "values", "expected"),
    [
        (arith.ExtFOp, "f32", "f64", [0.1], [float(np.float32(0.1))]),
        (arith.TruncFOp, "f64", "f32", [0.1], [float(np.float32(0.1))]),
        (arith.ExtSIOp, "i32", "i64", [-5, 7], [-5, 7]),
        (arith.TruncIOp, "i64", "i32", [2**32 + 3, -1], [3, -1]),
        (arith.IndexCastOp, "i32", "index", [-5, 7], [-5, 7]),
        (arith.SIToFPOp, "i32", "f32", [-5, 7], [-5.0, 7.0]),
        (arith.FPToSIOp, "f32", "i32", [-2.7, 2.7], [-2, 2]),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_cast(
    parse: Parse,
    op: type[Operation],
    source: str,
    target: str,
    values: list[Any],
    expected: list[Any],
) -> None:
    dtypes = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}
    assert op in CASTS
    line = f"%r = {op.name} %0 : {source} to {target}"
    assert (
        run(parse, line, [np.array(values, dtypes[source])], [source, target]).tolist() == expected
    )


def test_single_bits_wrap(parse: Parse) -> None:
    p, q = np.array([True, True, False]), np.array([True, False, False])
    for name, expected in (("addi", p ^ q), ("subi", p ^ q), ("muli", p & q)):
        result = run(parse, f"%r = arith.{name} %0, %1 : i1", [p, q], ["i1"] * 3)
        assert result.tolist() == expected.tolist()


def test_erf_in_float64() -> None:
    x = np.linspace(-6, 6, 1001)
    assert erf(x).tolist() == [scalar.erf(v) for v in x]
    assert erf(np.asarray(0.5)).tolist() == scalar.erf(0.5)
