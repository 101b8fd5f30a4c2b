# SPDX-License-Identifier: Apache-2.0
"""
Which register axes each value of a launch depends on: a thread holds it once for each of their
steps.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.tile_axes import Level

Point = Mapping[SSAValue, int]
"""A step of each of some register axes."""


class RegisterAxes:
    """The register axes of a launch and what depends on them."""

    def __init__(self, launch: tile.LaunchOp):
        axes = launch.axes_at(Level.REGISTER)
        self.extents = {axis.value: axis.extent for axis in axes}
        self.dependence: dict[SSAValue, frozenset[SSAValue]] = {
            axis: frozenset({axis}) for axis in self.extents
        }
        self._visit(launch.body.block)

    def of(self, values: Iterable[SSAValue]) -> frozenset[SSAValue]:
        """The register axes that any of `values` depends on."""
        return frozenset[SSAValue]().union(*(self.dependence.get(v, frozenset()) for v in values))

    def points(self, axes: frozenset[SSAValue]) -> Iterator[dict[SSAValue, int]]:
        """Every step of `axes` together, the last axis fastest."""
        ordered = [axis for axis in self.extents if axis in axes]
        for steps in product(*(range(self.extents[axis]) for axis in ordered)):
            yield dict(zip(ordered, steps, strict=True))

    def restrict(self, value: SSAValue, point: Point) -> tuple[int, ...]:
        """The part of `point` that `value` depends on, as a key."""
        axes = self.dependence.get(value, frozenset())
        return tuple(point[axis] for axis in self.extents if axis in axes)

    def _visit(self, block: Block) -> None:
        for op in block.ops:
            for inner in (inner for region in op.regions for inner in region.blocks):
                self._visit(inner)
            for result in op.results:
                self.dependence[result] = self._depends(op)

    def _depends(self, op: Operation) -> frozenset[SSAValue]:
        match op:
            case loop.ReduceOp():
                return self.of(op.yield_op.operands)
            case tile.CombineOp():
                return self.of(op.operands) - frozenset(op.axes)
            case _:
                return self.of(op.operands)
