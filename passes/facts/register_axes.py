# SPDX-License-Identifier: Apache-2.0
"""
The register axes that each value of a launch depends on. A thread holds a copy of the value for
each step of these axes. Adjacent ops that depend on the same axes share one nest.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.tile.attributes import Level
from tilewright.passes.facts.effects import is_pure
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.nest import softmax_around


class Run(NamedTuple):
    """Adjacent ops that depend on the same register axes."""

    axes: Sequence[SSAValue]
    ops: list[Operation]


_NONE = frozenset[SSAValue]()


class RegisterAxes:
    """The register axes of a launch, and the values that depend on them."""

    def __init__(self, launch: tile.LaunchOp):
        axes = launch.axes_at(Level.REGISTER)
        self.extents: dict[SSAValue, int] = {
            axis.value: axis.extent for axis in axes if axis.extent > 1
        }
        self.dependence: dict[SSAValue, frozenset[SSAValue]] = {
            axis: frozenset({axis}) for axis in self.extents
        }
        self._visit(launch.body.block)

    def of(self, values: Iterable[SSAValue]) -> frozenset[SSAValue]:
        """Return the register axes that any of `values` depends on."""
        found = {axes for value in values if (axes := self.dependence.get(value))}
        return _NONE.union(*found) if len(found) != 1 else found.pop()

    def ordered(self, axes: frozenset[SSAValue]) -> Sequence[SSAValue]:
        """Return `axes` in the order of the launch."""
        return [axis for axis in self.extents if axis in axes]

    def runs(self, block: Block) -> Iterator[Run]:
        """
        Yield the ops of `block` in runs that depend on the same register axes. A pure op that
        depends on fewer axes moves ahead of the run that it would interrupt, because neither needs
        a result of the other. An op that threads or loops carry out together is a run of its own.
        The yield of a score and values is one too.
        """
        ahead, run = Run([], []), Run([], [])
        for op in block.ops:
            axes = self.ordered(self.of(op.operands))
            if _is_alone(op):
                yield from (ahead, run, Run([], [op]))
                ahead, run = Run([], []), Run([], [])
            elif axes == run.axes:
                run.ops.append(op)
            elif {*axes} < {*run.axes} and _may_move_ahead(op, run.ops):
                if axes != ahead.axes:
                    yield ahead
                    ahead = Run(axes, [])
                ahead.ops.append(op)
            else:
                yield from (ahead, run)
                ahead, run = Run([], []), Run(axes, [op])
        yield from (ahead, run)

    def _visit(self, block: Block) -> None:
        for op in block.ops:
            for inner in (inner for region in op.regions for inner in region.blocks):
                self._visit(inner)
            for result in op.results:
                if axes := self._depends(op, result.index):
                    self.dependence[result] = axes

    def _depends(self, op: Operation, result: int) -> frozenset[SSAValue]:
        match op:
            case loop.ReduceOp():
                return self.of(op.operands_of(result))
            case tile.CombineOp():
                return self.of(op.operands_of(result)) - frozenset(op.axes)
            case tile.ShareOp():
                return _NONE
            case _:
                return self.of(op.operands)


@memoised
def register_axes(launch: tile.LaunchOp) -> RegisterAxes:
    """Return the register axes of a launch, which must not change while they are in use."""
    return RegisterAxes(launch)


def _is_alone(op: Operation) -> bool:
    if isinstance(op, loop.YieldOp):  # a score and values may depend on different axes
        return softmax_around(op) is not None
    return bool(op.regions) or isinstance(op, tile.MeetingOp)


def _may_move_ahead(op: Operation, run: Sequence[Operation]) -> bool:
    if isinstance(op, loop.LoadOp):
        return not any(isinstance(other, loop.StoreOp) for other in run)
    return is_pure(op)
