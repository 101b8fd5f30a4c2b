# SPDX-License-Identifier: Apache-2.0
"""Index arithmetic compared with brute force: random expressions, evaluated at every point."""

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import Builtin, IndexType, ModuleOp
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.parser import Parser

from tilewright.dialects.index import (
    Range,
    delinearize,
    dims_as_written,
    linearize,
    range_of,
    simplify,
    simplify_map,
)
from tilewright.dialects.kernel import IndexOp, Kernel

DIMS = 3

Points = Sequence[tuple[int, ...]]


def _binary(kind: AffineBinaryOpKind, lhs: AffineExpr, rhs: AffineExpr) -> AffineExpr:
    """Return the expression without the simplification of xDSL's operators."""
    return AffineBinaryOpExpr(kind, lhs, rhs)


def _combine(inner: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    factors = st.integers(-9, 9).map(AffineExpr.constant)
    divisors = st.integers(1, 12).map(AffineExpr.constant)
    division = st.sampled_from(
        [AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod, AffineBinaryOpKind.CeilDiv]
    )
    return st.one_of(
        st.builds(_binary, st.just(AffineBinaryOpKind.Add), inner, inner),
        st.builds(_binary, st.just(AffineBinaryOpKind.Mul), inner, factors),
        st.builds(_binary, division, inner, divisors),
    )


leaves = st.one_of(
    st.integers(0, DIMS - 1).map(AffineExpr.dimension),
    st.integers(-20, 20).map(AffineExpr.constant),
)
exprs = st.recursive(leaves, _combine, max_leaves=8)
ranges = st.lists(
    st.tuples(st.integers(-5, 5), st.integers(0, 7)).map(lambda r: Range(r[0], r[0] + r[1])),
    min_size=DIMS,
    max_size=DIMS,
)
shapes = st.lists(st.integers(1, 7), min_size=1, max_size=4)


def points_of(known: Sequence[Range]) -> Points:
    """Return every point within the ranges."""
    return list(product(*(range(r.low, r.high + 1) for r in known)))


def values_of(expr: AffineExpr, points: Points) -> list[int]:
    """Return the value of `expr` at each point, as xDSL evaluates it."""
    return [expr.eval(point, ()) for point in points]


@given(exprs, ranges)
def test_simplify_keeps_every_value_within_the_ranges(expr: AffineExpr, known: list[Range]) -> None:
    points = points_of(known)
    assert values_of(simplify(expr, known), points) == values_of(expr, points)


@given(exprs, ranges, st.lists(st.booleans(), min_size=DIMS, max_size=DIMS))
def test_simplify_assumes_nothing_of_an_unknown_range(
    expr: AffineExpr, known: list[Range], is_known: list[bool]
) -> None:
    given_ranges = [r if k else None for r, k in zip(known, is_known, strict=True)]
    reached = [r if k else Range(-13, 13) for r, k in zip(known, is_known, strict=True)]
    points = points_of(reached)[:: max(1, len(points_of(reached)) // 500)]
    assert values_of(simplify(expr, given_ranges), points) == values_of(expr, points)


@given(exprs, ranges)
def test_simplify_is_a_fixpoint(expr: AffineExpr, known: list[Range]) -> None:
    once = simplify(expr, known)
    assert simplify(once, known) == once
    assert simplify(simplify(expr)) == simplify(expr)


@given(exprs, ranges)
def test_range_of_holds_every_value(expr: AffineExpr, known: list[Range]) -> None:
    found = range_of(expr, known)
    assert found is not None
    values = values_of(expr, points_of(known))
    assert Range(min(values), max(values)) in found


@given(st.lists(st.integers(-6, 6), min_size=DIMS, max_size=DIMS), st.integers(-9, 9), ranges)
def test_range_of_a_linear_expression_is_exact(
    factors: list[int], constant: int, known: list[Range]
) -> None:
    expr: AffineExpr = AffineExpr.constant(constant)
    for dim, factor in enumerate(factors):
        expr = expr + AffineExpr.dimension(dim) * factor
    values = values_of(expr, points_of(known))
    assert range_of(expr, known) == Range(min(values), max(values))


@given(shapes)
def test_linearize_counts_elements_in_order(shape: list[int]) -> None:
    dims = [AffineExpr.dimension(d) for d in range(len(shape))]
    points = list(product(*map(range, shape)))
    assert values_of(linearize(dims, shape), points) == list(range(len(points)))


@given(shapes)
def test_delinearize_undoes_linearize(shape: list[int]) -> None:
    dims = tuple(AffineExpr.dimension(d) for d in range(len(shape)))
    known = [Range.extent(size) for size in shape]
    found = delinearize(linearize(dims, shape), shape)
    # Ranges make the round trip vanish; the only index of an axis of one step is 0.
    assert [simplify(e, known) for e in found] == [simplify(d, known) for d in dims]


@given(shapes)
def test_linearize_undoes_delinearize(shape: list[int]) -> None:
    offset = AffineExpr.dimension(0)
    assert simplify(linearize(delinearize(offset, shape), shape)) == offset


@given(shapes, st.data())
def test_a_reshape_and_back_is_the_identity(shape: list[int], data: st.DataObject) -> None:
    # The reshape goes through another shape of as many elements: two axes, split at a random place.
    cut = data.draw(st.integers(0, len(shape)))
    other = [_product(shape[:cut]), _product(shape[cut:])]
    dims = tuple(AffineExpr.dimension(d) for d in range(len(shape)))
    there = delinearize(linearize(dims, shape), other)
    back = delinearize(linearize(there, other), shape)
    known = [Range.extent(size) for size in shape]
    assert [simplify(e, known) for e in back] == [simplify(d, known) for d in dims]


def _product(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


@given(exprs)
def test_dims_as_written_are_the_dims_used(expr: AffineExpr) -> None:
    simple = simplify(expr)
    used = {e.position for e in simple.dfs() if isinstance(e, AffineDimExpr)}
    written = dims_as_written(simple)
    assert set(written) == used
    assert len(written) == len(used)


HEADER = '%a, %b, %c = "test.op"() : () -> (index, index, index)\n'


def parse(subscript: str) -> tuple[ModuleOp, IndexOp]:
    """Return a module with the index `[subscript]` over %a, %b and %c."""
    context = Context()
    for dialect in (Builtin, test.Test, Kernel):
        context.load_dialect(dialect)
    module = Parser(context, f"{HEADER}%r = kernel.index [{subscript}]").parse_module()
    module.verify()
    op = module.body.block.last_op
    assert isinstance(op, IndexOp)
    return module, op


def text_of(expr: AffineExpr) -> str:
    """Return `expr` as text with all brackets."""
    match expr:
        case AffineDimExpr(position):
            return "%" + "abc"[position]
        case AffineBinaryOpExpr(AffineBinaryOpKind.CeilDiv, lhs, rhs):
            return f"-(-({text_of(lhs)}) floordiv {rhs})"
        case AffineBinaryOpExpr(kind, lhs, rhs):
            return f"({text_of(lhs)} {kind.get_token()} {text_of(rhs)})"
        case _:
            return str(expr)


def values_at(op: IndexOp, points: Points) -> list[int]:
    """Return the value of `op` at each point, which gives the values of %a, %b and %c."""
    (expr,) = op.map.data.results
    order = [value.name_hint for value in op.indices]
    used = ["abc".index(name or "") for name in order]
    return [expr.eval([point[d] for d in used], ()) for point in points]


@given(exprs, ranges)
def test_the_parser_reads_any_bracketing(expr: AffineExpr, known: list[Range]) -> None:
    _, op = parse(text_of(expr))
    points = points_of(known)
    assert values_at(op, points) == values_of(expr, points)


@given(exprs)
def test_subscripts_parse_as_they_print(expr: AffineExpr) -> None:
    module, _ = parse(text_of(expr))
    again, op = parse(_subscript(module))
    assert _subscript(again) == _subscript(module)
    assert op.map == parse(_subscript(again))[1].map


def _subscript(module: ModuleOp) -> str:
    return str(module).partition("kernel.index [")[2].partition("]")[0]


@given(exprs)
def test_an_access_that_is_built_prints_and_parses_to_itself(expr: AffineExpr) -> None:
    # Passes build accesses, people read and edit them: both have the same form.
    declared = test.TestOp(result_types=[IndexType()] * DIMS)
    for value, name in zip(declared.results, "abc", strict=True):
        value.name_hint = name
    built = IndexOp(([expr], declared.results))
    module = ModuleOp([declared, built])
    again, parsed = parse(_subscript(module))
    assert parsed.map == built.map
    assert [v.name_hint for v in parsed.indices] == [v.name_hint for v in built.indices]
    assert _subscript(again) == _subscript(module)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("%a * 2 + 3 * %a", "%a * 5"),
        ("99 - %a - 1", "98 - %a"),
        ("-%a", "0 - %a"),
        ("%a - %a", "0"),
        ("-3", "0 - 3"),
        ("(%a * 7 + 14) floordiv 7", "%a + 2"),
        ("(%a + 9) mod 4", "(%a + 1) mod 4"),
        ("%a floordiv 3 floordiv 5", "%a floordiv 15"),
        ("%a * 3 floordiv 2 floordiv 9", "%a floordiv 6"),
        ("%a mod 12 mod 4", "%a mod 4"),
        ("(%a + 6) mod 12 mod 4", "(%a + 2) mod 4"),
        ("(%a * 6 + 5) mod 12 floordiv 6", "%a mod 2"),
        ("4 * (%a floordiv 4) + %a mod 4", "%a"),
        ("%b + %a * 8", "%a * 8 + %b"),
    ],
)
def test_printed_form(text: str, printed: str) -> None:
    assert _subscript(parse(text)[0]) == printed


def test_ranges_make_divisions_vanish() -> None:
    d0, d1 = AffineExpr.dimension(0), AffineExpr.dimension(1)
    known = [None, Range(0, 6)]
    assert simplify((d0 * 7 + d1) // 7, known) == d0
    assert simplify((d0 * 7 + d1) % 7, known) == d1
    assert simplify((d0 * 7 + d1) // 7, [None, Range(0, 7)]) != d0
    assert simplify((d0 * 14 + d1) % 7, known) == d1
    assert simplify_map(AffineMap(2, 0, (d1 // 7, d0)), known).results == (
        AffineExpr.constant(0),
        d0,
    )


def test_expressions_that_are_no_subscripts_are_refused() -> None:
    d0, d1 = AffineExpr.dimension(0), AffineExpr.dimension(1)
    with pytest.raises(ValueError, match="subscripts use dimensions only, not symbols"):
        simplify(AffineExpr.symbol(0))
    for divisor in (AffineExpr.constant(0), AffineExpr.constant(-2), d1):
        quotient = _binary(AffineBinaryOpKind.FloorDiv, d0, divisor)
        with pytest.raises(ValueError, match="must be a positive constant"):
            simplify(quotient)
