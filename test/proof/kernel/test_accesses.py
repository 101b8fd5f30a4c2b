# SPDX-License-Identifier: Apache-2.0
"""Bounds, offsets and alignment of accesses of Kernel IR: planted bugs are refuted by a point."""

import pytest
from proved import changed
from proved_threads import faults, proof_of

from tilewright.proof.answer import Outcome

COPY = """\
kernel.func grid 3 block 32 @copy(%x: memref<90x8xf32> {plan.align = 16 : i64})
    -> (%out: memref<90x8xf32> {plan.align = 16 : i64}) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %row = kernel.index [%b * 32 + %t]
  %inside = loop.predicate [89 - %row] : i1
  scf.if %inside {
    %r = kernel.registers : memref<2x4xf32, 5 : i64>
    kernel.unroll %i in 2 {
      kernel.copy %x[%row, %i * 4] to %r[%i, 0] width 4
        : memref<90x8xf32>, memref<2x4xf32, 5 : i64>
      kernel.copy %r[%i, 0] to %out[%row, %i * 4] width 4
        : memref<2x4xf32, 5 : i64>, memref<90x8xf32>
    }
  }
}
"""

REFUTED = {
    "wrong guard": (
        *("[89 - %row]", "[90 - %row]"),
        *("bounds", "read of %x", "%block = 2, %thread = 26, %i = 0, subscript 0 = 90"),
    ),
    "swapped subscripts": (
        *("%x[%row, %i * 4]", "%x[%i * 4, %row]"),
        *("bounds", "read of %x", "subscript 1 = "),
    ),
    "vector beyond the row": (
        *("%out[%row, %i * 4]", "%out[%row, %i * 8]"),
        *("bounds", "write to %out", "%i = 1, subscript 0 = 0, subscript 1 = 8"),
    ),
    "vector not aligned": (
        *("%x[%row, %i * 4]", "%x[%row, %i * 2]"),
        *("aligned", "read of %x", "%i = 1, byte = 8"),
    ),
    "registers": (
        *("to %r[%i, 0]", "to %r[%i, 1]"),
        *("bounds", "write to %r", "%i = 1, subscript 0 = 1, subscript 1 = 1"),
    ),
}


@pytest.mark.parametrize(
    ("old", "new", "kind", "subject", "point"), REFUTED.values(), ids=[*REFUTED]
)
def test_a_planted_bug_is_refuted_by_a_point(
    old: str, new: str, kind: str, subject: str, point: str
):
    assert faults(COPY) == []
    found, about, outcome, evidence = faults(changed(COPY, old, new))[0]
    assert (found, about, outcome) == (kind, subject, Outcome.REFUTED)
    assert point in evidence


def test_an_array_may_be_less_aligned_than_its_vectors():
    text = changed(COPY, " {plan.align = 16 : i64})\n", " {plan.align = 4 : i64})\n")
    ((kind, subject, outcome, evidence),) = faults(text)
    assert (kind, subject, outcome) == ("aligned", "read of %x", Outcome.REFUTED)
    assert evidence.endswith("alignment of the array = 4")


LARGE = """\
kernel.func grid 65536 block 64 @far(%x: memref<SIZExf32>) -> (%out: memref<64xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %far = kernel.index [%b * 65536 + %t]
  %0 = loop.load %x[%far mod SIZE] : memref<SIZExf32>
  loop.store %0, %out[%t] : memref<64xf32>
}
"""


def test_a_number_in_between_has_to_fit_its_type():
    assert faults(LARGE.replace("SIZE", str(2**33))) == []
    ((kind, subject, outcome, evidence), _) = faults(LARGE.replace("SIZE", str(2**20)))
    assert (kind, subject, outcome) == ("int", "index %far", Outcome.REFUTED)
    assert evidence.startswith("%block = ")


LOOP = """\
kernel.func grid 4 block 32 @rows(%x: memref<70x32xf32>, %n: memref<4xi32>)
    -> (%out: memref<70x32xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %zero = arith.constant 0 : index
  %most = arith.constant 20 : index
  %one = arith.constant 1 : index
  %rest = kernel.index [70 - %b * 20]
  %end = arith.minsi %most, %rest : index
  scf.for %i = %zero to %end step %one {
    %0 = loop.load %x[%b * 20 + %i, %t] : memref<70x32xf32>
    loop.store %0, %out[%b * 20 + %i, %t] : memref<70x32xf32>
  }
}
"""


def test_bounds_of_loops_are_facts():
    assert faults(LOOP) == []
    fault = faults(changed(LOOP, "[70 - %b * 20]", "[71 - %b * 20]"))[0]
    assert fault[:3] == ("bounds", "read of %x", Outcome.REFUTED)
    assert "%block = 3, %thread = 0, %end = 11, %i = 10, subscript 0 = 70" in fault[3]


def test_a_fault_that_depends_on_data_is_unknown():
    data = "%n0 = loop.load %n[%b] : memref<4xi32>\n  %rest = loop.to_index %n0 below 71 : i32"
    text = changed(LOOP, "%rest = kernel.index [70 - %b * 20]", data)
    kind, _, outcome, evidence = faults(text)[0]
    assert (kind, outcome) == ("bounds", Outcome.UNKNOWN)
    assert evidence.startswith("depends on data: it fails at ")


def test_an_op_without_obligations_is_counted():
    text = changed(LOOP, "  scf.for", "  %m = memref.alloc() : memref<4xf32>\n  scf.for")
    found = proof_of(text)
    assert (found.not_covered, found.is_proved) == ({"memref.alloc": 1}, False)
