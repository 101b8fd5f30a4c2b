# SPDX-License-Identifier: Apache-2.0
"""Bugs planted by rule in the order of threads and copies."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.mutations import mutations
from tilewright.dialects import kernel

_LOOP = """
kernel.func grid 4 block 32 @k(%x: memref<32x32xf32>) -> (%out: memref<32xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %s = kernel.shared : memref<3x32xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 128 : !kernel.ring<3, cp_async>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %most = arith.constant MOST : index
  %rest = kernel.index [14 - %b * 3]
  %end = arith.minsi %most, %rest : index
  scf.for %k = %0 to %end step %1 {
    kernel.ring_wait %ring, %k pending 1 : !kernel.ring<3, cp_async>
    kernel.ring_acquire %ring, %k : !kernel.ring<3, cp_async>
    kernel.copy_async %x[%k, %t] to %s[%k mod 3, %t] width 1
        : memref<32x32xf32>, memref<3x32xf32, #tile.layout<slots>, 3 : i64>
    kernel.ring_commit %ring, %k : !kernel.ring<3, cp_async>
  }
}
"""


@pytest.mark.parametrize(("most", "is_bug"), [(3, False), (4, True)])
def test_a_later_wait_is_a_bug_only_if_a_slot_is_filled_again(
    most: int, is_bug: bool, parse: Callable[[str], ModuleOp]
):
    module = parse(_LOOP.replace("MOST", str(most)))
    wait = next(op for op in module.walk() if isinstance(op, kernel.RingWaitOp))
    assert ("moved behind what follows" in {bug.what for bug in mutations(wait)}) is is_bug


def test_a_lost_wait_is_a_bug_of_the_order_and_a_wrong_copy_one_of_values(
    parse: Callable[[str], ModuleOp],
):
    module = parse(_LOOP.replace("MOST", "4"))
    wait = next(op for op in module.walk() if isinstance(op, kernel.RingWaitOp))
    (lost,) = [bug for bug in mutations(wait) if bug.what == "dropped"]
    assert not lost.is_of_values
    copy = next(op for op in module.walk() if isinstance(op, kernel.CopyAsyncOp))
    assert all(bug.is_of_values for bug in mutations(copy))
