# SPDX-License-Identifier: Apache-2.0
"""
Slabs of what threads hold: of those that hold a value alike the first stores it, then all wait.

    %ms = tile.share %max at [%vm * 8 + %tm] : memref<32xf32, 3 : i64>

becomes, where threads along `%tn` hold the same,

    %ms = kernel.shared : memref<32xf32, 3 : i64>
    scf.if %first {                                     // where %tn is 0
      kernel.unroll %vm in 4 {
        loop.store %max, %ms[%vm * 8 + %tm] : memref<32xf32, 3 : i64>
      }
    }
    kernel.barrier
"""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.index import delinearize
from tilewright.dialects.tile.attributes import Axis
from tilewright.dialects.types import memref_type
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.thread_values import ThreadValues


class Sharing:
    """Lowers the shares of a launch."""

    def __init__(
        self, values: ThreadValues, emitter: Emitter, thread: SSAValue, axes: Sequence[Axis]
    ):
        self.values, self.emit, self.thread, self.axes = values, emitter, thread, axes

    def lower(self, op: tile.ShareOp) -> None:
        """Fill the slab, which all threads may read from then on."""
        slab = self.emit.value(kernel.SharedOp(memref_type(op.slab)), op.slab.name_hint)
        self.values.set(op.slab, slab)
        if self.emit.loops:  # others may still read what the step before wrote
            self.emit.op(kernel.BarrierOp())
        registers = self.values.registers
        axes = registers.ordered(registers.of(op.operands))
        with self.emit.guarded(self._first(op.indices)), self.values.nest(axes):
            substitution = self.values.substitution(op.indices)
            place = substitution.access(op.map.data.results, op.indices)
            self.emit.op(loop.StoreOp(self.values.at(op.value), slab, place))
        self.emit.op(kernel.BarrierOp())

    def _first(self, named: Sequence[SSAValue]) -> Access:
        """Whether the thread is the first along all thread axes but those that are named."""
        parts = delinearize(AffineExpr.dimension(0), [axis.extent for axis in self.axes])
        axes = zip(self.axes, parts, strict=True)
        return [part * -1 for axis, part in axes if axis.value not in named], [self.thread]
