# SPDX-License-Identifier: Apache-2.0
"""A predicate is true where the comparison was, for all elements."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from some_cases import some
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret
from tilewright.passes.driver.lowering import context
from tilewright.passes.loop.predicate_positions import PredicatePositionsPass

Parse = Callable[[str], ModuleOp]

KERNEL = """
loop.kernel @k(%element: memref<1x{type}>) -> (%out: memref<5xi1>) {{
  loop.for %i in 5 {{
    %position = loop.index [{position}] : {type}
    %x = loop.load %element[0] : memref<1x{type}>
    %c = arith.constant {less} : {type}
    %y = arith.subi %x, %c : {type}
    %0 = arith.cmpi {relation}, {operands} : {type}
    loop.store %0, %out[%i] : memref<5xi1>
  }}
}}"""
RELATIONS = ("slt", "sle", "sgt", "sge")
SIDES = ("%position, %x", "%x, %position", "%position, %y", "%y, %position")
POSITIONS = ("%i", "%i * 3 - 4", "7 - %i * 2")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("type", "position"), some(product(["i32", "i64"], POSITIONS), unpacked=True)
)
def test_every_element(parse: Parse, type: str, position: str):
    dtype = np.dtype(type.replace("i", "int"))
    ends = np.iinfo(dtype)
    elements = [
        *range(-8, 14),
        *(ends.min + n for n in range(3)),
        *(ends.max - n for n in range(3)),
    ]
    seen = set[bool]()
    for relation, operands in product(RELATIONS, SIDES):
        text = KERNEL.format(
            type=type, position=position, less=3, relation=relation, operands=operands
        )
        before, after = parse(text), parse(text)
        PredicatePositionsPass().apply(context(), after)
        assert "loop.predicate" in str(after)
        assert "arith.cmpi" not in str(after)
        for element in elements:
            array = np.array([element], dtype)
            (expected,) = interpret(before, array, function="k")
            (found,) = interpret(after, array, function="k")
            np.testing.assert_array_equal(found, expected)
            seen |= {*expected.tolist()}
    assert seen == {False, True}


FAR_APART = {
    "i32": "%i * 1000000000 - 2000000000",
    "i64": "%i * 3000000000000000000 - 6000000000000000000",
}


@pytest.mark.parametrize("type", FAR_APART)
def test_positions_whose_distance_overflows_are_unchanged(parse: Parse, type: str):
    text = KERNEL.format(
        type=type, position=FAR_APART[type], less=3, relation="sle", operands="%position, %x"
    )
    module = parse(text)
    PredicatePositionsPass().apply(context(), module)
    assert "arith.cmpi sle" in str(module)


CAST_AND_NEGATED = """
loop.kernel @k(%element: memref<1xi32>) -> (%out: memref<5xi1>) {{
  loop.for %i in 5 {{
    %wide = loop.index [%i - 2] : i64
    %position = arith.trunci %wide : i64 to i32
    %x = loop.load %element[0] : memref<1xi32>
    %0 = arith.cmpi {relation}, %position, %x : i32
    %true = arith.constant true
    %1 = arith.xori %0, %true : i1
    loop.store %1, %out[%i] : memref<5xi1>
  }}
}}"""


@pytest.mark.parametrize("relation", RELATIONS)
def test_cast_positions_and_negated_comparisons(parse: Parse, relation: str):
    text = CAST_AND_NEGATED.format(relation=relation)
    before, after = parse(text), parse(text)
    PredicatePositionsPass().apply(context(), after)
    assert "arith.cmpi" not in str(after)
    assert "arith.xori" not in str(after)
    ends = np.iinfo(np.int32)
    for element in (ends.min, *range(-5, 6), ends.max):
        array = np.array([element], np.int32)
        (expected,) = interpret(before, array, function="k")
        (found,) = interpret(after, array, function="k")
        np.testing.assert_array_equal(found, expected)
