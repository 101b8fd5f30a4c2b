# SPDX-License-Identifier: Apache-2.0
"""Bounds of an affine expression while some of its operands vary, and how tight they are."""

from collections.abc import Mapping
from itertools import product

import hypothesis.strategies as st
import pytest
from draws import drawn
from hypothesis import given, settings
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.index import Range, simplify
from tilewright.passes.facts.extremes import extreme

BLOCK, THREAD, STEP = dims = [AffineExpr.dimension(at) for at in range(3)]
EXTENTS = (7, 32, 16)
SMALL = (3, 6, 5)


def axes(extents: tuple[int, int, int]) -> loop.ForOp:
    """Return a loop nest with these extents."""
    return loop.ForOp(extents, Region(Block(arg_types=[IndexType()] * len(extents))))


def found(expr: AffineExpr, varying: set[int], nest: loop.ForOp, *, is_last: bool) -> AffineExpr:
    """Return the upper (`is_last`) or lower bound of `expr` while the axes in `varying` vary."""
    indices = nest.body.block.args
    bound = extreme(expr, indices, lambda v: indices.index(v) in varying, is_last=is_last)
    assert bound is not None
    assert varying.isdisjoint(bound.used_dims())
    return bound


CASES: Mapping[AffineExpr, tuple[AffineExpr, AffineExpr]] = {
    (BLOCK * 32 + THREAD - STEP) // 16: ((BLOCK * 32 - 15) // 16, (BLOCK * 32 + 31) // 16),
    STEP - THREAD * 2: (AffineExpr.constant(-62), AffineExpr.constant(15)),
    BLOCK * 5 // 3: (BLOCK * 5 // 3, BLOCK * 5 // 3),
    # A range that crosses into the next period has bounds outside 0 to 99.
    (BLOCK * 32 + THREAD) % 100: (
        BLOCK * 32 - (BLOCK * 32 + 31) // 100 * 100,
        BLOCK * 32 + 31 - BLOCK * 32 // 100 * 100,
    ),
    (BLOCK * 32 + THREAD) % 32: (AffineExpr.constant(0), AffineExpr.constant(31)),
    # A range as long as a period takes every remainder.
    (BLOCK * 5 + THREAD) % 31: (AffineExpr.constant(0), AffineExpr.constant(30)),
    (BLOCK * 5 + THREAD) % 9: (AffineExpr.constant(0), AffineExpr.constant(8)),
}


@pytest.mark.parametrize("expr", CASES, ids=str)
def test_bounds_of_expressions(expr: AffineExpr):
    nest = axes(EXTENTS)
    for is_last, expected in enumerate(CASES[expr]):
        bound = found(expr, {1, 2}, nest, is_last=bool(is_last))
        ranges = [Range.extent(extent) for extent in EXTENTS]
        assert simplify(bound, ranges) == simplify(expected, ranges)


def _combined(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    return st.one_of(
        st.builds(AffineExpr.__add__, inner, inner),
        st.builds(AffineExpr.__mul__, inner, st.integers(-4, 4)),
        st.builds(AffineExpr.__floordiv__, inner, st.integers(1, 9)),
        st.builds(AffineExpr.__mod__, inner, st.integers(1, 9)),
    )


_leaves = st.sampled_from([*dims, AffineExpr.constant(-3), AffineExpr.constant(5)])
_exprs = st.recursive(_leaves, _combined, max_leaves=6)


@settings(max_examples=drawn(300))
@given(_exprs, st.sets(st.integers(0, 2), min_size=1))
def test_no_value_is_beyond(expr: AffineExpr, varying: set[int]):
    nest = axes(SMALL)
    first, last = (found(expr, varying, nest, is_last=is_last) for is_last in (False, True))
    for point in product(*map(range, SMALL)):
        assert first.eval(point, []) <= expr.eval(point, []) <= last.eval(point, [])


def test_nothing_is_known_of_data_that_varies():
    (value,) = Block(arg_types=[IndexType()]).args
    expr = AffineExpr.dimension(0)
    assert extreme(expr, [value], lambda _: True, is_last=True) is None
    assert extreme(expr // 3, [value], lambda _: True, is_last=False) is None
    assert extreme(expr % 3, [value], lambda _: True, is_last=True) == AffineExpr.constant(2)
    assert extreme(expr, [value], lambda _: False, is_last=True) == expr
