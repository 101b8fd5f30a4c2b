# SPDX-License-Identifier: Apache-2.0
"""
Where threads of a block wait for each other: all of them, those of a warp, or groups of warps.

Who has waited sees what the others wrote to memory before. The fewer threads a barrier is for, the
less any of them waits: rows that share a block need not wait for each other.
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
"""The numbers of named barriers: a block has 16 barriers, and barrier 0 is `kernel.barrier`."""


class MeetingOp(FormedOp, ABC):
    """Threads wait for each other, and then see what they wrote to memory."""

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())


@irdl_op_definition
class BarrierOp(MeetingOp):
    """
    Waits for every thread of the block and makes their shared memory writes visible. Not allowed
    where threads of a block may go different ways.

    ```mlir
    kernel.barrier
    ```
    """

    name = "kernel.barrier"

    assembly_format = "attr-dict"


@irdl_op_definition
class WarpBarrierOp(MeetingOp):
    """
    The same for the threads of each warp, which wait for nobody else. Not allowed where lanes of a
    warp may go different ways.

    ```mlir
    kernel.warp_barrier
    ```
    """

    name = "kernel.warp_barrier"

    assembly_format = "attr-dict"


@irdl_op_definition
class NamedBarrierOp(MeetingOp):
    """
    The same for groups of `threads` threads, whole warps: those that come with the same `id`, from
    1 to 15, wait for each other. As many as `threads` have to come, and other threads may not use
    an `id` before they know that those who had it have met (PTX ISA, `barrier`).

    Rows of 128 threads that share a block:

    ```mlir
    %row = kernel.index [%t floordiv 128 + 1]
    kernel.named_barrier %row threads 128
    ```
    """

    name = "kernel.named_barrier"
    FORM_DECIDES: ClassVar[bool] = False  # it asks for the range of its id, and for the block

    id = operand_def(IndexType)
    threads = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))

    assembly_format = "$id `threads` $threads attr-dict"

    def __init__(self, id: SSAValue, threads: int):
        super().__init__(operands=[id], properties={"threads": IntegerAttr(threads, i64)})

    def verify_(self) -> None:
        threads, block = self.threads.value.data, _block_around(self)
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


def _block_around(op: Operation) -> int | None:
    """Return the threads of the block; None outside of kernels."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ThreadFuncOp):
        parent = parent.parent_op()
    return None if parent is None else parent.block.value.data
