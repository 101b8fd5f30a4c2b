# SPDX-License-Identifier: Apache-2.0
"""Loop IR in the interpreter: monoids of all types, indices as values and back, ordered loops."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError

Parse = Callable[[str], ModuleOp]
Array = NDArray[np.generic]

NAN, INF = np.nan, np.inf


def reduction(monoid: str, element: str, columns: int, mask: str = "") -> str:
    """Return a kernel @k that folds the rows of its input."""
    x, out = f"memref<3x{columns}x{element}>", f"memref<3x{element}>"
    return f"""
      loop.kernel @k(%x: {x}) -> (%out: {out}) {{
        loop.for %i in 3 {{
          %s = loop.reduce %k in {columns} with {monoid} {{
            %0 = loop.load %x[%i, %k] : {x}
            loop.yield %0{mask} : {element}
          }} : {element}
          loop.store %s, %out[%i] : {out}
        }}
      }}"""


@pytest.mark.parametrize(
    ("monoid", "fold"),
    [("add", np.add), ("mul", np.multiply), ("max", np.maximum), ("min", np.minimum)],
)
@pytest.mark.parametrize("element", ["i32", "i64"])
def test_integers_are_folded_in_their_type(
    parse: Parse, monoid: str, fold: np.ufunc, element: str
) -> None:
    dtype = np.dtype(f"i{int(element[1:]) // 8}")
    limits = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(limits.min, limits.max, (3, 5), dtype)
    (actual,) = interpret(parse(reduction(monoid, element, 5)), x, function="k")
    np.testing.assert_array_equal(actual, fold.reduce(x, 1, dtype=dtype))
    assert actual.dtype == dtype


@pytest.mark.parametrize(
    ("monoid", "element", "identity"),
    [
        ("max", "i32", -(2**31)),
        ("min", "i64", 2**63 - 1),
        ("mul", "i64", 1),
        ("and", "i1", True),
        ("or", "i1", False),
        ("max", "f64", -INF),
    ],
)
def test_a_mask_that_never_holds_leaves_the_identity(
    parse: Parse, monoid: str, element: str, identity: object
) -> None:
    module = parse(reduction(monoid, element, 4, " where [%k - 4]"))
    dtype = np.float64 if element == "f64" else np.dtype("?" if element == "i1" else np.int64)
    dtype = np.int32 if element == "i32" else dtype
    (actual,) = interpret(module, np.ones((3, 4), dtype), function="k")
    assert (actual == identity).all()


@pytest.mark.parametrize(("monoid", "fold"), [("and", np.all), ("or", np.any)])
def test_booleans(parse: Parse, monoid: str, fold: Callable[..., Array]) -> None:
    x = np.array([[True, True], [True, False], [False, False]])
    (actual,) = interpret(parse(reduction(monoid, "i1", 2)), x, function="k")
    np.testing.assert_array_equal(actual, fold(x, axis=1))


def arg_reduction(monoid: str, rows: int, columns: int, element: str = "f32") -> str:
    """
    Return a kernel @k that finds the best value of each row and its index.

    The columns are joined in reverse order.
    """
    x = f"memref<{rows}x{columns}x{element}>"
    return f"""
      loop.kernel @k(%x: {x}) -> (%v: memref<{rows}x{element}>, %at: memref<{rows}xi64>) {{
        loop.for %i in {rows} {{
          %m, %a = loop.reduce %k in {columns} with {monoid} {{
            %0 = loop.load %x[%i, {columns - 1} - %k] : {x}
            %1 = loop.index [{columns - 1} - %k] : i64
            loop.yield %0, %1 : {element}, i64
          }} : {element}, i64
          loop.store %m, %v[%i] : memref<{rows}x{element}>
          loop.store %a, %at[%i] : memref<{rows}xi64>
        }}
      }}"""


# The first NaN wins; of equal values the first wins, also where all are the identity.
ROWS: list[tuple[list[float], int, int]] = [
    ([1, 3, 2, 3], 1, 0),
    ([1, NAN, 9, NAN], 1, 1),
    ([-INF, -INF, -INF, -INF], 0, 0),
    ([INF, 2, -INF, INF], 0, 2),
    ([0.0, -0.0, 0.0, -0.0], 0, 0),
]


@pytest.mark.parametrize(("monoid", "best"), [("argmax", 1), ("argmin", 2)])
def test_the_first_best_is_found(parse: Parse, monoid: str, best: int) -> None:
    x = np.array([row[0] for row in ROWS], np.float32)
    expected = [(first, second)[best - 1] for _, first, second in ROWS]
    values, at = interpret(parse(arg_reduction(monoid, *x.shape)), x, function="k")
    np.testing.assert_array_equal(at, expected)
    np.testing.assert_array_equal(values, x[range(len(x)), expected])


def test_pairs_are_joined_across_pieces(parse: Parse) -> None:
    # 20 rows of 50000 are folded in several pieces; the largest value is in the first and the last.
    x = np.zeros((20, 50000), np.int32)
    x[:, 7] = x[:, -1] = np.arange(1, 21)
    module = parse(arg_reduction("argmax", 20, 50000, "i32"))
    values, at = interpret(module, x, function="k")
    np.testing.assert_array_equal(values, np.arange(1, 21))
    assert (at == 7).all()


def test_indices_are_values(parse: Parse) -> None:
    module = parse("""
      loop.kernel @k() -> (%o: memref<4x3xi64>, %w: memref<4x3xi32>, %p: memref<4x3xi1>) {
        loop.for %i in 4, %j in 3 {
          %0 = loop.index [%i * 10 - %j] : i64
          %1 = loop.index [%i * 2147483647 + %j] : i32
          %2 = loop.predicate [%i - 1, 1 - %j] : i1
          loop.store %0, %o[%i, %j] : memref<4x3xi64>
          loop.store %1, %w[%i, %j] : memref<4x3xi32>
          loop.store %2, %p[%i, %j] : memref<4x3xi1>
        }
      }""")
    i, j = np.mgrid[:4, :3]
    values, wrapped, holds = interpret(module, function="k")
    np.testing.assert_array_equal(values, i * 10 - j)
    np.testing.assert_array_equal(wrapped, (i * 2147483647 + j).astype(np.int32))
    np.testing.assert_array_equal(holds, (i >= 1) & (j <= 1))


GATHER = """
  loop.kernel @k(%ids: memref<5xi32>, %x: memref<4x3xf32>) -> (%out: memref<5x3xf32>) {
    loop.for %i in 5, %j in 3 {
      %id = loop.load %ids[%i] : memref<5xi32>
      %s = loop.to_index %id below 4MASK : i32
      %0 = loop.load %x[%s, %j] : memref<4x3xf32>
      loop.store %0, %out[%i, %j] : memref<5x3xf32>
    }
  }"""


def test_gather(parse: Parse) -> None:
    ids, x = np.array([3, 0, 0, 2, 1], np.int32), np.arange(12, dtype=np.float32).reshape(4, 3)
    (actual,) = interpret(parse(GATHER.replace("MASK", "")), ids, x, function="k")
    np.testing.assert_array_equal(actual, x[ids])


@pytest.mark.parametrize("bad", [4, -1])
def test_an_invalid_index_is_named(parse: Parse, bad: int) -> None:
    ids, x = np.array([3, 0, bad, 2, 1], np.int32), np.zeros((4, 3), np.float32)
    with pytest.raises(InterpreterError, match=f"%id is {bad}, not an index of an axis of size 4"):
        interpret(parse(GATHER.replace("MASK", "")), ids, x, function="k")


def test_masked_values_need_be_no_indices(parse: Parse) -> None:
    ids, x = np.array([3, 0, 99, -5, 1], np.int32), np.arange(12, dtype=np.float32).reshape(4, 3)
    module = parse(GATHER.replace("MASK", " where [%i - 4]"))
    (actual,) = interpret(module, ids, x, function="k")
    np.testing.assert_array_equal(actual, x[[0, 0, 0, 0, 1]])


def scan(values: str, rows: int, columns: int, outputs: str) -> str:
    """Return a kernel @k that scans the rows of its input."""
    x = f"memref<{rows}x{columns}xf32>"
    return f"""
      loop.kernel @k(%x: {x}) -> ({outputs}) {{
        loop.for %i in {rows} {{
          loop.scan %k in {columns} {{
            %0 = loop.load %x[%i, %k] : {x}
            {values}
          }}
        }}
      }}"""


@pytest.mark.parametrize(
    ("monoid", "ufunc"), [("add", np.add), ("mul", np.multiply), ("max", np.maximum)]
)
@pytest.mark.parametrize("shape", [(3, 1), (2, 7), (40, 30000)])
def test_scan(parse: Parse, monoid: str, ufunc: np.ufunc, shape: tuple[int, int]) -> None:
    out = f"memref<{shape[0]}x{shape[1]}xf32>"
    text = scan(
        f"%s = loop.prefix %0 with {monoid} : f32\n loop.store %s, %out[%i, %k] : {out}",
        *shape,
        f"%out: {out}",
    )
    x = np.random.default_rng(0).uniform(0.999, 1.001, shape).astype(np.float32)
    (actual,) = interpret(parse(text), x, function="k", dtype=np.float64)
    np.testing.assert_allclose(actual, ufunc.accumulate(x.astype(np.float64), 1), rtol=1e-9)


def test_a_value_that_does_not_vary_is_joined_at_every_step(parse: Parse) -> None:
    text = scan(
        """%one = arith.constant 1.0 : f32
        %s = loop.prefix %one with add : f32
        loop.store %s, %out[%i, %k] : memref<2x5xf32>""",
        2,
        5,
        "%out: memref<2x5xf32>",
    )
    (actual,) = interpret(parse(text), np.zeros((2, 5), np.float32), function="k")
    np.testing.assert_array_equal(actual, [[1, 2, 3, 4, 5]] * 2)


def test_scan_of_pairs(parse: Parse) -> None:
    text = scan(
        """%1 = loop.index [%k] : i64
        %m, %a = loop.prefix %0, %1 with argmax : f32, i64
        loop.store %m, %v[%i, %k] : memref<2x6xf32>
        loop.store %a, %at[%i, %k] : memref<2x6xi64>""",
        2,
        6,
        "%v: memref<2x6xf32>, %at: memref<2x6xi64>",
    )
    x = np.array([[1, 0, 3, 3, 2, 9], [5, NAN, 7, NAN, 1, 8]], np.float32)
    values, at = interpret(parse(text), x, function="k")
    np.testing.assert_array_equal(values, np.maximum.accumulate(x, 1))
    np.testing.assert_array_equal(at, [[0, 0, 2, 2, 2, 5], [0, 1, 1, 1, 1, 1]])
