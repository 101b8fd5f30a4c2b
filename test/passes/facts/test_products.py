# SPDX-License-Identifier: Apache-2.0
"""Products that a reduction joins, and the types of their factors."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp, bf16, f16, f32, f64
from xdsl.ir import Attribute

from tilewright.dialects import loop
from tilewright.passes.facts.products import half_type_of, products_of

Parse = Callable[[str], ModuleOp]

KERNEL = """
loop.kernel @k(%b: memref<7xbf16>, %h: memref<7xf16>, %f: memref<7xf32>, %d: memref<7xf64>)
    -> (%out: memref<f32>) {{
  %sum = loop.reduce %k in 7 with {monoid} {{
    %0 = loop.load %b[%k] : memref<7xbf16>
    %1 = loop.load %h[%k] : memref<7xf16>
    %w = loop.load %f[%k] : memref<7xf32>
    %e = loop.load %d[%k] : memref<7xf64>
    %x = arith.extf %0 : bf16 to f32
    %y = arith.extf %1 : f16 to f32
    %z = math.exp %w : f32
    %rounded = arith.truncf %z : f32 to bf16
    %r = arith.extf %rounded : bf16 to f32
    %n = arith.negf %x : f32
    %product = {product} : f32
    loop.yield %product : f32
  }} : f32
  loop.store %sum, %out[] : memref<f32>
}}"""

# product, types of the factors, half type of the reduction
CASES: dict[str, tuple[list[Attribute], Attribute | None]] = {
    "arith.mulf %x, %x": ([bf16, bf16], bf16),
    "arith.mulf %y, %y": ([f16, f16], f16),
    "arith.mulf %x, %r": ([bf16, bf16], bf16),  # what is rounded to bf16 has this type, too
    "arith.mulf %x, %y": ([bf16, f16], None),
    "arith.mulf %x, %w": ([bf16, f32], None),
    "arith.mulf %z, %r": ([f32, bf16], None),
    "arith.mulf %n, %x": ([f32, bf16], None),
    "arith.addf %x, %x": ([], None),
}


def reduction(parse: Parse, product: str, monoid: str = "add") -> loop.ReduceOp:
    module = parse(KERNEL.format(product=product, monoid=monoid))
    (found,) = (op for op in module.walk() if isinstance(op, loop.ReduceOp))
    return found


@pytest.mark.parametrize("text", CASES)
def test_types_of_factors(parse: Parse, text: str):
    types, half = CASES[text]
    op = reduction(parse, text)
    found = products_of(op)
    assert [factor.type for each in found for factor in (each.left, each.right)] == types
    assert half_type_of(op) == half
    for each in found:
        assert [each.left.value, each.right.value] == [each.op.lhs, each.op.rhs]


def test_a_maximum_of_products_has_no_half_type(parse: Parse):
    op = reduction(parse, "arith.mulf %x, %x", "max")
    assert products_of(op)[0].half_type == bf16
    assert half_type_of(op) is None


TWO = """
loop.kernel @k(%x: memref<7x{x}>, %y: memref<7x{y}>) -> (%out: memref<{type}>) {{
  %s, %t = loop.reduce %k in 7 with add {{
    %0 = loop.load %x[%k] : memref<7x{x}>
    %1 = arith.extf %0 : {x} to {type}
    %2 = loop.load %y[%k] : memref<7x{y}>
    %3 = arith.extf %2 : {y} to {type}
    %4 = arith.mulf %1, %1 : {type}
    %5 = arith.{function} %3, %3 : {type}
    loop.yield %4, %5 : {type}, {type}
  }} : {type}, {type}
  loop.store %s, %out[] : memref<{type}>
}}"""


@pytest.mark.parametrize(
    ("x", "y", "type", "function", "half"),
    [
        (bf16, bf16, f32, "mulf", bf16),
        (bf16, f16, f32, "mulf", None),
        (bf16, bf16, f32, "addf", None),
        (bf16, bf16, f64, "mulf", None),
        (f32, f32, f64, "mulf", None),
    ],
)
def test_two_values(
    parse: Parse, x: Attribute, y: Attribute, type: Attribute, function: str, half: Attribute | None
):
    module = parse(TWO.format(x=x, y=y, type=type, function=function))
    (op,) = (op for op in module.walk() if isinstance(op, loop.ReduceOp))
    assert half_type_of(op) == half
    assert len(products_of(op)) == 1 + (function == "mulf")
