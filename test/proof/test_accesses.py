# SPDX-License-Identifier: Apache-2.0
"""Bounds and offsets of loads and stores: planted bugs are refuted, with a point."""

import pytest
from proved import KERNELS, certificate, changed, failures

from tilewright.proof.answer import Outcome

MATMUL = (KERNELS / "matmul_odd.mlir").read_text()

ROW = """\
loop.kernel @copy(%x: memref<{size}xf32>) -> (%out: memref<{size}xf32>) {{
  tile.launch (%b = block {blocks}, %t = thread 4) {{
    %0 = loop.load %x[%b * 4 + %t] where [{last} - %b * 4 - %t] : memref<{size}xf32>
    loop.store %0, %out[%b * 4 + %t] where [{last} - %b * 4 - %t] : memref<{size}xf32>
  }}
}}
"""


def row(size: int) -> str:
    """Return a copy of an array of `size` elements by four threads a block."""
    return ROW.format(size=size, blocks=-(-size // 4), last=size - 1)


REFUTED = {
    "wrong bound": (
        *("where [32 - %bm * 32 - %i, ", "where [33 - %bm * 32 - %i, ", "load from %a"),
        "%bm = 1, %bn = 0, %tm = 0, %tn = 0, %vm = 0, %sn = 0, %ko = 0, %i = 1, %k = 0, "
        "subscript 0 = 33, subscript 1 = 0",
    ),
    "dropped mask": (
        *("%ko * 16 + %k, %j] where [16 - %j, 64 - %ko * 16 - %k]", "%ko * 16 + %k, %j]"),
        *("load from %b", "subscript 0 = "),
    ),
    "swapped axes": (
        *("%as[%tm * 4 + %vm, %ki]", "%as[%ki, %tm * 4 + %vm]", "load from %as"),
        "subscript 1 = ",
    ),
    "negative subscript": (
        *("%bs[%ki, %sn * 8 + %tn]", "%bs[%ki, %sn * 8 + %tn - 1]", "load from %bs"),
        "subscript 1 = -1",
    ),
    "store beyond the end": (
        *("where [32 - %bm * 32 - %tm * 4", "where [35 - %bm * 32 - %tm * 4", "store to %out"),
        "subscript 0 = ",
    ),
}


@pytest.mark.parametrize(("old", "new", "subject", "point"), REFUTED.values(), ids=REFUTED)
def test_a_planted_bug_is_refuted_by_a_point(old: str, new: str, subject: str, point: str):
    assert failures(MATMUL) == []
    kind, found, outcome, evidence = failures(changed(MATMUL, old, new))[0]
    assert (kind, found, outcome) == ("bounds", subject, Outcome.REFUTED)
    assert point in evidence


def test_offsets_are_below_two_to_the_31():
    outside = changed(row(9), "%x[%b * 4 + %t]", "%x[%b * 4 + %t - 1]")
    assert [(kind, evidence) for kind, *_, evidence in failures(outside)] == [
        ("bounds", "%b = 0, %t = 0, subscript 0 = -1"),
        ("offset", "%b = 0, %t = 0, offset = -1"),
    ]


@pytest.mark.parametrize("size", [2**31 - 2, 2**31 + 2])
def test_large_arrays_are_counted_in_long_long(size: int):
    assert failures(row(size)) == []


TRIANGLE = """\
loop.kernel @triangle(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%t = thread 8) {
    %sum = loop.reduce %k in 9 from [%t - 5] below [%t + 1] with add {
      %0 = loop.load %x[%t - %k] : memref<8xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%t] : memref<8xf32>
  }
}
"""


def test_only_steps_within_the_bounds_of_a_loop_run():
    assert failures(TRIANGLE) == []
    ((kind, *_, evidence), _) = failures(changed(TRIANGLE, "below [%t + 1]", "below [%t + 2]"))
    assert (kind, "subscript 0 = -1" in evidence) == ("bounds", True)
    wide = changed(TRIANGLE, "%x[%t - %k]", "%x[%t - %k + 2]")
    assert failures(wide) == []
    ((kind, *_, evidence),) = failures(changed(wide, "from [%t - 5]", "from [%t - 6]"))
    assert (kind, "subscript 0 = 8" in evidence) == ("bounds", True)


NEVER = """\
loop.kernel @idle(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  tile.launch (%t = thread 4) {
    %0 = loop.load %x[%t + 9] where [%t - 4] : memref<4xf32>
    loop.store %0, %out[%t] : memref<4xf32>
  }
}
"""


def test_an_access_that_never_happens_proves_nothing():
    assert failures(NEVER) == [
        ("bounds", "load from %x", Outcome.UNKNOWN, "no step reaches it"),
        ("offset", "load from %x", Outcome.UNKNOWN, "no step reaches it"),
    ]


GATHER = """\
loop.kernel @gather(%x: memref<4xf32>, %at: memref<8xi64>) -> (%out: memref<8xf32>) {
  tile.launch (%t = thread 8) {
    %0 = loop.load %at[%t] : memref<8xi64>
    %index = loop.to_index %0 below 4 : i64
    %1 = loop.load %x[%index] : memref<4xf32>
    loop.store %1, %out[%t] : memref<8xf32>
  }
}
"""


def test_indices_from_data_are_below_their_bound():
    assert failures(GATHER) == []


def test_a_refutation_that_depends_on_data_is_unknown():
    ((kind, subject, outcome, evidence), *_) = failures(changed(GATHER, "below 4", "below 5"))
    assert (kind, subject, outcome) == ("bounds", "load from %x", Outcome.UNKNOWN)
    assert evidence.startswith("depends on data: it fails at %t = 0, %index = 4, subscript 0 = 4")


def test_limited_steps_give_no_answer_but_the_question():
    certified = certificate(MATMUL, steps=10)
    unknown = [answer for _, answer in certified.answers if answer.outcome is Outcome.UNKNOWN]
    assert unknown[0].evidence == "z3 gave up after 10 steps"
    assert "(declare-const |%bm| Int)" in unknown[0].script
    assert not certified.is_proved
