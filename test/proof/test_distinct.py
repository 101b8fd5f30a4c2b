# SPDX-License-Identifier: Apache-2.0
"""Stores of one element by two steps are refuted, except of joined values."""

import pytest
from proved import KERNELS, changed, failures

from tilewright.proof.answer import Outcome

SPLIT = (KERNELS / "matmul_split_k.mlir").read_text()


def test_blocks_that_joined_their_sums_may_store_one_element():
    assert failures(SPLIT) == []
    dropped = changed(SPLIT, "arith.addf %acc, %beta", "arith.addf %partial, %beta")
    ((kind, subject, outcome, evidence),) = failures(dropped)
    assert (kind, subject, outcome) == ("injective", "stores to %out", Outcome.REFUTED)
    assert evidence.startswith("%s = ")
    assert "%s' = " in evidence


TWO_STORES = """\
loop.kernel @concatenate(%x: memref<4xf32>, %y: memref<5xf32>) -> (%out: memref<9xf32>) {
  tile.launch (%t = thread 9) {
    %0 = loop.load %x[%t] where [3 - %t] : memref<4xf32>
    %1 = loop.load %y[%t - 4] where [%t - 4] : memref<5xf32>
    loop.store %0, %out[%t] where [3 - %t] : memref<9xf32>
    loop.store %1, %out[%t] where [%t - 4] : memref<9xf32>
  }
}
"""


def test_two_stores_to_one_element_are_refuted():
    assert failures(TWO_STORES) == []
    overlap = changed(TWO_STORES, "%0, %out[%t] where [3 - %t]", "%0, %out[%t] where [4 - %t]")
    assert failures(overlap) == [
        ("injective", "stores to %out", Outcome.REFUTED, "%t = 4, %t' = 4, subscript 0 = 4")
    ]


REPEATED = """\
loop.kernel @repeated(%x: memref<4xf32>) -> (%out: memref<4xf32>) {{
  tile.launch (%t = {level} 4, %v = register 2) {{
    %0 = loop.load %x[{at}] : memref<4xf32>
    loop.store %0, %out[{store}] : memref<4xf32>
  }}
}}
"""


@pytest.mark.parametrize(
    ("level", "at", "store", "is_right"),
    [
        ("thread", "%t", "%t", True),  # a thread stores one value twice
        ("thread", "%t floordiv 2 + %v", "%t", False),
        ("block", "%t", "%t", True),
        ("thread", "3", "3", True),  # all threads store one value
        ("thread", "%t floordiv 2", "%t floordiv 2", True),
        ("block", "%t floordiv 2", "%t floordiv 2", True),
        ("thread", "%t", "%t floordiv 2", False),
        ("block", "%t", "%t floordiv 2", False),
        ("thread", "%v", "%t", False),
    ],
)
def test_steps_with_equal_values_may_store_one_element(
    level: str, at: str, store: str, is_right: bool
):
    found = failures(REPEATED.format(level=level, at=at, store=store))
    assert ("injective" in [kind for kind, *_ in found]) is not is_right


ONE_VALUE = """\
loop.kernel @one_value(%x: memref<4xf32>, %y: memref<4xf32>) -> (%out: memref<2xf32>) {
  tile.launch (%t = thread 4) {
    %0 = loop.load %x[%t floordiv 2] where [0 - %t floordiv 2] : memref<4xf32>
    %sum = loop.reduce %k in 4 with add {
      %1 = loop.load %y[%k] : memref<4xf32>
      loop.yield %1 : f32
    } : f32
    %counts = loop.predicate [%t floordiv 2] : i1
    %2 = arith.mulf %0, %sum : f32
    %3 = arith.select %counts, %2, %0 : f32
    loop.store %3, %out[%t floordiv 2] : memref<2xf32>
  }
}
"""


def test_threads_may_store_one_computed_value():
    assert failures(ONE_VALUE) == []


OTHER_VALUES = {
    "another element": ("%x[%t floordiv 2]", "%x[%t]"),
    "another mask": ("where [0 - %t floordiv 2]", "where [0 - %t]"),
    "sums of other terms": ("%y[%k]", "%y[%t]"),
    "steps at which a buffer differs": ("loop.load %x", "loop.load %out"),
}


@pytest.mark.parametrize(("old", "new"), OTHER_VALUES.values(), ids=OTHER_VALUES)
def test_threads_that_may_store_other_values_are_refuted(old: str, new: str):
    wrong = changed(ONE_VALUE, old, new)
    if "%out" in new:
        wrong = changed(wrong, "2] : memref<4xf32>", "2] : memref<2xf32>")
    found = [(kind, outcome) for kind, _, outcome, _ in failures(wrong)]
    assert found == [("injective", Outcome.REFUTED)]
