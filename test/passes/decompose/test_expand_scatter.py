# SPDX-License-Identifier: Apache-2.0
"""Random scatters: searching for the last update gives the results of writing in order."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from xdsl.context import Context
from xdsl.dialects.builtin import (
    FunctionType,
    IntegerType,
    ModuleOp,
    Signedness,
    TensorType,
    f16,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from tilewright.dialects.index import Range, range_of
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.prim import ScatterOp
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.passes.decompose.expand_scatter import ExpandScatterPass
from tilewright.passes.driver.verification import verify_module
from tilewright.passes.loop.lift import LiftPass

Shape = tuple[int, ...]

_UI8 = IntegerType(8, Signedness.UNSIGNED)
_NUMPY: dict[Attribute, Any] = {
    f16: np.float16,
    f32: np.float32,
    f64: np.float64,
    i1: np.bool_,
    _UI8: np.uint8,
    i32: np.int32,
    i64: np.int64,
}
_BITS = [Monoid.AND, Monoid.OR]
_JOINS = [Monoid.ADD, Monoid.MUL, Monoid.MAX, Monoid.MIN]

# Small whole numbers: sums and products of a few are exact in any order.
_JOINED: list[tuple[Attribute, Monoid | None]] = [
    *((element, None) for element in _NUMPY),
    *((element, join) for element in (f32, f64, i32, i64) for join in _JOINS),
    *((i1, join) for join in _BITS),
]


def scattering(
    updates: Shape, base: Shape, map: AffineMap, element: Attribute, join: Monoid | None
) -> ModuleOp:
    """Return a module whose `@main` takes updates, a base and subscripts."""
    indices = [TensorType(i64, updates)] * map.num_symbols
    types = [TensorType(element, updates), TensorType(element, base), *indices]
    body = Block(arg_types=types)
    combiner = None if join is None else MonoidAttr(join)
    scatter = ScatterOp(body.args[0], body.args[1], body.args[2:], map, combiner)
    body.add_ops([scatter, ReturnOp(scatter.result)])
    signature = FunctionType.from_lists(types, [types[1]])
    module = ModuleOp([FuncOp("main", signature, Region(body))])
    verify_module(module)
    return module


def results(module: ModuleOp, *arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the results of the scatter, of its expansion, and of the lifted expansion."""
    expanded = module.clone()
    ExpandScatterPass().apply(Context(), expanded)
    lifted = expanded.clone()
    LiftPass().apply(Context(), lifted)
    for level in (expanded, lifted):
        verify_module(level)
    assert "prim.scatter" not in str(expanded)
    return [interpret(level, *arrays)[0] for level in (module, expanded, lifted)]


@st.composite
def subscripts(draw: st.DrawFn, sizes: Shape) -> list[AffineExpr]:
    """Draw a subscript for each axis of the base: a dimension, an affine expression, or data."""
    dims = [AffineExpr.dimension(dim) for dim in range(len(sizes))]
    exprs: list[AffineExpr] = [AffineConstantExpr(1), *dims]
    exprs += [dim * 2 + 1 for dim in dims] + [dim // 2 for dim in dims]
    exprs += [left + right for left, right in pairwise(dims)]
    rank, found, symbols = draw(st.integers(1, 3)), list[AffineExpr](), 0
    for _ in range(rank):
        if draw(st.booleans()):
            found.append(AffineExpr.symbol(symbols))
            symbols += 1
        else:
            found.append(draw(st.sampled_from(exprs)))
    return found


@given(
    data=st.data(),
    updates=st.lists(st.sampled_from([0, 1, 2, 3]), max_size=3).map(tuple),
    joined=st.sampled_from(_JOINED),
    seed=st.integers(0, 9),
)
@settings(max_examples=40, deadline=None, print_blob=True)
def test_searching_gives_the_results_of_writing(
    data: st.DataObject, updates: Shape, joined: tuple[Attribute, Monoid | None], seed: int
):
    exprs = data.draw(subscripts(updates))
    ranges = [Range.extent(size) for size in updates]
    symbols = [e for e in exprs if e in [AffineExpr.symbol(i) for i in range(3)]]
    base: list[int] = []
    for expr in exprs:
        known = None if expr in symbols else range_of(expr, ranges)
        base.append(data.draw(st.integers(1 if known is None else known.high + 1, 7)))
    element, join = joined
    random, dtype = np.random.default_rng(seed), _NUMPY[element]
    high = 2 if element == i1 else 4
    arrays = [random.integers(0, high, shape).astype(dtype) for shape in (updates, tuple(base))]
    sizes = [base[exprs.index(symbol)] for symbol in symbols]
    indices = [random.integers(0, size, updates) for size in sizes]
    map = AffineMap(len(updates), len(symbols), tuple(exprs))
    written, *found = results(
        scattering(updates, tuple(base), map, element, join), *arrays, *indices
    )
    for result in found:
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, written)


@pytest.mark.parametrize("join", [None, Monoid.ADD])
@pytest.mark.parametrize("wrong", [-1, 4])
def test_a_subscript_outside_is_an_error(join: Monoid | None, wrong: int):
    row, column = AffineExpr.symbol(0), AffineExpr.dimension(1)
    module = scattering((2, 3), (4, 3), AffineMap(2, 1, (row, column)), f32, join)
    ones = np.ones((2, 3), np.float32)
    rows = np.array([[0] * 3, [wrong] * 3])
    ExpandScatterPass().apply(Context(), module)
    with pytest.raises(InterpreterError, match=f"{wrong}, out of bounds"):
        interpret(module, ones, np.ones((4, 3), np.float32), rows)


def test_a_broken_tie_is_the_last_in_row_major_order():
    map = AffineMap(2, 1, (AffineExpr.symbol(0),))
    module = scattering((2, 2), (3,), map, f32, None)
    updates = np.array([[1, 2], [3, 4]], np.float32)
    base, indices = np.zeros(3, np.float32), np.array([[0, 2], [2, 0]])
    for result in results(module, updates, base, indices):
        np.testing.assert_array_equal(result, np.array([4, 0, 3], np.float32))
