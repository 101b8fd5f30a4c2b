# SPDX-License-Identifier: Apache-2.0
"""Ops for which threads wait: one that some threads do not reach is refuted by two threads."""

import pytest
from proved import changed
from proved_threads import faults

from tilewright.proof.answer import Outcome

GUARDED = """\
kernel.func grid 4 block 64 @guarded(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %guard = loop.predicate [GUARD] : i1
  scf.if %guard {
    OP
  }
  %0 = loop.load %x[%b] : memref<4xf32>
  loop.store %0, %out[%b] : memref<4xf32>
}
"""


@pytest.mark.parametrize(
    ("guard", "op", "point"),
    [
        ("2 - %b", "kernel.barrier", ""),
        ("31 - %t", "kernel.barrier", "%thread = 0, %thread' = 32"),
        ("31 - %t", "kernel.warp_barrier", ""),
        ("30 - %t", "kernel.warp_barrier", "%thread = 0, %thread' = 31"),
    ],
)
def test_all_threads_reach_a_barrier(guard: str, op: str, point: str):
    found = faults(changed(changed(GUARDED, "GUARD", guard), "OP", op))
    if not point:
        assert found == []
        return
    ((kind, subject, outcome, evidence),) = found
    assert (kind, subject, outcome) == ("reached", f"threads at {op}", Outcome.REFUTED)
    assert evidence == f"%block = 0, {point}"


def test_a_named_barrier_counts_the_threads_with_its_id():
    op = "%id = kernel.index [%t floordiv 32 + 1]\n    kernel.named_barrier %id threads 64"
    found = faults(changed(changed(GUARDED, "GUARD", "2 - %b"), "OP", op))
    assert [each[0] for each in found] == ["reached"]
    assert found[0][3] == "32 threads have the id 1, the barrier counts 64"


def test_a_condition_that_is_data_is_unknown():
    load = "%n = loop.load %x[%b] : memref<4xf32>\n  %guard = arith.cmpf olt, %n, %n : f32"
    text = changed(GUARDED, "%guard = loop.predicate [GUARD] : i1", load)
    ((kind, _, outcome, evidence),) = faults(changed(text, "OP", "kernel.barrier"))
    assert (kind, outcome) == ("reached", Outcome.UNKNOWN)
    assert evidence.startswith("depends on data")
