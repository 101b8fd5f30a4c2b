# SPDX-License-Identifier: Apache-2.0
"""
Values that a block reads more than once, seen from a site where it may fill slabs.

A value that does not differ along some thread axis is shared: the threads along that axis read the
same element.

    %a = loop.load %x[%bm * 16 + %tm, %ko * 16 + %ki]     shared along %tn

In the body of the launch, a value is also read again if several loops compute it the same way from
inputs of the kernel. A thread then repeats its own work, or that of other threads.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, extent_of
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.needed_first import needed_first, operands_of
from tilewright.dialects.tile.launch import launch_of
from tilewright.passes.tile.block_values import Axes, BlockValues
from tilewright.passes.tile.row_facts import is_contraction
from tilewright.passes.tile.slabs import Slab

LONGEST_CHUNK = 64
"""
Most steps of a contraction that a block stages at once; a longer one must be split into chunks.
"""


class Place(NamedTuple):
    """Slab of a value, and the subscripts of the value in it."""

    value: SSAValue
    slab: Slab
    subscripts: Access


class Reuse:
    """Values that the loops of a site read more than once, except loops inside `without`."""

    def __init__(
        self,
        launch: tile.LaunchOp,
        site: Block,
        without: Sequence[Block] = (),
    ):
        self.site, self.is_launch = site, site is launch.body.block
        self.values = BlockValues(launch, site)
        self._slabs: list[Slab] = []
        """Slabs of all values that have been looked up."""
        self._places: dict[SSAValue, Place] = {}
        self._sources: dict[SSAValue, frozenset[loop.LoadOp]] = {}
        self._threads: Axes = frozenset(a.value for a in launch.thread_axes() if a.extent > 1)
        self.is_contraction = is_contraction(launch)
        inside = [op for op in site.walk() if self.values.is_inside(op)]
        ops = [op for op in inside if not any(is_in(op, block) for block in without)]
        self._results = [result for op in ops for result in op.results]
        self._values_read_again = self._read_again() if self.is_launch else frozenset[SSAValue]()
        ends = [v for v in self._results if self.is_reused(v) and self._is_end(v)]
        self.operands = self._equal(ends)
        """
        Groups of equal values to stage, in order. Each value includes as much work as possible.
        """

    def is_reused(self, value: SSAValue) -> bool:
        """True if `value` is data that a block reads more than once."""
        return self.is_shared(value) or self.is_read_again(value)

    def is_read_again(self, value: SSAValue) -> bool:
        """True if several loops compute `value` the same way."""
        return value in self._values_read_again

    def is_shared(self, value: SSAValue) -> bool:
        """
        True if several threads read `value`, and it differs between the steps of a loop. In the
        body of a contraction's launch, loops with more than `LONGEST_CHUNK` steps exclude it.
        """
        axes = self.values.axes_of(value)
        if axes is None or self._threads <= axes or not self._is_read_in_steps(value):
            return False
        is_whole = self.is_launch and self.is_contraction
        return not (is_whole and any(map(_is_long, axes)))

    def sources(self, value: SSAValue) -> list[loop.LoadOp]:
        """Return the loads that `value` is computed from, in order, except loads of indices."""
        for each in needed_first(value, self._sources, self._computed_of):
            self._sources[each] = self._find_sources(each)
        return sorted(self._sources[value], key=self.values.position.__getitem__)

    def _computed_of(self, value: SSAValue) -> Sequence[SSAValue]:
        """
        Return the operands from which the loops compute `value`; none for a load, or for a value
        that is known before the loops.
        """
        if self._is_known_before(value) or isinstance(value.owner, loop.LoadOp):
            return ()
        return operands_of(value)

    def _find_sources(self, value: SSAValue) -> frozenset[loop.LoadOp]:
        if isinstance(value.owner, loop.LoadOp) and not self._is_known_before(value):
            return frozenset((value.owner,))
        parts = (self._sources[each] for each in self._computed_of(value))
        return frozenset[loop.LoadOp]().union(*parts)

    def _is_known_before(self, value: SSAValue) -> bool:
        """True if `value` is known before the loops inside the site begin."""
        op = value.owner
        return isinstance(op, Block) or self.values.is_fixed(op) or self.values.is_held(value)

    def place(self, value: SSAValue) -> Place:
        """Return the slab of a value, and its subscripts there; equal values have one slab."""
        if value not in self._places:
            new = Slab(value, self.source(value), self.values)
            slab = next((slab for slab in self._slabs if slab.is_equal(new)), new)
            if slab is new:
                self._slabs.append(new)
            self._places[value] = Place(value, slab, new.subscripts)
        return self._places[value]

    def is_full(self, load: loop.LoadOp, value: SSAValue) -> bool:
        """True if a load differs along all the axes along which `value` differs."""
        return self.values.axes_of(load.result) == self.values.axes_of(value)

    def source(self, value: SSAValue) -> loop.LoadOp:
        """
        Return the load that stands for a value: the first that differs along all of its axes, else
        the first.
        """
        loads = self.sources(value)
        return next((load for load in loads if self.is_full(load, value)), loads[0])

    def _is_read_in_steps(self, value: SSAValue) -> bool:
        """
        True if `value` is computed from loads, and differs between the steps of a loop inside the
        site.
        """
        axes = self.values.axes_of(value) or ()
        return any(launch_of(axis) is None for axis in axes) and bool(self.sources(value))

    def _is_end(self, value: SSAValue) -> bool:
        """
        True if an op uses `value` and has no result, or a result that is not read more than once.
        """
        if isinstance(value.type, IndexType):
            return False
        users = [use.operation for use in value.uses]
        return any(not user.results or not all(map(self.is_reused, user.results)) for user in users)

    def _read_again(self) -> frozenset[SSAValue]:
        """Return the values that several loops compute the same way from inputs alone."""
        if len(self._loops(self._results)) < 2:
            return frozenset()
        read = [v for v in self._results if self._may_be_read_again(v)]
        groups = self._equal(read)
        return frozenset(v for group in groups for v in group if len(self._loops(group)) > 1)

    def _may_be_read_again(self, value: SSAValue) -> bool:
        is_data = not isinstance(value.type, IndexType)
        if not is_data or self.values.axes_of(value) is None or not self._is_read_in_steps(value):
            return False
        given = (v for op in self.values.ops_of(value) for v in op.operands)
        return not _any_joined(given)

    def _loops(self, group: Sequence[SSAValue]) -> set[Operation]:
        owners = [value.owner for value in group]
        return {self.values.around(op) for op in owners if isinstance(op, Operation)}

    def _equal(self, values: Sequence[SSAValue]) -> list[list[SSAValue]]:
        """Return `values` in groups; the values of a group have the same slab."""
        groups: dict[Slab, list[SSAValue]] = {}
        for value in values:
            groups.setdefault(self.place(value).slab, []).append(value)
        return list(groups.values())


def is_unchunked(launch: tile.LaunchOp) -> bool:
    """True if the launch has a contraction that is too long to be staged at once."""
    reductions = [op for op in ops_in(launch) if isinstance(op, loop.ReduceOp)]
    return is_contraction(launch) and any(_is_long(op.axis) for op in reductions)


def is_in(op: Operation, block: Block) -> bool:
    """True if `op` is in `block`, at any depth."""
    while op.parent is not None and op.parent is not block:
        outer = op.parent_op()
        if outer is None:
            return False
        op = outer
    return op.parent is block


def _is_long(axis: SSAValue) -> bool:
    return launch_of(axis) is None and (extent_of(axis) or 0) > LONGEST_CHUNK


def _any_joined(values: Iterable[SSAValue]) -> bool:
    """True if one of the values depends on a reduction or a combine."""
    seen, pending = set[Operation](), [*values]
    while pending:
        op = pending.pop().owner
        if isinstance(op, loop.ReduceOp | tile.CombineOp):
            return True
        if isinstance(op, Operation) and op not in seen:
            seen.add(op)
            pending += op.operands
    return False
