# SPDX-License-Identifier: Apache-2.0
"""Rings of slots: right pipelines are proved, and damaged ones refuted by a step."""

import pytest
from proved import changed
from proved_threads import faults

from tilewright.proof.answer import Outcome

CP_ASYNC = """\
kernel.func grid 2 block 32 @sums(%x: memref<2x320xf32>) -> (%out: memref<2x32xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant 10 : index
  %s = kernel.shared : memref<3x32xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 128 : !kernel.ring<3, cp_async>
  kernel.ring_acquire %ring, %zero : !kernel.ring<3, cp_async>
  kernel.copy_async %x[%b, %t] to %s[0, %t] width 1
    : memref<2x320xf32>, memref<3x32xf32, #tile.layout<slots>, 3 : i64>
  kernel.ring_commit %ring, %zero : !kernel.ring<3, cp_async>
  kernel.ring_acquire %ring, %one : !kernel.ring<3, cp_async>
  kernel.copy_async %x[%b, %t + 32] to %s[1, %t] width 1
    : memref<2x320xf32>, memref<3x32xf32, #tile.layout<slots>, 3 : i64>
  kernel.ring_commit %ring, %one : !kernel.ring<3, cp_async>
  %none = arith.constant 0.0 : f32
  %sum = scf.for %k = %zero to %steps step %one iter_args(%acc = %none) -> (f32) {
    kernel.ring_wait %ring, %k pending 1 : !kernel.ring<3, cp_async>
    %next = kernel.index [%k + 2]
    %is_step = loop.predicate [9 - %next] : i1
    scf.if %is_step {
      kernel.ring_acquire %ring, %next : !kernel.ring<3, cp_async>
      kernel.copy_async %x[%b, %next * 32 + %t] to %s[%next mod 3, %t] width 1
        : memref<2x320xf32>, memref<3x32xf32, #tile.layout<slots>, 3 : i64>
    }
    kernel.ring_commit %ring, %next : !kernel.ring<3, cp_async>
    %0 = loop.load %s[%k mod 3, 31 - %t] : memref<3x32xf32, #tile.layout<slots>, 3 : i64>
    %more = arith.addf %acc, %0 : f32
    kernel.ring_release %ring, %k : !kernel.ring<3, cp_async>
    scf.yield %more : f32
  }
  loop.store %sum, %out[%b, %t] : memref<2x32xf32>
}
"""

WAIT = "kernel.ring_wait %ring, %k pending 1"

DAMAGED = {
    "waits for one group too few": (
        *(WAIT, "kernel.ring_wait %ring, %k pending 2"),
        *("race", "write to %s and read of %s", "%k = 1, %thread' = 31, %k' = 3"),
    ),
    "waits for nothing": (
        *(f"{WAIT} : !kernel.ring<3, cp_async>", "kernel.barrier"),
        *("race", "write to %s and read of %s", "%thread' = "),
    ),
    "reads the slot after": (
        *("%s[%k mod 3, ", "%s[(%k + 1) mod 3, "),
        *("ring", "slot of a read of %s", "%k = 2, slot = 0, awaited = 3, released = 2"),
    ),
    "fills the slot that is read": (
        *("to %s[%next mod 3, %t]", "to %s[%k mod 3, %t]"),
        *("ring", "slot of a write to %s", "slot = 0, count = 2"),
    ),
    "releases one fill twice": (
        *("kernel.ring_release %ring, %k ", "kernel.ring_release %ring, %zero "),
        *("ring", "order of each release of %ring", "%k = 1, count = 0, earlier = 1"),
    ),
    "fills one step too many": (
        *("[9 - %next]", "[10 - %next]"),
        *("bounds", "read of %x", "%k = 8, subscript 0 = 0, subscript 1 = 320"),
    ),
    "fills all steps but the second": (
        *("[9 - %next]", "[%next - 3]"),
        *("ring", "no gap between fills of %ring", "%k = 0"),
    ),
}


@pytest.mark.parametrize(
    ("old", "new", "kind", "subject", "point"), DAMAGED.values(), ids=[*DAMAGED]
)
def test_a_pipeline_by_threads(old: str, new: str, kind: str, subject: str, point: str):
    found = {(each[0], each[1]): each for each in faults(changed(CP_ASYNC, old, new))}
    assert (kind, subject) in found
    *_, outcome, evidence = found[kind, subject]
    assert outcome is Outcome.REFUTED
    assert point in evidence


def test_the_pipelines_are_proved():
    assert faults(CP_ASYNC) == []
    assert faults(TMA) == []


OF_DATA = """\
kernel.func grid 2 block 32 @sums(%x: memref<2x320xf32>, %n: memref<1xi64>)
    -> (%out: memref<2x32xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  %length = loop.load %n[0] : memref<1xi64>
  %bound = loop.to_index %length below 11 : i64
  %steps = arith.minsi %ten, %bound : index
  %s = kernel.shared : memref<2x32xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 128 : !kernel.ring<2, cp_async>
  %is_any = loop.predicate [%bound - 1] : i1
  scf.if %is_any {
    kernel.ring_acquire %ring, %zero : !kernel.ring<2, cp_async>
    kernel.copy_async %x[%b, %t] to %s[0, %t] width 1
      : memref<2x320xf32>, memref<2x32xf32, #tile.layout<slots>, 3 : i64>
  }
  kernel.ring_commit %ring, %zero : !kernel.ring<2, cp_async>
  %none = arith.constant 0.0 : f32
  %sum = scf.for %k = %zero to %steps step %one iter_args(%acc = %none) -> (f32) {
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<2, cp_async>
    %next = kernel.index [%k + 1]
    %is_step = loop.predicate [9 - %next, %bound - 1 - %next] : i1
    scf.if %is_step {
      kernel.ring_acquire %ring, %next : !kernel.ring<2, cp_async>
      kernel.copy_async %x[%b, %next * 32 + %t] to %s[%next mod 2, %t] width 1
        : memref<2x320xf32>, memref<2x32xf32, #tile.layout<slots>, 3 : i64>
    }
    kernel.ring_commit %ring, %next : !kernel.ring<2, cp_async>
    %0 = loop.load %s[%k mod 2, 31 - %t] : memref<2x32xf32, #tile.layout<slots>, 3 : i64>
    %more = arith.addf %acc, %0 : f32
    kernel.ring_release %ring, %k : !kernel.ring<2, cp_async>
    scf.yield %more : f32
  }
  %r = kernel.shared : memref<32xf32, 3 : i64>
  kernel.barrier
  loop.store %sum, %r[%t] : memref<32xf32, 3 : i64>
  kernel.barrier
  %other = loop.load %r[31 - %t] : memref<32xf32, 3 : i64>
  loop.store %other, %out[%b, %t] : memref<2x32xf32>
}
"""


def test_the_number_of_steps_may_be_data():
    assert faults(OF_DATA) == []
    text = changed(OF_DATA, "%ring, %k pending 0", "%ring, %k pending 1")
    assert ("race", "write to %s and read of %s") in {each[:2] for each in faults(text)}


def test_the_last_fill_has_to_arrive_before_the_kernel_ends():
    text = changed(CP_ASYNC, "memref<2x320xf32>) ->", "memref<2x352xf32>) ->")
    text = text.replace("memref<2x320xf32>, ", "memref<2x352xf32>, ")
    ((kind, subject, outcome, evidence),) = faults(changed(text, "[9 - %next]", "[10 - %next]"))
    assert (kind, subject, outcome) == (
        *("race", "write to %s before the kernel ends"),
        Outcome.REFUTED,
    )
    assert "%k = 8" in evidence


TMA = """\
kernel.func grid 2 block 64 @sums(%x: memref<2x640xf32> {plan.align = 16 : i64})
    -> (%out: memref<2x64xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %steps = arith.constant 10 : index
  %s = kernel.shared : memref<2x64xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 256 : !kernel.ring<2, tma>
  kernel.ring_acquire %ring, %zero : !kernel.ring<2, tma>
  kernel.tma_copy %x[%b, 0] box [1, 64] to %s[%zero] on %ring, %zero
    : memref<2x640xf32>, memref<2x64xf32, #tile.layout<slots>, 3 : i64>, !kernel.ring<2, tma>
  kernel.ring_commit %ring, %zero : !kernel.ring<2, tma>
  %none = arith.constant 0.0 : f32
  %sum = scf.for %k = %zero to %steps step %one iter_args(%acc = %none) -> (f32) {
    kernel.ring_wait %ring, %k pending 0 : !kernel.ring<2, tma>
    %next = kernel.index [%k + 1]
    %slot = kernel.index [%next mod 2]
    %is_step = loop.predicate [9 - %next] : i1
    scf.if %is_step {
      kernel.ring_acquire %ring, %next : !kernel.ring<2, tma>
      kernel.tma_copy %x[%b, %next * 64] box [1, 64] to %s[%slot] on %ring, %next
        : memref<2x640xf32>, memref<2x64xf32, #tile.layout<slots>, 3 : i64>, !kernel.ring<2, tma>
    }
    kernel.ring_commit %ring, %next : !kernel.ring<2, tma>
    %0 = loop.load %s[%k mod 2, 63 - %t] : memref<2x64xf32, #tile.layout<slots>, 3 : i64>
    %more = arith.addf %acc, %0 : f32
    kernel.ring_release %ring, %k : !kernel.ring<2, tma>
    scf.yield %more : f32
  }
  loop.store %sum, %out[%b, %t] : memref<2x64xf32>
}
"""

DAMAGED_BOXES = {
    "wrong bytes": (
        *("bytes 256", "bytes 272"),
        *("ring", "bytes of a fill of %ring", "boxes have 256 bytes, the fill 272"),
    ),
    "wrong slot": (
        *("%slot = kernel.index [%next mod 2]", "%slot = kernel.index [%k mod 2]"),
        *("ring", "slot of a write to %s", "slot = 0, count = 1"),
    ),
    "no release": (
        *("kernel.ring_release %ring, %k : !kernel.ring<2, tma>", ""),
        *("ring", "free slot of %ring", "count = 2, released = 0"),
    ),
    "wait for the fill after": (
        *("kernel.ring_wait %ring, %k ", "kernel.ring_wait %ring, %next "),
        *("ring", "order of each wait of %ring", "count = 1, earlier = 0"),
    ),
    "reads the slot after": (
        *("%s[%k mod 2, 63", "%s[%next mod 2, 63"),
        *("ring", "slot of a read of %s", "%k = 1, slot = 0, awaited = 2, released = 1"),
    ),
    "one fill too many": (
        *("[9 - %next]", "[10 - %next]"),
        *("ring", "all fills of %ring are awaited", "acquired = 11, awaited = 10"),
    ),
    "array not aligned": (
        *("plan.align = 16", "plan.align = 8"),
        *("aligned", "box of %s", "alignment of the array = 8"),
    ),
    "acquires the wrong fill": (
        *("kernel.ring_acquire %ring, %next ", "kernel.ring_acquire %ring, %k "),
        *("ring", "order of each acquire of %ring", "count = 0, earlier = 1"),
    ),
    "commits before the copy": (
        *(
            "kernel.ring_wait %ring, %k",
            "kernel.ring_commit %ring, %k : !kernel.ring<2, tma>\n    kernel.ring_wait %ring, %k",
        ),
        *("ring", "commit after the box of %s", "count = 1, committed = 2"),
    ),
}


@pytest.mark.parametrize(
    ("old", "new", "kind", "subject", "point"), DAMAGED_BOXES.values(), ids=[*DAMAGED_BOXES]
)
def test_a_pipeline_by_tma(old: str, new: str, kind: str, subject: str, point: str):
    found = {(each[0], each[1]): each for each in faults(changed(TMA, old, new))}
    assert (kind, subject) in found
    *_, outcome, evidence = found[kind, subject]
    assert outcome is Outcome.REFUTED
    assert point in evidence


def test_a_loop_may_have_no_step():
    bound = """\
  %rest = kernel.index [%b * 4 - 1]
  %end = arith.minsi %steps, %rest : index
  %some = loop.predicate [%b * 4 - 3] : i1
  scf.if %some {
    kernel.ring_acquire %ring, %zero"""
    text = changed(CP_ASYNC, "  kernel.ring_acquire %ring, %zero", bound)
    text = changed(
        text, "  kernel.ring_commit %ring, %zero", "  }\n  kernel.ring_commit %ring, %zero"
    )
    second = "  kernel.ring_acquire %ring, %one"
    text = changed(text, second, f"  scf.if %some {{\n{second}")
    text = changed(
        text, "  kernel.ring_commit %ring, %one", "  }\n  kernel.ring_commit %ring, %one"
    )
    text = changed(text, "%k = %zero to %steps", "%k = %zero to %end")
    text = changed(text, "[9 - %next]", "[9 - %next, %b * 4 - 2 - %next]")
    assert faults(text) == []
    early = faults(changed(text, "[%b * 4 - 3]", "[%b * 4]"))
    assert [subject for _, subject, *_ in early] == ["write to %s before the kernel ends"] * 2
