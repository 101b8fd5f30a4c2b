# SPDX-License-Identifier: Apache-2.0
"""Elements that no step stores are refuted, with the element."""

import pytest
from proved import KERNELS, changed, failures

from tilewright.proof.answer import Outcome

MATMUL = (KERNELS / "matmul_odd.mlir").read_text()


def test_a_mask_that_is_too_strict_leaves_a_row_out():
    store = "%out[%bm * 32 + %tm * 4 + %vm, %sn * 8 + %tn] where [{} - %bm"
    ((kind, subject, outcome, evidence),) = failures(
        changed(MATMUL, store.format(32), store.format(31))
    )
    assert (kind, subject, outcome) == ("complete", "elements of %out", Outcome.REFUTED)
    assert evidence.startswith("element 0 = 32, element 1 = ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%bm = block 2", "%bm = block 1"),
        ("%sn = register 4 n", "%sn = register 2 n"),
        ("%out[%bm * 32 + %tm * 4 + %vm", "%out[%bm * 32 + %tm + %vm"),
    ],
)
def test_missing_steps_are_refuted(old: str, new: str):
    found = {kind: outcome for kind, _, outcome, _ in failures(changed(MATMUL, old, new))}
    assert found["complete"] is Outcome.REFUTED


def test_an_output_without_stores_is_refuted():
    (store,) = [line for line in MATMUL.splitlines() if "loop.store" in line]
    ((kind, _, outcome, evidence),) = failures(changed(MATMUL, store, ""))
    assert (kind, outcome) == ("complete", Outcome.REFUTED)
    assert evidence.startswith("element 0 = ")


POOLED = """\
loop.kernel @pool(%x: memref<16x64x186x186xf32>) -> (%out: memref<16x64x186x186xf32>) {{
  tile.launch (%b = block {blocks}, %w = thread 8) {{
    %0 = loop.load %x[{at}] : memref<16x64x186x186xf32>
    loop.store %0, %out[{at}] : memref<16x64x186x186xf32>
  }}
}}
""".replace(
    "{at}",
    "%b floordiv 276768, ((%b * 8 + %w) floordiv 34596) mod 64, "
    "((%b * 8 + %w) floordiv 186) mod 186, (%b * 8 + %w) mod 186",
)


def test_subscripts_that_are_digits_of_one_number():
    assert failures(POOLED.format(blocks=4428288)) == []
    ((kind, _, outcome, evidence),) = failures(POOLED.format(blocks=4428287))
    assert (kind, outcome) == ("complete", Outcome.REFUTED)
    assert evidence.startswith("element 0 = 15, element 1 = 63, element 2 = 185, element 3 = 1")


ROTATED = """\
loop.kernel @rotated(%x: memref<64xf32>) -> (%out: memref<64xf32>{facts}) {{
  tile.launch (%t = thread 64) {{
    %0 = loop.load %x[%t] : memref<64xf32>
    loop.store %0, %out[(%t * {factor} + 5) mod 64] : memref<64xf32>
  }}
}}
"""


def test_steps_are_searched_for_where_no_rule_is_guessed():
    assert failures(ROTATED.format(facts="", factor=1)) == []
    assert [kind for kind, *_ in failures(ROTATED.format(facts="", factor=2))] == [
        "injective",
        "complete",
    ]
    # A permutation, but no digits: 64 elements are more than are searched one by one.
    ((kind, _, outcome, evidence),) = failures(ROTATED.format(facts="", factor=3))
    assert (kind, outcome) == ("complete", Outcome.UNKNOWN)
    assert evidence == "no rule was found that gives the step of each element"


def test_an_updated_output_keeps_the_other_elements():
    half = ROTATED.format(facts=" {plan.updated}", factor=2)
    assert [kind for kind, *_ in failures(half)] == ["injective"]


POSITIONS = """\
loop.kernel @relu(%x: memref<2x7x34xf32>) -> (%out: memref<2x7x34xf32>) {{
  tile.launch (%b = block {blocks}, %t = thread 64) {{
    %0 = loop.load %x[{at}] where [{inside}] : memref<2x7x34xf32>
    loop.store %0, %out[{at}] where [{inside}] : memref<2x7x34xf32>
  }}
}}
""".replace(
    "{at}",
    "%b floordiv 8, (%b floordiv 2) mod 4 * 2 + %t floordiv 32, %b mod 2 * 32 + %t mod 32",
).replace(
    "{inside}", "6 - (%b floordiv 2) mod 4 * 2 - %t floordiv 32, 33 - %b mod 2 * 32 - %t mod 32"
)


def test_blocks_that_reach_past_the_end_of_each_line():
    assert failures(POSITIONS.format(blocks=16)) == []
    ((kind, _, outcome, evidence),) = failures(POSITIONS.format(blocks=15))
    assert (kind, outcome) == ("complete", Outcome.REFUTED)
    assert evidence.startswith("element 0 = 1, element 1 = 6, element 2 = 3")


HEADS = """\
loop.kernel @heads(%x: memref<280xf32>) -> (%out: memref<280xf32>) {{
  tile.launch (%o = block 10, %i = block 4, %r = thread 2, %l = thread 8) {{
    %0 = loop.load %x[%o * 28 + %r * 8 + %i * 7 + %l] where [{mask}] : memref<280xf32>
    loop.store %0, %out[%o * 28 + %r * 8 + %i * 7 + %l] where [{mask}] : memref<280xf32>
  }}
}}
"""


def test_digits_that_a_mask_bounds_together():
    assert failures(HEADS.format(mask="6 - %r * 8 - %l")) == []
    found = failures(HEADS.format(mask="5 - %r * 8 - %l"))
    assert {kind: outcome for kind, _, outcome, _ in found}["complete"] is Outcome.REFUTED
