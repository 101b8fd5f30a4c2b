# SPDX-License-Identifier: Apache-2.0
"""
Axes within a block on which the values of loops depend.

A site is a place where a block may fill slabs: the steps of a loop, or the body of the launch. A
value of the loops inside a site depends on the axes within the block along which it differs. Axes
within a block are thread axes, register axes and the axes of loops inside the site. Block axes, and
the loops around the site, are the same for all threads whenever they reach the site.

    tile.launch (%bm = block 4, %tm = thread 16, %tn = thread 16) {
      loop.reduce %ko in 8 {                            // a site
        loop.reduce %ki in 16 {
          loop.load %x[%bm * 16 + %tm, %ko * 16 + %ki]  // depends on %tm and %ki: not on %tn
"""

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import AxesOp, MaskedOp, extent_of
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.loop.kernel import kernel_of_argument
from tilewright.dialects.needed_first import needed_first, operands_of
from tilewright.dialects.tile.attributes import Level

Axes = frozenset[SSAValue]

_JOINS = (tile.MeetingOp, loop.PrefixOp)
"""Ops without a body whose results depend on more than their operands."""


class BlockValues:
    """Values of the loops inside a site, and the axes within the block on which they depend."""

    def __init__(self, launch: tile.LaunchOp, site: Block):
        self.launch, self.site = launch, site
        self.position = {op: at for at, op in enumerate(ops_in(launch))}
        self._known: dict[SSAValue, Axes | None] = {}
        self._held: dict[SSAValue, bool] = {}
        self._varies: dict[Operation, frozenset[BlockArgument]] = {}

    def axes_of(self, value: SSAValue) -> Axes | None:
        """
        Return the axes of more than one step along which `value` differs within a block.

        Return None if the value is not a function of these axes alone: it depends on a join of
        threads or steps at the site.
        """
        for each in needed_first(value, self._known, operands_of):
            self._known[each] = self._axes_of(each)
        return self._known[value]

    def ops_of(self, value: SSAValue) -> list[Operation]:
        """
        Return the ops that compute `value` within the block, in order. Fixed ops (`is_fixed`) and
        ops whose results threads hold (`is_held`) are not among them.
        """
        found, pending = set[Operation](), [value]
        while pending:
            value = pending.pop()
            op = value.owner
            if not isinstance(op, Operation) or op in found or self.is_held(value):
                continue
            if not self.is_fixed(op):
                found.add(op)
                pending += op.operands
        return sorted(found, key=self.position.__getitem__)

    def held_by(self, value: SSAValue) -> list[SSAValue]:
        """
        Return the values that threads hold and from which `value` is computed, in the order of use.
        """
        used = (operand for op in self.ops_of(value) for operand in op.operands)
        return [value for value in dict.fromkeys(used) if self.is_held(value)]

    def is_held(self, value: SSAValue) -> bool:
        """
        True if threads hold `value` when they reach the site, and other threads could not recompute
        it. It is computed from values that threads or steps have joined.
        """
        for each in needed_first(value, self._held, operands_of):
            self._held[each] = self._find_held(each)
        return self._held[value]

    def is_fixed(self, op: Operation) -> bool:
        """
        True if the results of `op` are computed before the loops of the site begin, and are the
        same for all threads of a block.
        """
        if self.is_inside(op):
            return False
        return all(
            tile.level_of(axis) is Level.BLOCK for axis in tile.varies_along(op, self._varies)
        )

    def around(self, op: Operation) -> Operation:
        """Return the op directly in the site's block that is `op` or contains it."""
        while op.parent is not self.site:
            outer = op.parent_op()
            assert outer is not None
            op = outer
        return op

    def in_order(self, axes: Axes) -> list[SSAValue]:
        """Return the axes in order: axes of the launch, then axes of loops from the outside in."""

        def key(axis: SSAValue) -> tuple[int, int]:
            op = axis.owner.parent_op() if isinstance(axis, BlockArgument) else None
            assert isinstance(axis, BlockArgument)
            assert op is not None
            return self.position[op], axis.index

        return sorted(axes, key=key)

    def _find_held(self, value: SSAValue) -> bool:
        op = value.owner
        if not isinstance(op, Operation) or op.parent is not self.launch.body.block:
            return False
        if self.is_inside(op) or self.is_fixed(op) or isinstance(value.type, MemRefType):
            return False
        return not _is_function(op) or any(map(self.is_held, op.operands))

    def _axes_of(self, value: SSAValue) -> Axes | None:
        op = value.owner
        if isinstance(value, BlockArgument):
            return self._axes_of_argument(value)
        assert isinstance(op, Operation)
        if self.is_fixed(op):
            return frozenset()
        if self.is_held(value):
            return self._axes_of_held(op)
        if not _is_function(op):
            return None
        found: Axes = frozenset()
        for operand in op.operands:
            axes = self.axes_of(operand)
            if axes is None:
                return None
            found |= axes
        return found

    def _axes_of_held(self, op: Operation) -> Axes:
        varying = tile.varies_along(op, self._varies)
        within = [axis for axis in varying if tile.level_of(axis) is not Level.BLOCK]
        return frozenset(axis for axis in within if extent_of(axis) != 1)

    def _axes_of_argument(self, value: BlockArgument) -> Axes | None:
        """
        Return the axes of a block argument. Kernel arguments and block axes are fixed. The result
        is None for a loop that may end early.
        """
        op, extent = value.owner.parent_op(), extent_of(value)
        if isinstance(op, loop.KernelOp):
            return frozenset()
        if not isinstance(op, AxesOp) or isinstance(op, tile.StageOp) or extent == 0:
            return None
        if isinstance(op, tile.LaunchOp):
            is_within = tile.level_of(value) is not Level.BLOCK
            return frozenset({value} if is_within and extent != 1 else ())
        if not self.is_inside(op):
            return frozenset()
        if isinstance(op, loop.ReduceOp) and op.is_bounded:
            return None
        return frozenset({value} if extent != 1 else ())

    def is_inside(self, op: Operation) -> bool:
        """True if `op` is one of the site's loops, or is inside one."""
        if op.parent is self.site:
            return isinstance(op, AxesOp) and not isinstance(op, tile.StageOp)
        outer = op.parent_op()
        return outer is not None and outer is not self.launch and self.is_inside(outer)


def _is_function(op: Operation) -> bool:
    """
    True if the results depend on nothing but the operands, or on the elements of an input that the
    operands select.
    """
    if op.regions or not op.results or isinstance(op, _JOINS):
        return False
    if isinstance(op, loop.LoadOp):
        return kernel_of_argument(op.memref) is not None
    return isinstance(op, MaskedOp | loop.IndexOp | loop.PredicateOp) or not any(
        isinstance(operand, BlockArgument) or isinstance(operand.type, MemRefType)
        for operand in op.operands
    )


def expressions_of(op: Operation) -> Iterator[tuple[AffineExpr, Sequence[SSAValue]]]:
    """Yield the affine expressions in subscripts, masks and indices of an op."""
    if isinstance(op, loop.LoadOp | loop.IndexOp | loop.PredicateOp):
        yield from ((expr, op.indices) for expr in op.map.data.results)
    if isinstance(op, MaskedOp) and op.mask is not None:
        yield from ((expr, op.mask_operands) for expr in op.mask.data.results)
