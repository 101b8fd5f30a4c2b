# SPDX-License-Identifier: Apache-2.0
"""
Lowering of reductions that warpgroups multiply (`tensor-core`).

    %chunk = loop.reduce %ki in 64 with add by(m64nNk16_bf16) { ... %as[...] ... %bs[...] ... }

becomes

    kernel.group_fence
    scf.for %ki = %0 to %4 step %1 {
      kernel.group_multiply m64nNk16_bf16 columns 256 %as[...], %bs[...], %sum[...]
    } {unroll}
    kernel.group_commit
    kernel.group_wait 0

Slabs that threads fill are fenced first: tensor cores do not see what threads write.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.kernel.registers import UnrollOp
from tilewright.dialects.kernel.warpgroup import (
    GroupCommitOp,
    GroupFenceOp,
    GroupMultiplyOp,
    GroupWaitOp,
    ProxyFenceOp,
)
from tilewright.dialects.matrix_instruction import GROUP_WARPS
from tilewright.dialects.tile import Transport
from tilewright.dialects.tile.attributes import Level
from tilewright.dialects.tile.layout import layout_of
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.group_products import (
    GroupFactor,
    GroupProduct,
    group_products,
    tiles_of,
)
from tilewright.passes.facts.matrix_product import digits_of, launch_around
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.thread_values import Indices, ThreadValues
from tilewright.passes.reporting.refusal import refused

_ZERO, _D0 = AffineExpr.constant(0), AffineExpr.dimension(0)


class GroupReductions:
    """Lowering of reductions whose products warpgroups add."""

    def __init__(self, values: ThreadValues, emitter: Emitter):
        self.values, self.emit = values, emitter

    def lower(self, op: loop.ReduceOp) -> None:
        """
        Lower the steps of `op`, which add to the register array of its result.

        Raises `PlacedPassError` if warpgroups cannot do the reduction.
        """
        assert op.instruction is not None
        products = group_products(op, op.instruction, lambda stage: stage.layout)
        if isinstance(products, str):
            raise refused(op, f"'{op.instruction}' cannot do this reduction: {products}")
        if any(_is_written_by_threads(each.load) for p in products for each in (p.a, p.b)):
            self.emit.op(ProxyFenceOp())
        self.emit.op(GroupFenceOp())
        k = op.instruction.fragments.k

        def step(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            with self.values.scope():
                self._multiply(op, products, {op.axis: (_D0 * k, [index])})
            return ()

        self.emit.loop(op.extent.value.data // k, (), step, op.axis.name_hint, unroll=True)
        self.emit.op(GroupCommitOp())
        self.emit.op(GroupWaitOp())

    def _multiply(self, op: loop.ReduceOp, products: Sequence[GroupProduct], step: Indices) -> None:
        """Start the multiplications of a step: one for each block of rows and of columns."""
        axes = self.values.registers.ordered(self.values.registers.of(op.results))
        tiles, columns = tiles_of(op), products[0].columns
        rows = [axis for axis in axes[:-2] if tiles is None or axis is not tiles.value]
        with self.values.nest(rows):
            if tiles is None or tiles.extent * 8 == columns:
                self._start(op, products, self._indices(op, step, _ZERO, []), _ZERO, [])
                return
            body = Block(arg_types=[IndexType()])
            (block,) = body.args
            block.name_hint = "columns"
            self.emit.op(UnrollOp([tiles.extent * 8 // columns], Region(body)))
            with self.emit.inside(body):
                first = _D0 * (columns // 8)
                indices = self._indices(op, step, first, [block])
                self._start(op, products, indices, first, [block])

    def _indices(
        self, op: loop.ReduceOp, step: Indices, tile: AffineExpr, operands: Sequence[SSAValue]
    ) -> Indices:
        """
        Return the values of axes for the first elements of a warpgroup's matrices: the first lane
        of its first warp, and the tile of eight columns that is given.
        """
        digits = digits_of(op)
        assert not isinstance(digits, str)
        warps = launch_around(op).axes_at(Level.WARP)[-1].value
        first = _D0 // GROUP_WARPS * GROUP_WARPS
        none: Sequence[SSAValue] = ()
        indices: dict[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]] = {
            axis.value: (_ZERO, none) for side in digits for axis in side
        }
        if (tiles := tiles_of(op)) is not None:
            indices[tiles.value] = tile, operands
        return {**indices, warps: (first, [self.values.at(warps)]), **step}

    def _start(
        self,
        op: loop.ReduceOp,
        products: Sequence[GroupProduct],
        indices: Indices,
        tile: AffineExpr,
        operands: Sequence[SSAValue],
    ) -> None:
        assert op.instruction is not None
        tiles = tiles_of(op)
        axes = self.values.registers.ordered(self.values.registers.of(op.results))
        exprs, used = list[AffineExpr](), list[SSAValue]()
        for axis in axes[:-2]:
            is_tile = tiles is not None and axis is tiles.value
            new = [*operands] if is_tile else [self.values.at(axis)]
            dims = [AffineExpr.dimension(len(used) + at) for at in range(len(new))]
            exprs.append(tile.replace_dims_and_symbols(dims, ()) if is_tile else dims[0])
            used += new
        for product, result in zip(products, op.results, strict=True):
            a, b = (self._factor(each, indices) for each in (product.a, product.b))
            sums = self.values.array(result), ([*exprs, _ZERO, _ZERO], used)
            self.emit.op(GroupMultiplyOp(op.instruction, product.columns, *a, *b, *sums))

    def _factor(
        self, factor: GroupFactor, indices: Indices
    ) -> tuple[SSAValue, Access, tuple[int, int]]:
        """Return the slab of a factor, the subscripts of its matrix, and the axes it lies along."""
        memref, access = self.values.place(factor.load, indices)
        slots = int(layout_of(memref_type(memref)).has_slots)
        row, k = factor.axes
        return memref, access, (row + slots, k + slots)


def _is_written_by_threads(load: loop.LoadOp) -> bool:
    stage = load.memref.owner
    return not isinstance(stage, tile.StageOp) or stage.transport_kind is not Transport.TMA
