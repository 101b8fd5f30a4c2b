# SPDX-License-Identifier: Apache-2.0
"""
Barriers at which threads of a block wait for each other: all threads, one warp, or groups of warps.

After a barrier, a thread sees the memory writes that the other threads did before it. A barrier for
fewer threads waits less: rows that share a block need not wait for each other.
"""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AtLeast,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.axes import range_of_value
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.index import Range
from tilewright.dialects.kernel_like import ThreadFuncOp
from tilewright.dialects.target import WARP_SIZE

NAMES = Range(1, 15)
"""Valid numbers of named barriers: a block has 16 barriers, and barrier 0 is `kernel.barrier`."""


class MeetingOp(FormedOp, ABC):
    """
    Base class of barriers: threads wait for each other, and then see each other's memory writes.
    """

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class BarrierOp(MeetingOp):
    """
    Barrier of all threads of the block, which makes their shared memory writes visible.

    Not allowed in divergent control flow.

    ```mlir
    kernel.barrier
    ```
    """

    name = "kernel.barrier"

    assembly_format = "attr-dict"


@irdl_op_definition
class WarpBarrierOp(MeetingOp):
    """
    Barrier of the threads of each warp, which makes their shared memory writes visible to the warp.

    Not allowed where lanes of a warp may diverge.

    ```mlir
    kernel.warp_barrier
    ```
    """

    name = "kernel.warp_barrier"

    assembly_format = "attr-dict"


@irdl_op_definition
class NamedBarrierOp(MeetingOp):
    """
    Barrier of a group of `threads` threads, whole warps: threads with the same `id` wait for each
    other.

    The `id` is from 1 to 15. Exactly `threads` threads have to arrive. Other threads may reuse an
    `id` only after the barrier of its previous users has completed (PTX ISA, `barrier`).

    Rows of 128 threads that share a block:

    ```mlir
    %row = kernel.index [%t floordiv 128 + 1]
    kernel.named_barrier %row threads 128
    ```
    """

    name = "kernel.named_barrier"
    FORM_DECIDES: ClassVar[bool] = False  # verification reads the id's range

    id = operand_def(IndexType)
    threads = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))

    assembly_format = "$id `threads` $threads attr-dict"

    def __init__(self, id: SSAValue, threads: int):
        super().__init__(operands=[id], properties={"threads": IntegerAttr(threads, i64)})

    def verify_(self) -> None:
        threads, block = self.threads.value.data, block_around(self)
        if threads % WARP_SIZE:
            raise VerifyException(
                f"{threads} threads are not whole warps; a named barrier counts a multiple of "
                f"{WARP_SIZE}"
            )
        if block is not None and threads > block:
            raise VerifyException(f"waits for {threads} threads, but the block has {block}")
        names = range_of_value(self.id)
        if names is not None and names not in NAMES:
            raise VerifyException(
                f"the id is from {names.low} to {names.high}, but has to be from {NAMES.low} to "
                f"{NAMES.high}: number the groups from 1; 'kernel.barrier' is barrier 0"
            )


def block_around(op: Operation) -> int | None:
    """Return the number of threads in the block around `op`; None outside of kernels."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ThreadFuncOp):
        parent = parent.parent_op()
    return None if parent is None else parent.block.value.data
