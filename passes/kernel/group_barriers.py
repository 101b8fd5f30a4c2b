# SPDX-License-Identifier: Apache-2.0
"""
Barriers of the groups of threads that share something of their own, as rows of a block do.

    %group = kernel.index [%thread floordiv 128 + 1]
    kernel.named_barrier %group threads 128

A group that is the block has the block's barrier. So do groups that are too many for the ids there
are: groups of another size need ids of their own, for nobody knows who still waits with the others.
"""

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel
from tilewright.dialects.kernel.barrier import NAMES
from tilewright.passes.kernel.emitter import Emitter


class GroupBarriers:
    """Allots the ids of the named barriers of a kernel."""

    def __init__(self, emitter: Emitter, thread: SSAValue, threads: int):
        self.emit, self.thread, self.threads = emitter, thread, threads
        self._first_ids: dict[int, int] = {}
        """The id of the first group, by the threads of a group."""

    def wait(self, width: int) -> None:
        """Each group of `width` threads side by side, whole warps, waits for all of the group."""
        first = self._first_id(width)
        if first is None:
            self.emit.op(kernel.BarrierOp())
            return
        with self.emit.outside_loops():
            number = AffineExpr.dimension(0) // width + first
            group = self.emit.value(kernel.IndexOp(([number], [self.thread])), "group")
        self.emit.op(kernel.NamedBarrierOp(group, width))

    def _first_id(self, width: int) -> int | None:
        if width in self._first_ids:
            return self._first_ids[width]
        first = NAMES.low + sum(self.threads // other for other in self._first_ids)
        groups = self.threads // width
        if groups == 1 or first + groups - 1 > NAMES.high:
            return None
        self._first_ids[width] = first
        return first
