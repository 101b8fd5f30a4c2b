# SPDX-License-Identifier: Apache-2.0
"""Results of `fold-elementwise` are equal to the bit, for all values of all types."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp

from tilewright.dialects.prim import ElementwiseOp
from tilewright.dialects.prim.identities import (
    FLOAT_NEUTRALS,
    HOLDS_EXACTLY,
    IDEMPOTENT_BINARY,
    IDEMPOTENT_UNARY,
    INTEGER_NEUTRALS,
    INVOLUTIONS,
)
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.interpreters import interpret
from tilewright.passes.tensor.fold_elementwise import FoldElementwisePass

Parse = Callable[[str], ModuleOp]
F = ScalarFunction

VALUES: dict[str, list[Any]] = {
    "f16": [0.0, -0.0, inf, -inf, nan, 1.0, -2.5, 65504.0, 6e-8],
    "bf16": [0.0, -0.0, inf, -inf, nan, 1.0, -2.5, 3e38, 1e-38],
    "f32": [0.0, -0.0, inf, -inf, nan, 1.0, -2.5, 1e-45, 3e38],
    "f64": [0.0, -0.0, inf, -inf, nan, 1.0, -2.5, 5e-324, 1e308],
    "i1": [False, True],
    "ui8": [0, 1, 255],
    "i8": [0, 1, -1, 127, -128],
    "i16": [0, 1, -1, 2**15 - 1, -(2**15)],
    "i32": [0, 1, -1, 2**31 - 1, -(2**31)],
    "i64": [0, 1, -1, 2**63 - 1, -(2**63)],
}
DTYPES = dict(zip(VALUES, "e bfloat16 f d ? B b h i q".split(), strict=True))


def array(type: str) -> Any:
    import ml_dtypes

    dtype = ml_dtypes.bfloat16 if type == "bf16" else DTYPES[type]
    return np.array(VALUES[type], dtype)


def folds(parse: Parse, type: str, body: str, result: str) -> None:
    """Assert that a body from `%x` to `%r` folds to a value or to `%x`, with equal bits."""
    size = len(VALUES[type])
    module = parse(f"""
      func.func @main(%x: tensor<{size}x{type}>) -> tensor<{size}x{result}> {{
        {body.replace("tensor<", f"tensor<{size}x")}
        func.return %r : tensor<{size}x{result}>
      }}""")
    (before,) = interpret(module, array(type))
    FoldElementwisePass().apply(Context(), module)
    (after,) = interpret(module, array(type))
    returned = next(op for op in module.walk() if isinstance(op, ReturnOp)).arguments[0]
    assert not isinstance(returned.owner, ElementwiseOp)
    # NaNs are equal whatever their bits; other values are equal including their signs.
    both_nan = (before != before) & (after != after)
    bits = [result.view(np.uint8).reshape(size, -1) for result in (before, after)]
    assert (both_nan | (bits[0] == bits[1]).all(1)).all()


def neutral(type: str, function: ScalarFunction, position: int, constant: float) -> str:
    text = constant if type in ("i32", "i64") else f"{float(constant):e}"
    text = {"inf": "0x7F800000", "-inf": "0xFF800000"}.get(str(constant), text)
    if type == "f64" and constant in (inf, -inf):
        text = "0x7FF0000000000000" if constant > 0 else "0xFFF0000000000000"
    if type == "i1":
        text = "true" if constant else "false"
    operands = "%c, %x" if position == 0 else "%x, %c"
    ty = "" if type == "i1" else f" : {type}"
    return (
        f"%c = prim.constant {text}{ty} -> tensor<{type}>\n"
        f"%r = prim.elementwise {function}({operands}) : tensor<{type}>"
    )


CASES = [
    *((type, row) for type in ("f32", "f64") for row in FLOAT_NEUTRALS),
    *((type, row) for type in ("i32", "i64") for row in INTEGER_NEUTRALS),
    *(("i1", row) for row in INTEGER_NEUTRALS if row.function in (F.AND, F.OR, F.XOR)),
]


@pytest.mark.parametrize(("type", "row"), CASES, ids=str)
def test_neutral_constants(parse: Parse, type: str, row: Any) -> None:
    folds(parse, type, neutral(type, *row), type)


@pytest.mark.parametrize("function", sorted(INVOLUTIONS | IDEMPOTENT_UNARY))
def test_twice(parse: Parse, function: ScalarFunction) -> None:
    body = f"""%y = prim.elementwise {function}(%x) : tensor<f32>
      %r = prim.elementwise {function}(%y) : tensor<f32>"""
    once = f"%r = prim.elementwise {function}(%x) : tensor<f32>"
    if function in INVOLUTIONS:
        folds(parse, "f32", body, "f32")
        return
    twice, single = (
        parse(f"""
          func.func @main(%x: tensor<9xf32>) -> tensor<9xf32> {{
            {text.replace("tensor<", "tensor<9x")}
            func.return %r : tensor<9xf32>
          }}""")
        for text in (body, once)
    )
    expected = interpret(twice, array("f32"))
    FoldElementwisePass().apply(Context(), twice)
    assert str(twice).count(f"elementwise {function}") == 1
    np.testing.assert_array_equal(interpret(twice, array("f32")), expected)
    np.testing.assert_array_equal(interpret(single, array("f32")), expected)


@pytest.mark.parametrize("function", sorted(IDEMPOTENT_BINARY))
def test_of_itself(parse: Parse, function: ScalarFunction) -> None:
    for type in ("i1",) if function in (F.AND, F.OR) else ("f32", "i64"):
        folds(parse, type, f"%r = prim.elementwise {function}(%x, %x) : tensor<{type}>", type)


@pytest.mark.parametrize("source", HOLDS_EXACTLY)
def test_casts_there_and_back(parse: Parse, source: str) -> None:
    for wide in HOLDS_EXACTLY[source]:
        body = f"""%y = prim.elementwise cast(%x) : (tensor<{source}>) -> tensor<{wide}>
          %r = prim.elementwise cast(%y) : (tensor<{wide}>) -> tensor<{source}>"""
        folds(parse, source, body, source)


BINARY = [
    f for f in F if f.arity == 2 and f not in (F.AND, F.OR, F.XOR, F.SHL, F.SHR, F.POW, F.FLOORDIV)
]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(BINARY), st.floats(width=32), st.floats(width=32))
def test_constants(parse: Parse, function: ScalarFunction, a: float, b: float) -> None:
    # A folded function of two constants equals the result of the program.
    bits = [f"0x{np.float32(value).view(np.uint32):08X}" for value in (a, b)]
    result = "i1" if function.is_comparison else "f32"
    module = parse(f"""
      func.func @main() -> tensor<{result}> {{
        %a = prim.constant {bits[0]} : f32 -> tensor<f32>
        %b = prim.constant {bits[1]} : f32 -> tensor<f32>
        %r = prim.elementwise {function}(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<{result}>
        func.return %r : tensor<{result}>
      }}""")
    expected = interpret(module)
    FoldElementwisePass().apply(Context(), module)
    np.testing.assert_array_equal(interpret(module), expected)
