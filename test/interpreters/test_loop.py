# SPDX-License-Identifier: Apache-2.0
"""Loop IR in the interpreter: free loops, reductions, masks, and wrong programs."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError

Parse = Callable[[str], ModuleOp]
Rand = Callable[..., NDArray[np.float32]]


def kernel(body: str, inputs: str = "%x: memref<10xf32>", output: str = "10") -> str:
    """Return a kernel @k with the given body."""
    return f"loop.kernel @k({inputs}) -> (%out: memref<{output}xf32>) {{\n{body}\n}}"


@pytest.mark.parametrize("shape", [(1, 1, 1), (17, 33, 5), (33, 65, 17), (2, 3000, 100)])
def test_matmul(parse: Parse, rand: Rand, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    a, b = f"memref<{m}x{k}xf32>", f"memref<{k}x{n}xf32>"
    module = parse(f"""
      loop.kernel @k(%a: {a}, %b: {b}) -> (%out: memref<{m}x{n}xf32>) {{
        loop.for %i in {m} m, %j in {n} n {{
          %s = loop.reduce %k in {k} with add {{
            %0 = loop.load %a[%i, %k] : {a}
            %1 = loop.load %b[%k, %j] : {b}
            %2 = arith.mulf %0, %1 : f32
            loop.yield %2 : f32
          }} : f32
          loop.store %s, %out[%i, %j] : memref<{m}x{n}xf32>
        }}
      }}""")
    x, y = rand(m, k), rand(k, n)
    (narrow,) = interpret(module, x, y, function="k")
    (wide,) = interpret(module, x, y, function="k", dtype=np.float64)
    exact = x.astype(np.float64) @ y
    # Rounding of a float32 sum of k products: k * 2^-24 of the sum of their magnitudes.
    assert (np.abs(narrow - exact) <= k * 2.0**-24 * (np.abs(x) @ np.abs(y)) + 1e-7).all()
    np.testing.assert_allclose(wide, exact, rtol=1e-12, atol=1e-12)
    assert (narrow.dtype, wide.dtype) == (np.float32, np.float64)


@pytest.mark.parametrize("monoid", ["add", "mul", "max", "min"])
def test_nested_reductions_count_every_step(parse: Parse, rand: Rand, monoid: str) -> None:
    # The yielded value may depend on neither, one or both axes; each step is still joined.
    module = parse(
        kernel(f"""
      loop.for %i in 10 {{
        %0 = loop.load %x[%i] : memref<10xf32>
        %s = loop.reduce %j in 3 with {monoid} {{
          %t = loop.reduce %k in 2 with {monoid} {{
            loop.yield %0 : f32
          }} : f32
          loop.yield %t : f32
        }} : f32
        loop.store %s, %out[%i] : memref<10xf32>
      }}""")
    )
    x = rand(10)
    join = {"add": np.sum, "mul": np.prod, "max": np.max, "min": np.min}[monoid]
    (result,) = interpret(module, x, function="k")
    np.testing.assert_allclose(result, join(np.stack([x] * 6), axis=0), rtol=1e-6)


def test_weighted_sums_in_chunks_equal_softmax(parse: Parse, rand: Rand) -> None:
    # Chunks of four: the third is half empty, as is the fourth. Steps 7 to 9 have no score.
    module = parse(
        kernel("""
      loop.for %i in 10 {
        %m, %s, %g = loop.reduce %c in 4 with softmax {
          %a, %b, %d = loop.reduce %k in 4 with softmax {
            %0 = loop.load %x[%c * 4 + %k] where [9 - %c * 4 - %k] : memref<10xf32>
            %1 = arith.constant 1.0 : f32
            loop.yield %0, %1, %0 where [6 - %c * 4 - %k] : f32, f32, f32
          } : f32, f32, f32
          loop.yield %a, %b, %d : f32, f32, f32
        } : f32, f32, f32
        %2 = arith.divf %g, %s : f32
        loop.store %2, %out[%i] : memref<10xf32>
      }""")
    )
    x = rand(10) * 100
    (result,) = interpret(module, x, function="k")
    kept = torch.tensor(x[:7], dtype=torch.float64)
    np.testing.assert_allclose(result, [(kept.softmax(0) * kept).sum()] * 10, rtol=1e-5)


@pytest.mark.parametrize(
    ("scores", "sums"),
    [
        ([-np.inf] * 10, 0.0),
        ([0.0, *[-np.inf] * 9], 1.0),
        ([np.nan, *[0.0] * 9], np.nan),
        ([np.inf, *[0.0] * 9], np.nan),
    ],
)
def test_weights_of_scores_that_are_not_finite(
    parse: Parse, scores: list[float], sums: float
) -> None:
    module = parse(
        kernel("""
      %m, %s = loop.reduce %k in 10 with softmax {
        %0 = loop.load %x[%k] : memref<10xf32>
        %1 = arith.constant 1.0 : f32
        loop.yield %0, %1 : f32, f32
      } : f32, f32
      loop.for %i in 10 {
        loop.store %s, %out[%i] : memref<10xf32>
      }""")
    )
    (result,) = interpret(module, np.array(scores, np.float32), function="k")
    np.testing.assert_array_equal(result, [sums] * 10)


MOMENTS = """
      %m, %q, %n = loop.reduce %c in 4 with moments {
        %a, %b, %d = loop.reduce %k in 4 with moments {
          %0 = loop.load %x[%c * 4 + %k] where [9 - %c * 4 - %k] : memref<10xf32>
          %1 = arith.constant 0.0 : f32
          %2 = arith.constant 1.0 : f32
          loop.yield %0, %1, %2 where [9 - %c * 4 - %k] : f32, f32, f32
        } : f32, f32, f32
        loop.yield %a, %b, %d : f32, f32, f32
      } : f32, f32, f32
      loop.for %i in 10 {
        %3 = loop.predicate [0 - %i] : i1
        %4 = loop.predicate [1 - %i] : i1
        %5 = arith.select %4, %q, %n : f32
        %6 = arith.select %3, %m, %5 : f32
        loop.store %6, %out[%i] : memref<10xf32>
      }"""
"""Mean, squared deviations and count of ten numbers, in chunks of four: the last one is empty."""


@pytest.mark.parametrize("shift", [0, 1000])
def test_moments_in_chunks_are_those_of_all_numbers(parse: Parse, rand: Rand, shift: float) -> None:
    x = rand(10) + np.float32(shift)
    (result,) = interpret(parse(kernel(MOMENTS)), x, function="k")
    exact = x.astype(np.float64)
    expected = [exact.mean(), exact.var() * 10, 10]
    np.testing.assert_allclose(result[:3], expected, rtol=1e-4 if shift else 1e-6)


@pytest.mark.parametrize(
    ("first", "mean"), [([np.inf], np.inf), ([np.nan], np.nan), ([np.inf, -np.inf], np.nan)]
)
def test_moments_of_numbers_that_are_not_finite(
    parse: Parse, first: list[float], mean: float
) -> None:
    x = np.array([*first, *[1.0] * (10 - len(first))], np.float32)
    (result,) = interpret(parse(kernel(MOMENTS)), x, function="k")
    np.testing.assert_array_equal(result[:3], [mean, np.nan, 10])


def test_several_values_at_once(parse: Parse, rand: Rand) -> None:
    module = parse(
        kernel("""
      %s, %q = loop.reduce %k in 10 with add {
        %0 = loop.load %x[%k] : memref<10xf32>
        %1 = arith.mulf %0, %0 : f32
        loop.yield %0, %1 : f32, f32
      } : f32, f32
      loop.for %i in 10 {
        %2 = arith.divf %q, %s : f32
        loop.store %2, %out[%i] : memref<10xf32>
      }""")
    )
    x = np.abs(rand(10))
    (result,) = interpret(module, x, function="k")
    np.testing.assert_allclose(result, np.full(10, (x * x).sum() / x.sum()), rtol=1e-6)


@pytest.mark.parametrize(
    ("monoid", "identity"), [("add", 0), ("mul", 1), ("max", -np.inf), ("min", np.inf)]
)
def test_masked_steps_join_the_identity(
    parse: Parse, rand: Rand, monoid: str, identity: float
) -> None:
    # Ten elements in chunks of four: the third chunk is half empty, and row 9 has no step at all.
    module = parse(
        kernel(f"""
      loop.for %i in 10 {{
        %s = loop.reduce %c in 3 with {monoid} {{
          %t = loop.reduce %k in 4 with {monoid} {{
            %0 = loop.load %x[%c * 4 + %k] where [9 - %c * 4 - %k] : memref<10xf32>
            loop.yield %0 where [8 - %i, 9 - %c * 4 - %k] : f32
          }} : f32
          loop.yield %t : f32
        }} : f32
        loop.store %s, %out[%i] : memref<10xf32>
      }}""")
    )
    x = rand(10)
    join = {"add": np.sum, "mul": np.prod, "max": np.max, "min": np.min}[monoid]
    (result,) = interpret(module, x, function="k")
    np.testing.assert_allclose(result, [join(x)] * 9 + [identity], rtol=1e-6)


def test_an_empty_reduction_and_an_empty_loop(parse: Parse) -> None:
    module = parse(
        kernel(
            """
      %s = loop.reduce %k in 0 with max {
        %0 = loop.load %x[%k] : memref<0xf32>
        loop.yield %0 : f32
      } : f32
      loop.for %i in 0 {
        loop.store %s, %out[%i + 99] : memref<1xf32>
      }
      loop.for %i in 1 {
        loop.store %s, %out[%i] : memref<1xf32>
      }""",
            "%x: memref<0xf32>",
            "1",
        )
    )
    (result,) = interpret(module, np.zeros(0, np.float32), function="k")
    assert result.tolist() == [-np.inf]


def test_masked_loads_give_zero_and_masked_stores_are_dropped(parse: Parse, rand: Rand) -> None:
    module = parse(
        kernel("""
      loop.for %i in 12 {
        %0 = loop.load %x[%i - 3] where [%i - 3, 12 - %i] : memref<10xf32>
        loop.store %0, %out[%i] where [9 - %i] : memref<10xf32>
      }""")
    )
    x = rand(10)
    (result,) = interpret(module, x, function="k")
    np.testing.assert_array_equal(result, [0, 0, 0, *x[:7]])


def test_a_loop_larger_than_a_piece_is_cut(parse: Parse) -> None:
    module = parse("""
      loop.kernel @k(%x: memref<3000xf32>) -> (%out: memref<3000x1000xf32>) {
        loop.for %i in 3000, %j in 1000 {
          %0 = loop.load %x[%i] : memref<3000xf32>
          loop.store %0, %out[%i, %j] : memref<3000x1000xf32>
        }
      }""")
    x = np.arange(3000, dtype=np.float32)
    (result,) = interpret(module, x, function="k")
    assert (result == x[:, None]).all()


LOOP = """
  loop.for %i in {extent} {{
    %0 = loop.load %x[{load}] : memref<10xf32>
    loop.store %0, %out[{store}] : memref<10xf32>
  }}"""

WRONG = {
    "load below": (
        dict(extent=10, load="%i - 1", store="%i"),
        r"@k: '%0 = loop.load %x\[%i - 1\].*': subscript 0 of %x is -1, out of bounds .* size 10",
    ),
    "load above": (
        dict(extent=10, load="%i + 1", store="%i"),
        r"subscript 0 of %x is 10, out of bounds for an axis of size 10",
    ),
    "the mask does not cover it": (
        dict(extent=10, load="%i + 3] where [7 - %i", store="%i"),
        r"subscript 0 of %x is 10, out of bounds",
    ),
    "store above": (
        dict(extent=10, load="%i", store="%i * 2"),
        r"loop.store %0, %out\[%i \* 2\].*': subscript 0 of %out is 10, out of bounds",
    ),
    "unwritten": (
        dict(extent=9, load="%i", store="%i"),
        r"nothing writes element \[9\] of %out",
    ),
    "masked away": (
        dict(extent=10, load="%i", store="%i] where [%i - 1"),
        r"nothing writes element \[0\] of %out",
    ),
    "two steps, one element": (
        dict(extent=10, load="%i", store="%i floordiv 2"),
        r"element \[0\] is stored twice, as .* and as .*every step must store to elements of its",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_access(parse: Parse, rand: Rand, case: str) -> None:
    fields, message = WRONG[case]
    module = parse(kernel(LOOP.format(**fields)))
    with pytest.raises(InterpreterError, match=message):
        interpret(module, rand(10), function="k")


def test_two_stores_of_one_value_agree(parse: Parse, rand: Rand) -> None:
    module = parse(kernel(LOOP.format(extent=10, load="%i", store="%i") * 2))
    x = rand(10)
    (result,) = interpret(module, x, function="k")
    np.testing.assert_array_equal(result, x)


def test_two_loops_that_store_different_values(parse: Parse, rand: Rand) -> None:
    twice = LOOP.format(extent=10, load="%i", store="%i") + LOOP.format(
        extent=10, load="9 - %i", store="%i"
    )
    with pytest.raises(InterpreterError, match="stored twice"):
        interpret(parse(kernel(twice)), rand(10), function="k")


def test_nan_is_a_value_like_others(parse: Parse) -> None:
    module = parse(kernel(LOOP.format(extent=10, load="%i", store="%i")))
    x = np.full(10, np.nan, np.float32)
    (result,) = interpret(module, x, function="k")
    assert np.isnan(result).all()
