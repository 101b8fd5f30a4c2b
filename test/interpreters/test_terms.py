# SPDX-License-Identifier: Apache-2.0
"""Terms: programs at several levels run with floats that stand for expressions."""

from itertools import pairwise

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.interpreters.host import interpret_fitting
from tilewright.interpreters.term_numbers import term_numbers
from tilewright.interpreters.terms import Terms
from tilewright.interpreters.types import ElementTypes
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower

PROGRAM = """\
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %sum = prim.reduce add(%x) dims [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  %exp = prim.elementwise exp(%sum) : tensor<2xf32>
  %out = prim.elementwise BODY : tensor<2xf32>
  func.return %out : tensor<2xf32>
}
"""


def module(body: str) -> ModuleOp:
    """Return the program with an elementwise function in the place of `BODY`."""
    return Parser(context(), PROGRAM.replace("BODY", body)).parse_module()


def results(terms: Terms, program: ModuleOp) -> list[float]:
    """Return the terms of the results of a program."""
    rng = np.random.default_rng(0)
    arrays = terms.inputs(["x", "y"], [rng.standard_normal(each) for each in ((2, 3), (2,))])
    types = ElementTypes(np.float64, numbers=term_numbers(terms))
    (found,) = interpret_fitting(program, arrays, "main", types)
    return found.tolist()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("sub(%y, %exp)", "y[1] - exp(x[1, 0] + x[1, 1] + x[1, 2])"),
        ("div(%exp, %y)", "exp(x[1, 0] + x[1, 1] + x[1, 2]) / y[1]"),
        ("maximum(%y, %sum)", "maximum(y[1], x[1, 0] + x[1, 1] + x[1, 2])"),
    ],
)
def test_the_text_of_a_term(body: str, text: str):
    terms = Terms()
    (_, number) = results(terms, module(body))
    assert terms.text(number) == text


def test_levels_compute_equal_terms():
    terms, program = Terms(), module("sub(%y, %exp)")
    levels = (Level.TENSOR, Level.LOOP, Level.TILE, Level.KERNEL)
    found = [results(terms, lower(program, level)) for level in levels]
    assert all(one == other for one, other in pairwise(found))
    assert len({*found[0]}) == 2


def test_the_innermost_difference():
    terms = Terms()
    one, other = (results(terms, module(f"{f}(%y, %exp)"))[0] for f in ("add", "sub"))
    assert terms.differing(one, other) == (one, other)
    doubled = "add(%exp, %exp)"
    one, other = (results(terms, module(body))[0] for body in ("mul(%y, %exp)", "mul(%sum, %exp)"))
    left, right = map(terms.text, terms.differing(one, other))
    assert left == "y[0]"
    assert right.startswith("x[0, ")
    assert terms.text(results(terms, module(doubled))[0]).count("exp(") == 2
