# SPDX-License-Identifier: Apache-2.0
"""Functions of `prim.elementwise` agree with PyTorch's on every type, at tensor and loop level."""

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import pytest
import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.arrays import array_of
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.interpreters import interpret
from tilewright.passes.loop.lift import LiftPass

Parse = Callable[[str], ModuleOp]
F = ScalarFunction

DTYPES: Mapping[str, torch.dtype] = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i1": torch.bool,
    "ui8": torch.uint8,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
}
FLOATS, INTEGERS = ("f32", "f64"), ("i32", "i64")

_TORCH_NAMES: Mapping[ScalarFunction, str] = {
    F.FLOORDIV: "floor_divide",
    F.AND: "bitwise_and",
    F.OR: "bitwise_or",
    F.XOR: "bitwise_xor",
    F.SHL: "bitwise_left_shift",
    F.SHR: "bitwise_right_shift",
    F.SELECT: "where",
}
_NUMERIC = (F.ADD, F.SUB, F.MUL, F.DIV, F.FLOORDIV, F.FMOD, F.POW, F.MAXIMUM, F.MINIMUM)
_ON: Mapping[ScalarFunction, Sequence[str]] = {
    **dict.fromkeys((*_NUMERIC, F.NEG, F.ABS), (*FLOATS, *INTEGERS)),
    **dict.fromkeys((F.AND, F.OR, F.XOR), ("i1", *INTEGERS)),
    **dict.fromkeys((F.SHL, F.SHR), INTEGERS),
    **dict.fromkeys((f for f in F if f.is_comparison), (*FLOATS, "i1", *INTEGERS)),
    F.SELECT: tuple(DTYPES),
    F.CAST: (),
}
_SPECIAL = [0.0, -0.0, inf, -inf, nan, 1.0, -1.0, 2.0, 0.5, 1e-30, 300.0, -7.25]


def values(type: str, *, positive: bool = False) -> torch.Tensor:
    """Return some values of a type, including its extremes."""
    if type == "i1":
        return torch.tensor([True, False, False])
    if type in ("f16", "bf16", *FLOATS):
        return torch.tensor(_SPECIAL, dtype=DTYPES[type])
    bounds = torch.iinfo(DTYPES[type])
    some = [1, 2, 3, 7, 31] if positive else [0, 1, -1, 2, -7, 100, bounds.min, bounds.max]
    return torch.tensor([max(n, bounds.min) for n in some], dtype=DTYPES[type])


def run(parse: Parse, function: str, arguments: Sequence[torch.Tensor], result: str) -> list[Any]:
    """Run the function at the tensor level and at the loop level; return both results."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    size = len(arguments[0])
    types = [f"tensor<{size}x{names[a.dtype]}>" for a in arguments]
    operands = [f"%{i}" for i in range(len(arguments))]
    signature = ", ".join(f"{o}: {t}" for o, t in zip(operands, types, strict=True))
    module = parse(f"""
      func.func @main({signature}) -> tensor<{size}x{result}> {{
        %r = prim.elementwise {function}({", ".join(operands)})
            : ({", ".join(types)}) -> tensor<{size}x{result}>
        func.return %r : tensor<{size}x{result}>
      }}""")
    lifted = module.clone()
    LiftPass().apply(Context(), lifted)
    arrays = [array_of(argument) for argument in arguments]
    return [interpret(level, *arrays)[0] for level in (module, lifted)]


def called(function: ScalarFunction, arguments: Sequence[torch.Tensor]) -> torch.Tensor:
    """Return PyTorch's own result."""
    if function is F.DIV and not arguments[0].is_floating_point():
        return torch.div(*arguments, rounding_mode="trunc")
    return getattr(torch, _TORCH_NAMES.get(function, function.value))(*arguments)


CASES = [(function, type) for function in ScalarFunction for type in _ON.get(function, FLOATS)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("function", "type"), CASES, ids=lambda c: str(c))
def test_is_pytorchs(parse: Parse, function: ScalarFunction, type: str) -> None:
    # All pairs of values, except for divisors and shifts, which are positive.
    restricted = function in (F.DIV, F.FLOORDIV, F.FMOD, F.POW, F.SHL, F.SHR) and type in INTEGERS
    rows = [values(type) for _ in range(function.arity)]
    if restricted:
        rows[-1] = values(type, positive=True)
    if function is F.SELECT:
        rows[0] = values("i1")
    columns = [torch.stack(list(c)) for c in zip(*product(*rows), strict=True)]
    expected = called(function, columns)
    result = "i1" if function.is_comparison else type
    tolerance = {"f32": 4e-7, "f64": 1e-15}.get(type, 0.0)
    for got in run(parse, function.value, columns, result):
        assert got.dtype == array_of(expected).dtype
        as_floats = (np.asarray(a, np.float64) for a in (got, array_of(expected)))
        np.testing.assert_allclose(*as_floats, rtol=tolerance, atol=1e-37)


@pytest.mark.parametrize("source", DTYPES)
def test_casts(parse: Parse, source: str) -> None:
    # Casts of floats to integers are undefined for values out of range, so all values are in range.
    for target in DTYPES:
        value = values(source)
        if source in ("f16", "bf16", *FLOATS) and target not in ("f16", "bf16", *FLOATS, "i1"):
            value = torch.tensor([0.0, -0.0, 1.5, 2.0, 100.75, 0.5], dtype=DTYPES[source])
        expected = array_of(value.to(DTYPES[target]))
        for got in run(parse, "cast", [value], target):
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got.astype(np.float64), expected.astype(np.float64))
