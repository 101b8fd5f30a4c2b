# SPDX-License-Identifier: Apache-2.0
"""The solver finds a point exactly where formulas have one, and misses z3 with a clear error."""

import sys
from collections.abc import Callable
from itertools import product

import pytest
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir.affine import AffineExpr

from tilewright.errors import UsageError
from tilewright.proof import solver
from tilewright.proof.formulas import All, Formula, IsZero, NonNegative, Not, Some, below, holds
from tilewright.proof.formulas import used_in as variables_of
from tilewright.proof.solver import Solver

SIZES = (3, 4)
DIMS = [AffineExpr.dimension(at) for at in range(len(SIZES))]
LEAVES = st.one_of(st.sampled_from(DIMS), st.integers(-9, 9).map(AffineExpr.constant))
OPERATORS: list[Callable[[AffineExpr, AffineExpr, int], AffineExpr]] = [
    lambda a, b, _: a + b,
    lambda a, b, _: a - b,
    lambda a, _, factor: a * (factor - 3),
    lambda a, _, divisor: a // divisor,
    lambda a, _, divisor: a % divisor,
]


def _made(
    inner: st.SearchStrategy[AffineExpr],
) -> st.SearchStrategy[AffineExpr]:
    parts = st.tuples(st.sampled_from(OPERATORS), inner, inner, st.integers(1, 5))
    return parts.map(lambda part: part[0](*part[1:]))


EXPRS = st.recursive(LEAVES, _made, max_leaves=4)
FORMULAS: st.SearchStrategy[Formula] = st.recursive(
    st.one_of(st.builds(NonNegative, EXPRS), st.builds(IsZero, EXPRS)),
    lambda inner: st.one_of(
        st.builds(All, st.lists(inner, max_size=3)),
        st.builds(Some, st.lists(inner, max_size=3)),
        st.builds(Not, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=drawn(400))
@given(FORMULAS)
def test_a_point_is_found_if_there_is_one(formula: Formula):
    points = [at for at in product(*map(range, SIZES)) if holds(formula, at)]
    box = [below(dim, size) for dim, size in zip(DIMS, SIZES, strict=True)]
    found = Solver().find(["%i", "%j"], [*box, formula])
    assert found.is_none == (not points)
    assert found.values is None or tuple(found.values) in points
    assert variables_of(formula) <= {0, 1}


def test_a_range_is_one_of_natural_numbers():
    inside = below(DIMS[0], 3)
    assert [at for at in range(-4, 8) if holds(inside, (at,))] == [0, 1, 2]


def test_without_z3_one_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "z3", None)
    solver.load_z3.cache_clear()
    with pytest.raises(UsageError, match=r"proofs need the solver z3 \(pip install .*\[prove\]"):
        Solver()
    solver.load_z3.cache_clear()
