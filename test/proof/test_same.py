# SPDX-License-Identifier: Apache-2.0
"""Tiles that store the values of their nests are proved; planted bugs within bounds are not."""

import numpy as np
import pytest
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from proved import KERNELS, certificate, changed, failures, kernel
from xdsl.parser import Parser

import tilewright
from tilewright.passes.driver.lowering import context
from tilewright.passes.rewriting.launching import with_main
from tilewright.proof.answer import Answer, Outcome
from tilewright.proof.same import same_obligations
from tilewright.proof.solver import Solver

MATMUL = (KERNELS / "matmul_odd.mlir").read_text()

MATMUL_NEST = """\
loop.kernel @mm(%a: memref<33x65xf32>, %b: memref<65x17xf32>) -> (%out: memref<33x17xf32>) {
  loop.for %i in 33, %j in 17 {
    %sum = loop.reduce %k in 65 with add {
      %0 = loop.load %a[%i, %k] : memref<33x65xf32>
      %1 = loop.load %b[%k, %j] : memref<65x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<33x17xf32>
  }
}
"""


def same(tile: str, nest: str) -> Answer:
    """Return the answer for the only output of two kernels."""
    (obligation,) = same_obligations(kernel(tile), kernel(nest))
    return obligation.decide(Solver())


def test_a_product_over_tiles_has_the_terms_of_the_nest():
    assert same(MATMUL, MATMUL_NEST).outcome is Outcome.PROVED


PLANTED = {
    "order of k in one operand": ("%as[%tm * 4 + %vm, %ki]", "%as[%tm * 4 + %vm, 15 - %ki]"),
    "mask that is too strict": (
        "64 - %ko * 16 - %k] : memref<33",
        "63 - %ko * 16 - %k] : memref<33",
    ),
    "step that is left out": ("loop.reduce %ko in 5", "loop.reduce %ko in 4"),
    "columns in another order": ("%bs[%ki, %sn * 8 + %tn]", "%bs[%ki, %tn * 4 + %sn]"),
    "row of another block": ("%a[%bm * 32 + %i,", "%a[32 - %bm * 32 - %i,"),
    "sum of another op": ("arith.mulf %x, %y", "arith.addf %x, %y"),
    "input that is the other": ("%x, %y : f32", "%x, %x : f32"),
}


@pytest.mark.parametrize(("old", "new"), PLANTED.values(), ids=PLANTED)
def test_a_bug_within_bounds_is_not_proved(old: str, new: str):
    wrong = changed(MATMUL, old, new)
    assert failures(wrong) == []
    answer = same(wrong, MATMUL_NEST)
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.evidence


REDUCE_NEST = """\
loop.kernel @r(%x: memref<5x9xf32>) -> (%out: memref<5xf32>) {{
  loop.for %i in 5 {{
    %sum = loop.reduce %k in 9 with {monoid} {{
      %0 = loop.load %x[%i, %k] : memref<5x9xf32>
      %1 = math.exp %0 : f32
      loop.yield %1 : f32
    }} : f32
    loop.store %sum, %out[%i] : memref<5xf32>
  }}
}}
"""

REDUCE_TILE = """\
loop.kernel @r(%x: memref<5x9xf32>) -> (%out: memref<5xf32>) {{
  tile.launch (%b = block 5, %t = thread 4, %v = register 3) {{
    %0 = loop.load %x[%b, %t * 3 + %v] where [8 - %t * 3 - %v] : memref<5x9xf32>
    %1 = math.exp %0 : f32
    %2 = loop.reduce %again in {times} with {monoid} {{
      loop.yield %1 : f32
    }} : f32
    %sum = tile.combine %2 across %t, %v with {monoid}{mask} : f32
    loop.store %sum, %out[%b] where [0 - %t] : memref<5xf32>
  }}
}}
"""

MASK = " where [8 - %t * 3 - %v]"


@pytest.mark.parametrize(
    ("monoid", "times", "mask", "is_same"),
    [
        ("add", 1, MASK, True),
        ("add", 2, MASK, False),  # each term twice
        ("max", 2, MASK, True),  # a maximum does not count
        ("add", 1, "", False),  # exp(0) of what is beyond the row
        ("max", 1, "", False),
        ("add", 1, " where [7 - %t * 3 - %v]", False),
    ],
)
def test_joins_count_their_terms(monoid: str, times: int, mask: str, is_same: bool):
    nest = REDUCE_NEST.format(monoid=monoid)
    tile = REDUCE_TILE.format(monoid=monoid, times=times, mask=mask)
    assert failures(tile) == []
    assert (same(tile, nest).outcome is Outcome.PROVED) == is_same


TRANSPOSE_NEST = """\
loop.kernel @transpose(%x: memref<8x4xf32>) -> (%out: memref<4x8xf32>) {
  loop.for %i in 4, %j in 8 {
    %0 = loop.load %x[%j, %i] : memref<8x4xf32>
    loop.store %0, %out[%i, %j] : memref<4x8xf32>
  }
}
"""

TRANSPOSE_TILE = """\
loop.kernel @transpose(%x: memref<8x4xf32>) -> (%out: memref<4x8xf32>) {
  tile.launch (%b = block 2, %i = thread 4, %j = thread 4) {
    %0 = loop.load %x[%b * 4 + %i, %j] : memref<8x4xf32>
    %s = tile.share %0 at [%i, %j] : memref<4x4xf32, 3 : i64>
    %1 = loop.load %s[%j, %i] : memref<4x4xf32, 3 : i64>
    loop.store %1, %out[%i, %b * 4 + %j] : memref<4x8xf32>
  }
}
"""


def test_shared_values_are_those_of_the_thread_that_stored_them():
    assert same(TRANSPOSE_TILE, TRANSPOSE_NEST).outcome is Outcome.PROVED
    straight = changed(TRANSPOSE_TILE, "%s[%j, %i]", "%s[%i, %j]")
    assert failures(straight) == []
    answer = same(straight, TRANSPOSE_NEST)
    assert answer.outcome is Outcome.UNKNOWN
    assert answer.evidence.startswith("no match of terms at ")
    assert "(declare-const |%b| Int)" in answer.script


def test_an_updated_output_gets_each_store_of_the_nest():
    out, updated = "(%out: memref<4x8xf32>)", "(%out: memref<4x8xf32> {plan.updated})"
    tile, nest = changed(TRANSPOSE_TILE, out, updated), changed(TRANSPOSE_NEST, out, updated)
    assert same(tile, nest).outcome is Outcome.PROVED
    half = changed(tile, "%out[%i, %b * 4 + %j]", "%out[%i, %b * 4 + %j] where [0 - %b]")
    assert failures(half) == []  # nothing covers an updated output
    assert same(half, nest).outcome is Outcome.UNKNOWN


GATHER_NEST = """\
loop.kernel @gather(%x: memref<5xf32>, %at: memref<8xi64>) -> (%out: memref<1xf32>) {
  loop.for %i in 1 {
    %sum = loop.reduce %k in 8 with add {
      %0 = loop.load %at[%k] : memref<8xi64>
      %index = loop.to_index %0 below 5 : i64
      %1 = loop.load %x[%index] : memref<5xf32>
      loop.yield %1 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<1xf32>
  }
}
"""

GATHER_TILE = """\
loop.kernel @gather(%x: memref<5xf32>, %at: memref<8xi64>) -> (%out: memref<1xf32>) {
  tile.launch (%t = thread 4, %v = register 2) {
    %0 = loop.load %at[%v * 4 + %t] : memref<8xi64>
    %index = loop.to_index %0 below 5 : i64
    %1 = loop.load %x[%index] : memref<5xf32>
    %sum = tile.combine %1 across %t, %v with add : f32
    loop.store %sum, %out[0] where [0 - %t] : memref<1xf32>
  }
}
"""


def test_elements_at_equal_data_are_equal():
    assert same(GATHER_TILE, GATHER_NEST).outcome is Outcome.PROVED
    other = changed(GATHER_TILE, "%at[%v * 4 + %t]", "%at[%v * 4 + %t - %t floordiv 3]")
    assert failures(other) == []
    assert same(other, GATHER_NEST).outcome is Outcome.UNKNOWN


def test_other_numbers_of_stores_are_unknown():
    store = "    loop.store %1, %out[%i, %b * 4 + %j] : memref<4x8xf32>\n"
    twice = changed(TRANSPOSE_TILE, store, store * 2)
    assert same(twice, TRANSPOSE_NEST).evidence == "2 stores against 1 of the nest"


def test_a_nest_that_stores_an_element_twice_has_no_values():
    twice = changed(TRANSPOSE_NEST, "%out[%i, %j]", "%out[%i, %j floordiv 2]")
    assert same(TRANSPOSE_TILE, twice).evidence.startswith("the nest stores twice: ")


def test_a_certificate_with_a_nest_has_its_values():
    found = certificate(TRANSPOSE_TILE, nest=TRANSPOSE_NEST)
    assert found.is_proved
    assert [obligation.kind for obligation, _ in found.answers][-1] == "same"


@settings(max_examples=drawn(100))
@given(
    st.sampled_from(["%i", "%j", "%b", "* 4", "block 2", "thread 4"]),
    st.integers(0, 9),
    st.sampled_from(["%i", "%j", "%b", "* 2", "* 3", "* 5", "thread 3", "thread 5"]),
)
def test_proved_kernels_compute_the_values_of_the_nest(old: str, at: int, new: str):
    parts = TRANSPOSE_TILE.split(old)
    cut = 1 + at % (len(parts) - 1)
    text = old.join(parts[:cut]) + new + old.join(parts[cut:])
    try:
        module = Parser(context(), text).parse_module()
        module.verify()
    except Exception:
        return  # the damage is none that the prover would see
    if certificate(text, nest=TRANSPOSE_NEST).is_proved:
        x = np.arange(32, dtype=np.float32).reshape(8, 4)
        assert np.array_equal(tilewright.interpret(with_main(module), x)[0], x.T)
