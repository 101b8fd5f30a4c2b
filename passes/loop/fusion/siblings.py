# SPDX-License-Identifier: Apache-2.0
"""
Launches whose kernels take the same steps: the correspondence of their axes, and the loads in
common.
"""

from collections.abc import Mapping
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.footprint import element_bytes, elements_touched
from tilewright.passes.loop.fusion.shared_loads import readings
from tilewright.passes.loop.launch_graph import inputs_of


class Sibling(NamedTuple):
    """A launch with its kernel and the body of the kernel's outermost nest."""

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    block: Block

    @property
    def axes(self) -> list[SSAValue]:
        """Free axes of the nest."""
        return [*self.block.args] if isinstance(self.block.parent_op(), loop.ForOp) else []

    @property
    def extents(self) -> list[int]:
        """Extent of each free axis."""
        nest = self.block.parent_op()
        return [*nest.axis_extents()] if isinstance(nest, loop.ForOp) else []

    @property
    def inner(self) -> list[loop.ReduceOp | loop.ForOp]:
        """Loops inside the nest."""
        return [op for op in self.block.ops if isinstance(op, loop.ReduceOp | loop.ForOp)]

    @property
    def accumulators(self) -> int:
        """Number of values that its reductions join."""
        return sum(len(op.results) for op in self.inner if isinstance(op, loop.ReduceOp))

    @property
    def loads(self) -> list[loop.LoadOp]:
        """Loads in the inner loops, or all loads if there are no inner loops."""
        scopes = self.inner or [self.kernel]
        return [op for scope in scopes for op in ops_in(scope) if isinstance(op, loop.LoadOp)]

    @property
    def before(self) -> list[Operation]:
        """Scalar ops before the nest."""
        return [op for op in self.kernel.body.block.ops if op.parent is not self.block][:-1]


def in_order_of_size(first: Sibling, second: Sibling) -> tuple[Sibling, Sibling] | None:
    """Return the two siblings, the one with more steps first; None if their axes do not match."""
    if first.extents == second.extents:
        same = _steps(first) == _steps(second)
        return (first, second) if same else None
    if first.inner or second.inner or len(first.extents) != len(second.extents):
        return None
    differ = [a < b for a, b in zip(first.extents, second.extents, strict=True) if a != b]
    if len(differ) != 1:
        return None
    return (second, first) if differ[0] else (first, second)


def _steps(sibling: Sibling) -> set[tuple[type[Operation], tuple[int, ...]]]:
    """Return the kinds and extents of the loops that a step of the nest runs."""
    return {(type(op), tuple(op.axis_extents())) for op in sibling.inner}


def bytes_shared(base: Sibling, other: Sibling) -> int:
    """
    Return the number of bytes that both kernels read from the same buffers, at equal subscripts in
    each step.
    """
    mine = readings(base.loads, inputs_of(base.kernel, base.launch))
    theirs = readings(other.loads, _correspondence(base, other))
    shared = {what.memref: load for what, load in mine.items() if what in theirs}
    return sum(elements_touched(load) * element_bytes(load.memref) for load in shared.values())


def _correspondence(base: Sibling, other: Sibling) -> Mapping[SSAValue, SSAValue]:
    """
    Return a map from `other` to `base`: kernel arguments of `other` to launched buffers, and axes
    to the axes of `base` with the same steps.
    """
    same = inputs_of(other.kernel, other.launch)
    same |= zip(other.axes, base.axes, strict=True)
    for theirs in other.inner:
        for mine in base.inner:
            if type(mine) is type(theirs) and mine.axis_extents() == theirs.axis_extents():
                same |= zip(theirs.body.block.args, mine.body.block.args, strict=True)
    return same
