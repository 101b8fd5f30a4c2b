# SPDX-License-Identifier: Apache-2.0
"""Values that are proved to be at least 1 or NaN, and near misses."""

from collections.abc import Callable

import pytest
from xdsl.dialects import arith, math, test
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32
from xdsl.ir import SSAValue

from tilewright.dialects.loop import StoreOp
from tilewright.passes.loop.at_least_one import is_at_least_one

Parse = Callable[[str], ModuleOp]

SOFTMAX = """
loop.kernel @softmax(%x: memref<6x6xf32>, %y: memref<6x6xf32>) -> (%out: memref<6xf32>) {
  loop.for %i in 6 {
    %largest = loop.reduce %k in 6 with max {
      %0 = loop.load %x[%i, %k] : memref<6x6xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %l in 6 with add {
      %1 = loop.load %x[%i, %l] : memref<6x6xf32>
      %2 = arith.subf %1, %largest : f32
      %3 = math.exp %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<6xf32>
  }
}
"""

ONLINE = """
loop.kernel @softmax(%x: memref<6x6xf32>, %g: memref<6xf32>) -> (%out: memref<6xf32>) {
  loop.for %i in 6 {
    %largest, %total, %other = loop.reduce %k in 6 with softmax {
      %0 = loop.load %x[%i, %k] : memref<6x6xf32>
      %one = arith.constant 1.0 : f32
      %1 = loop.load %g[%k] : memref<6xf32>
      loop.yield %0, %one, %1 where [%k - %i] : f32, f32, f32
    } : f32, f32, f32
    %zero = arith.subf %largest, %largest : f32
    %sum = arith.addf %total, %zero : f32
    loop.store %sum, %out[%i] : memref<6xf32>
  }
}
"""

ONLINE_NEAR_MISSES = {
    "0 in rows of minus infinity": ("store %sum", "store %total"),
    "a sum of other values": ("addf %total", "addf %other"),
    "the largest score": ("addf %total", "addf %largest"),
    "smaller weights": ("constant 1.0", "constant 0.5"),
    "the difference of others": ("subf %largest, %largest", "subf %total, %total"),
    "no difference": ("subf %largest, %largest", "subf %largest, %total"),
    "the other sign": ("addf", "subf"),
}

NEAR_MISSES = {
    "other numbers": ("%1 = loop.load %x", "%1 = loop.load %y"),
    "other places": ("%x[%i, %l]", "%x[%l, %i]"),
    "one of the numbers": ("%x[%i, %k]", "%x[%i, 0]"),
    "a mask in a load": ("%x[%i, %l]", "%x[%i, %l] where [3 - %l]"),
    "more terms": ("%k in 6", "%k in 5"),
    "fewer terms": ("%l in 6", "%l in 5"),
    "the smallest": ("with max", "with min"),
    "the largest term": ("with add", "with max"),
    "a product of terms": ("with add", "with mul"),
    "the other sign": ("subf %1, %largest", "subf %largest, %1"),
    "no difference": ("subf", "addf"),
    "no power": ("math.exp", "math.absf"),
    "a mask, which may leave out the largest": ("yield %3", "yield %3 where [%l - %i]"),
    "the largest of some": ("yield %0", "yield %0 where [%k - %i]"),
}


def _proved(parse: Parse, text: str) -> bool:
    store = next(op for op in parse(text).walk() if isinstance(op, StoreOp))
    return is_at_least_one(store.value)


def test_a_term_of_softmax_is_one(parse: Parse) -> None:
    assert _proved(parse, SOFTMAX)


@pytest.mark.parametrize("change", NEAR_MISSES.values(), ids=NEAR_MISSES)
def test_near_misses_of_softmax_may_be_less_than_one(parse: Parse, change: tuple[str, str]) -> None:
    assert change[0] in SOFTMAX
    assert not _proved(parse, SOFTMAX.replace(*change))


def test_the_largest_score_has_the_weight_one(parse: Parse) -> None:
    assert _proved(parse, ONLINE)
    assert _proved(parse, ONLINE.replace("in 6 with", "in 0 with"))  # -inf less itself is NaN


@pytest.mark.parametrize("change", ONLINE_NEAR_MISSES.values(), ids=ONLINE_NEAR_MISSES)
def test_near_misses_of_weighted_sums(parse: Parse, change: tuple[str, str]) -> None:
    assert change[0] in ONLINE
    assert not _proved(parse, ONLINE.replace(*change))


def test_without_a_step_there_is_no_term(parse: Parse) -> None:
    assert not _proved(parse, SOFTMAX.replace("in 6 with", "in 0 with"))


def test_long_sums_are_looked_at_once() -> None:
    """Each later term once caused two looks at each term: forty terms would take an hour."""
    one, *terms = test.TestOp(result_types=[f32] * 40).results
    total: SSAValue = arith.ConstantOp(FloatAttr(1.0, f32)).result
    for term in terms:
        total = arith.AddfOp(total, math.ExpOp(term).result).result
    assert is_at_least_one(total)
    assert not is_at_least_one(arith.AddfOp(total, one).result)


@pytest.mark.parametrize(
    ("constants", "expected"),
    [([1.0], True), ([0.5], False), ([0.5, 0.5], False), ([2.0, 0.0], True), ([2.0, -0.5], False)],
)
def test_sums_of_constants(constants: list[float], expected: bool) -> None:
    first, *rest = [arith.ConstantOp(FloatAttr(constant, f32)) for constant in constants]
    total: SSAValue = first.result
    for term in rest:
        total = arith.AddfOp(total, term.result).result
    assert is_at_least_one(total) is expected
