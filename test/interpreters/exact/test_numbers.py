# SPDX-License-Identifier: Apache-2.0
"""Integers and residues in the interpreters: opaque functions, overflow, infinities and casts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters.exact.integers import INTEGERS
from tilewright.interpreters.exact.modulus import M
from tilewright.interpreters.exact.ordinary import InexactError
from tilewright.interpreters.exact.residues import RESIDUES
from tilewright.interpreters.host import interpret_fitting
from tilewright.interpreters.number_system import ExactNumbers
from tilewright.interpreters.types import ElementTypes

Parse = Callable[[str], ModuleOp]

SYSTEMS = [INTEGERS, RESIDUES]

NAMES = ["integers", "residues"]


def run(module: ModuleOp, numbers: ExactNumbers, *arrays: Any) -> NDArray[Any]:
    """Return the first result of `@main` for inputs of a number system."""
    types = ElementTypes(np.float64, numbers=numbers)
    return interpret_fitting(module, arrays, "main", types)[0]


def function(body: str, inputs: str = "%x: tensor<6xf32>", result: str = "tensor<6xf32>") -> str:
    return f"func.func @main({inputs}) -> {result} {{\n{body}\nfunc.return %r : {result}\n}}"


@pytest.mark.parametrize("name", ["exp", "tanh", "sqrt", "erf", "log1p", "sin"])
def test_opaque_functions_have_at_least_61_values(name: str, parse: Parse):
    module = parse(
        function(f"%r = prim.elementwise {name}(%x) : tensor<6xf32>").replace("6x", "999x")
    )
    x = np.arange(-499.0, 500.0)
    once, again = (run(module, INTEGERS, x) for _ in range(2))
    assert len(np.unique(once)) > 61
    np.testing.assert_array_equal(once, np.rint(once))
    np.testing.assert_array_equal(once, again)
    assert len(np.unique(run(module, RESIDUES, x + 500))) > 900


@pytest.mark.parametrize("numbers", SYSTEMS, ids=NAMES)
@pytest.mark.parametrize("op", [math.ExpOp, math.TanhOp, math.RsqrtOp, arith.DivfOp, math.PowFOp])
def test_both_zeros_are_one_number(op: Any, numbers: ExactNumbers):
    zeros = np.array([0.0, -0.0])
    operands = [zeros] * (2 if op in (arith.DivfOp, math.PowFOp) else 1)
    found = numbers.functions[op](*operands)
    assert found[0] == found[1]


@pytest.mark.parametrize("numbers", SYSTEMS, ids=NAMES)
def test_infinities_are_those_of_floats(numbers: ExactNumbers):
    x = np.array([-np.inf, np.inf, np.nan, -3.4e38, 3.4e38])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(
            numbers.functions[math.ExpOp](x), [0, np.inf, np.nan, 0, np.inf]
        )
        np.testing.assert_array_equal(numbers.functions[arith.SubfOp](x[:2], x[4]), x[:2])
    assert numbers.functions[arith.SubfOp](x[3], x[3]) == 0


@pytest.mark.parametrize("numbers", SYSTEMS, ids=NAMES)
def test_sums_with_an_infinity(numbers: ExactNumbers, parse: Parse):
    text = "%r = prim.reduce add(%x) dims [0] : (tensor<2x3xf32>) -> tensor<3xf32>"
    module = parse(function(text, "%x: tensor<2x3xf32>", "tensor<3xf32>"))
    found = run(module, numbers, np.array([[1, -np.inf, 2], [3, 4, np.inf]]))
    np.testing.assert_array_equal(found, [4, -np.inf, np.inf])


def test_a_large_sum_of_integers_is_refused_even_if_it_cancels(parse: Parse):
    text = "%r = prim.reduce add(%x) dims [0] : (tensor<4xf32>) -> tensor<f32>"
    module = parse(function(text, "%x: tensor<4xf32>", "tensor<f32>"))
    large = 2.0**51
    with pytest.raises(InexactError, match=r"a number is 2\^52 or more"):
        run(module, INTEGERS, np.array([large, large, -large, -large]))
    assert run(module, INTEGERS, np.array([large / 2, -large / 2, 1, 2])) == 3


@pytest.mark.parametrize("name", ["add", "mul"])
def test_large_integers_are_refused(name: str, parse: Parse):
    module = parse(function(f"%r = prim.elementwise {name}(%x, %x) : tensor<6xf32>"))
    run(module, INTEGERS, np.full(6, 2.0**25))
    with pytest.raises(InexactError, match=r"a number is 2\^52 or more"):
        run(module, INTEGERS, np.full(6, 2.0**51))
    x, number = np.full(6, 1e10), 10**10
    expected = 2 * number if name == "add" else number * number
    assert run(module, RESIDUES, x)[0] == expected % M


def test_constants(parse: Parse):
    text = "%r = prim.constant 0.125 : f32 -> tensor<6xf32>"
    module, x = parse(function(text)), np.zeros(6)
    eighth = run(module, RESIDUES, x)
    np.testing.assert_array_equal(RESIDUES.functions[arith.MulfOp](eighth, np.full(6, 8.0)), 1)
    for value, is_right in (("0.125", np.greater), ("-0.125", np.less)):
        found = run(parse(function(text.replace("0.125", value))), INTEGERS, x)
        assert found[0] == np.rint(found[0])
        assert is_right(found[0], 0)
    assert run(parse(function(text.replace("0.125", "7.0"))), INTEGERS, x)[0] == 7


@pytest.mark.parametrize("numbers", SYSTEMS, ids=NAMES)
def test_positions_are_numbers(numbers: ExactNumbers, parse: Parse):
    text = """
    %i = prim.iota affine_map<(d0) -> (d0 - 2)> : tensor<6xi32>
    %r = prim.elementwise cast(%i) : (tensor<6xi32>) -> tensor<6xf32>"""
    found = run(parse(function(text)), numbers, np.zeros(6))
    again = numbers.functions[arith.AddfOp](found, np.full(6, 2.0))
    np.testing.assert_array_equal(again, np.arange(6))


def test_casts_to_integers(parse: Parse):
    text = "%r = prim.elementwise cast(%x) : (tensor<6xf32>) -> tensor<6xi32>"
    module = parse(function(text, result="tensor<6xi32>"))
    np.testing.assert_array_equal(run(module, INTEGERS, np.arange(6.0)), np.arange(6))
    with pytest.raises(InexactError, match="a number does not fit into int32"):
        run(module, INTEGERS, np.full(6, 1e10))
    with pytest.raises(InexactError, match="it has no cast of a float to an integer"):
        run(module, RESIDUES, np.arange(6.0))


def test_casts_to_half_types_do_not_round(parse: Parse):
    text = "%r = prim.elementwise cast(%x) : (tensor<6xf32>) -> tensor<6xbf16>"
    x = np.arange(6.0) + 1_000_001
    module = parse(function(text, result="tensor<6xbf16>"))
    for numbers in SYSTEMS:
        np.testing.assert_array_equal(run(module, numbers, x), x)


def test_bits_of_floats_are_refused(parse: Parse):
    text = """
    loop.kernel @main(%x: memref<4xf32>) -> (%out: memref<4xi32>) {
      loop.for %i in 4 {
        %0 = loop.load %x[%i] : memref<4xf32>
        %1 = arith.bitcast %0 : f32 to i32
        loop.store %1, %out[%i] : memref<4xi32>
      }
    }"""
    for numbers in SYSTEMS:
        with pytest.raises(InexactError, match="its floats have no bits"):
            run(parse(text), numbers, np.zeros(4))
