# SPDX-License-Identifier: Apache-2.0
"""Races in shared memory: right kernels are proved, and damaged ones refuted by two threads."""

import pytest
from proved import changed
from proved_threads import faults

from tilewright.proof.answer import Outcome

REVERSE = """\
kernel.func grid 4 block 64 @reverse(%x: memref<4x8x64xf32>) -> (%out: memref<4x8x64xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %rows = arith.constant 8 : index
  %row = kernel.shared : memref<64xf32, 3 : i64>
  scf.for %i = %zero to %rows step %one {
    %0 = loop.load %x[%b, %i, %t] : memref<4x8x64xf32>
    loop.store %0, %row[%t] : memref<64xf32, 3 : i64>
    kernel.barrier
    %1 = loop.load %row[63 - %t] : memref<64xf32, 3 : i64>
    kernel.barrier {last}
    loop.store %1, %out[%b, %i, %t] : memref<4x8x64xf32>
  }
}
"""

ONE_WARP = """\
    %1 = loop.load %row[%t floordiv 32 * 32 + 31 - %t mod 32] : memref<64xf32, 3 : i64>
    kernel.warp_barrier
"""


def race(text: str) -> str:
    """Return the point of the only fault of a kernel, which is a race."""
    ((kind, _, outcome, evidence),) = faults(text)
    assert (kind, outcome) == ("race", Outcome.REFUTED)
    return evidence


def test_a_barrier_orders_the_accesses_of_threads():
    assert faults(REVERSE) == []
    point = race(changed(REVERSE, "kernel.barrier\n", "\n"))
    assert point == "%block = 0, %thread = 32, %i = 0, %thread' = 31, %i' = 0, subscript 0 = 32"


def test_the_last_part_of_a_step_meets_the_first_of_the_next():
    point = race(changed(REVERSE, "kernel.barrier {last}", ""))
    assert point == "%block = 0, %thread = 32, %i = 0, %thread' = 31, %i' = 1, subscript 0 = 31"


def test_a_barrier_of_warps_orders_one_warp():
    text = REVERSE.replace("kernel.barrier {last}", "kernel.warp_barrier").replace(
        "kernel.barrier\n", "kernel.warp_barrier\n"
    )
    assert [kind for kind, *_ in faults(text)] == ["race"]
    inside = "%row[%t floordiv 32 * 32 + 31 - %t mod 32]"
    assert faults(changed(text, "%row[63 - %t]", inside)) == []


def test_an_inner_loop_with_a_barrier_may_have_no_step():
    loop = "scf.for %k = %zero to %END step %one {\n      kernel.barrier\n    }\n"
    text = changed(REVERSE, "  %row =", "  %some = kernel.index [%b]\n  %row =")
    assert faults(changed(text, "kernel.barrier\n", loop.replace("END", "one"))) == []
    point = race(changed(text, "kernel.barrier\n", loop.replace("END", "some")))
    assert point.startswith("%block = 0")  # where the loop has none


GROUPS = """\
kernel.func grid 4 block 128 @groups(%x: memref<4x128xf32>) -> (%out: memref<4x128xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %row = kernel.shared : memref<2x64xf32, 3 : i64>
  %0 = loop.load %x[%b, %t] : memref<4x128xf32>
  loop.store %0, %row[%t floordiv 64, %t mod 64] : memref<2x64xf32, 3 : i64>
  %group = kernel.index [%t floordiv 64 + 1]
  kernel.named_barrier %group threads 64
  %1 = loop.load %row[%t floordiv 64, 63 - %t mod 64] : memref<2x64xf32, 3 : i64>
  loop.store %1, %out[%b, %t] : memref<4x128xf32>
}
"""


def test_a_named_barrier_orders_the_threads_with_its_id():
    assert faults(GROUPS) == []
    across = changed(GROUPS, "%row[%t floordiv 64, 63", "%row[1 - %t floordiv 64, 63")
    assert "%thread = 127, %thread' = 0, " in race(across)


OVERLAP = """\
kernel.func grid 1 block 64 @overlap(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %a = kernel.shared at 0 : memref<64xf32, 3 : i64>
  %b = kernel.shared at 128 : memref<64xf32, 3 : i64>
  %0 = loop.load %x[%t] : memref<64xf32>
  loop.store %0, %a[%t] : memref<64xf32, 3 : i64>
  %1 = loop.load %a[%t] : memref<64xf32, 3 : i64>
  kernel.barrier
  loop.store %1, %b[%t] : memref<64xf32, 3 : i64>
  %2 = loop.load %b[%t] : memref<64xf32, 3 : i64>
  loop.store %2, %out[%t] : memref<64xf32>
}
"""


def test_arrays_in_the_same_bytes_need_a_barrier():
    assert faults(OVERLAP) == []
    without = changed(OVERLAP, "  kernel.barrier\n", "")
    assert {kind for kind, *_ in faults(without)} == {"race"}
    assert faults(changed(without, "at 128", "at 256")) == []


CLUSTER = """\
kernel.func grid 4 block 32 cluster 2 @pairs(%x: memref<4x32xf32>) -> (%out: memref<4x32xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %mine = kernel.shared : memref<32xf32, 3 : i64>
  %0 = loop.load %x[%b, %t] : memref<4x32xf32>
  loop.store %0, %mine[%t] : memref<32xf32, 3 : i64>
  kernel.cluster_barrier
  %rank = kernel.index [1 - %b mod 2]
  %theirs = kernel.remote %mine of %rank : memref<32xf32, 3 : i64>
  %1 = loop.load %theirs[%t] : memref<32xf32, 3 : i64>
  kernel.cluster_arrive
  loop.store %1, %out[%b, %t] : memref<4x32xf32>
  kernel.cluster_wait
}
"""


def test_only_some_blocks_may_read():
    branch = """\
  %reads = loop.predicate [0 - %b mod 2] : i1
  scf.if %reads {
    %1 = loop.load %theirs[%t] : memref<32xf32, 3 : i64>
    kernel.cluster_arrive
    loop.store %1, %out[%b, %t] : memref<4x32xf32>
  }
  %ends = loop.predicate [%b mod 2 - 1] : i1
  scf.if %ends {
    kernel.cluster_arrive
  }
  kernel.cluster_wait
}
"""
    text = CLUSTER[: CLUSTER.index("  %1 = loop.load %theirs")] + branch
    assert faults(text) == []
    wrong = changed(text, "[%b mod 2 - 1]", "[%b mod 4 - 3]")
    assert faults(wrong) == [
        (
            *("reached", "one arrival before kernel.cluster_wait", Outcome.REFUTED),
            "%block = 1, %thread = 0",
        )
    ]


@pytest.mark.parametrize(
    ("old", "new", "point"),
    [
        ("kernel.cluster_barrier", "", "%block = 0, %thread = 0, %block' = 1"),
        ("kernel.cluster_barrier", "kernel.barrier", "%block = 0, %thread = 0, %block' = 1"),
        ("kernel.cluster_arrive", "", "%block = 0, %thread = 0"),
        ("kernel.cluster_wait", "", "%block = 0, %thread = 0"),
    ],
)
def test_blocks_of_a_cluster_wait_for_each_other(old: str, new: str, point: str):
    assert faults(CLUSTER) == []
    kind, _, outcome, evidence = faults(changed(CLUSTER, old, new))[0]
    assert (kind, outcome) == ("race", Outcome.REFUTED)
    assert point in evidence
