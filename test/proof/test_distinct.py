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
    ],
)
def test_steps_with_equal_values_may_store_one_element(
    level: str, at: str, store: str, is_right: bool
):
    found = failures(REPEATED.format(level=level, at=at, store=store))
    assert [kind for kind, *_ in found] == ([] if is_right else ["injective"])
