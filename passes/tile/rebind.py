# SPDX-License-Identifier: Apache-2.0
"""Rebinding of a launch's axes: old ones become expressions of new ones in a cloned body."""

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import NamedTuple

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Operation, Region
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, Role
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import Range, delinearize, simplify
from tilewright.dialects.tile.attributes import Axis, AxisAttr, Level
from tilewright.passes.rewriting.simplify_accesses import simplify_accesses
from tilewright.passes.rewriting.substitution import Substitution

_INDEX = IndexType()

Clone = Callable[[Operation], Iterable[Operation]]
"""Function from an op of the old launch to the ops that it becomes."""


class NewAxis(NamedTuple):
    """Axis to add to a launch."""

    name: str
    level: Level
    extent: int
    role: Role


class Rebinding:
    """
    New axes of a launch, and the values that replace the old ones.

    A pattern on `tile.LaunchOp` adds the new axes, substitutes each old one, and finishes:

        rebinding, (axis,) = Rebinding(), launch.bound_axes()
        b = rebinding.add(NewAxis("b", Level.BLOCK, 8, axis.role))
        t = rebinding.add(NewAxis("t", Level.THREAD, 128, axis.role))
        rebinding.substitute([axis], b * 128 + t, overruns=True)
        rebinding.finish(launch, rewriter)

    Then

        tile.launch (%i = block 1000) {
          %0 = loop.load %x[%i] : memref<1000xf32>

    is replaced by

        tile.launch (%b = block 8, %t = thread 128) {
          %0 = loop.load %x[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>

    Every old axis needs `substitute`, or `keep` if it stays unchanged. If an index may reach past
    the old axes, pass `overruns=True`: loads and stores at it are then masked. A pattern that
    builds other ops passes `finish` a function that clones an op. The function uses the values of
    the rebinding's `substitution`.
    """

    def __init__(self) -> None:
        self.body = Block()
        self.axes: list[AxisAttr] = []
        self.substitution = Substitution()

    def add(self, axis: NewAxis) -> AffineDimExpr:
        """Add an axis, and return the affine dimension that stands for it."""
        value = self.body.insert_arg(_INDEX, len(self.body.args))
        value.name_hint = axis.name
        self.axes.append(AxisAttr.get(axis.level, axis.extent, axis.role))
        return AffineDimExpr(len(self.axes) - 1)

    def access(self, *exprs: AffineExpr) -> Access:
        """Return `exprs` as an access over the new axes."""
        return list(exprs), list(self.body.args)

    def substitute(
        self, old: Sequence[Axis], index: AffineExpr, *, overruns: bool, unneeded: bool = False
    ) -> None:
        """
        Replace the old axes by the digits of one linear `index` over the new axes. `overruns` means
        that the index reaches past the product of their extents, so that accesses are masked.
        `unneeded` means that values of reductions there are not needed (`Substitution.unneeded`).
        """
        extents = [axis.extent for axis in old]
        bound = self.access(index * -1 + (prod(extents) - 1))
        for axis, expr in zip(old, delinearize(index, extents), strict=True):
            self.substitution.indices[axis.value] = (expr, self.body.args)
            if overruns:
                self.substitution.bounds[axis.value] = bound
            if overruns and unneeded:
                self.substitution.unneeded.add(axis.value)

    def keep(self, axis: Axis) -> None:
        """Add a copy of an old axis, which replaces it."""
        hint = axis.value.name_hint
        self.add(NewAxis(hint or axis.role, axis.level, axis.extent, axis.role))
        self.substitution.values[axis.value] = self.body.args[-1]

    def keeps_all(self, launch: tile.LaunchOp) -> bool:
        """True if nothing changes: a copy in the same place replaces each axis."""
        if tuple(self.axes) != launch.axes.data or self.substitution.bounds:
            return False
        return all(self._keeps(axis) for axis in launch.body.block.args)

    def _keeps(self, axis: BlockArgument) -> bool:
        """
        True if a new axis with the same name, in the place of `axis`, is all that replaces it.
        """
        new, substitution = self.body.args[axis.index], self.substitution
        index, _ = substitution.indices.get(axis, (None, ()))
        if new.name_hint != axis.name_hint or substitution.parts.get(axis, [new]) != [new]:
            return False
        if index is None:
            return substitution.values.get(axis) is new
        return simplify(index, self._ranges) == AffineDimExpr(axis.index)

    @property
    def _ranges(self) -> list[Range]:
        return [Range.extent(axis.extent.data) for axis in self.axes]

    def rebound(self, launch: tile.LaunchOp, clone: Clone | None = None) -> tile.LaunchOp:
        """
        Return a launch over the new axes, which is not in the IR yet; `clone` clones its ops.
        Accesses are simplified by the ranges of the axes. Loop bounds are made the same for all
        threads of a block.
        """
        min_blocks = None if launch.min_blocks is None else launch.min_blocks.value.data
        new = tile.LaunchOp(self.axes, Region(self.body), min_blocks=min_blocks)
        new.location = launch.location
        for op in launch.body.block.ops:  # clones know the ranges of all axes
            self.body.add_ops(clone(op) if clone is not None else [self.substitution.clone(op)])
        if clone is not None:  # it may make loops after what they contain
            simplify_accesses(new)
        if any(isinstance(op, loop.ReduceOp) and op.is_bounded for op in ops_in(new)):
            self._make_bounds_uniform(new)
        return new

    def _make_bounds_uniform(self, new: tile.LaunchOp) -> None:
        from tilewright.passes.tile.step_bounds import make_bounds_uniform

        make_bounds_uniform(new, PatternRewriter(InsertPoint.at_end(self.body)))

    def finish(
        self, launch: tile.LaunchOp, rewriter: PatternRewriter, clone: Clone | None = None
    ) -> tile.LaunchOp:
        """Replace the launch by one over the new axes, and return that launch."""
        new = self.rebound(launch, clone)
        rewriter.replace(launch, new)
        return new


def next_power_of_two(at_least: int) -> int:
    """Return the smallest power of two that is at least `at_least`."""
    return 1 << max(at_least - 1, 0).bit_length()


def total_extent(axes: Iterable[Axis]) -> int:
    """Return the product of the extents of the axes."""
    return prod(axis.extent for axis in axes)
