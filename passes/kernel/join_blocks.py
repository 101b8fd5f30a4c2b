# SPDX-License-Identifier: Apache-2.0
"""
Joining of values across blocks, after each block has joined its own values.

    cluster      each block leaves its values in its own shared memory, where the others read them.
                 If the epilogue is the same for all of them, each block does a part of it
                 (`epilogue_parts.py`), or the first block does all of it. A block arrives at the
                 barrier that ends the kernel once it has read the others' values. It stores its
                 results before it waits for the others: no block waits for another's stores.
    last_block   each block leaves its values in global memory and arrives at a counter. The last
                 block reads the values of all, always in the same order, and goes on alone. If all
                 threads of a block have joined to one value, each thread reads the values of some
                 blocks, and the threads join them.
    atomic       the output starts as the identity; each block joins its values into it.
"""

from collections.abc import Sequence
from contextlib import ExitStack

from xdsl.dialects.builtin import IntegerAttr, MemRefType, i32
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.tile import SHARED, Join
from tilewright.passes.facts.block_joins import BlockJoins
from tilewright.passes.kernel.combine import Combining
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.epilogue_parts import EpiloguePart, divided_threads, epilogue_parts
from tilewright.passes.kernel.partials import AllPartials, Layout, Partials
from tilewright.passes.kernel.thread_values import ThreadValues
from tilewright.passes.rewriting.substitution import masked_store

_D0, _D1, _D2 = (AffineExpr.dimension(position) for position in range(3))

_UNROLLED = 64
"""Largest number of values that a thread joins for which the loop over the blocks is unrolled."""


class JoiningBlocks:
    """
    Lowering of a launch's combines across blocks. Blocks that join are adjacent in the grid, so
    that a block's number gives its group, and its rank within the group.
    """

    def __init__(
        self,
        joins: BlockJoins,
        function: kernel.FuncOp,
        values: ThreadValues,
        emitter: Emitter,
        ids: tuple[SSAValue, SSAValue],
        combining: Combining,
    ):
        self.joins, self.function = joins, function
        self.values, self.emit, self.combining = values, emitter, combining
        self.threads = combining.axes
        self.block, self.thread = ids
        self.rest = ExitStack()
        """Open contexts around all ops that are lowered after the join."""
        self.is_alone = False
        """
        True after the join if each following op is done by one block only, or for each thread by
        one block only.
        """
        self.dealt: dict[SSAValue, AffineExpr] = {}
        """Register axes that are divided among the blocks, with the index of the block's part."""
        self._rank = _D0 % joins.blocks

    def lower(self, op: tile.CombineOp) -> None:
        """
        Join the combines of a group across blocks when `op` is the last of them. Each block has
        joined its own values already.
        """
        (group,) = (group for group in self.joins.groups if op in group.ops)
        if op is not group.ops[-1]:
            return
        partials = AllPartials(
            [
                Partials(
                    each,
                    Layout.of(each, self.values, self.threads),
                    self.values,
                    self.emit,
                    self.thread,
                )
                for each in group.ops
            ]
        )
        layouts = partials.layouts
        if self.joins.kind is not Join.CLUSTER:
            self._last_block(partials)
        elif not self.joins.can_continue_alone(group):
            self._all_of_cluster(partials, op)
        elif parts := epilogue_parts(layouts, self.values.registers, group, self.joins.blocks):
            self._deal_registers(partials, op, parts)
        elif widest := divided_threads(layouts, group, self.joins.blocks):
            self._deal_threads(partials, op, widest)
        else:
            self._first_of_cluster(partials, op)

    def _shared(self, partials: AllPartials) -> list[list[SSAValue]]:
        def shared(layout: Layout, element: Attribute) -> SSAValue:
            return self.emit.value(kernel.SharedOp(layout.type(element, space=SHARED)), "partial")

        return partials.arrays(shared)

    def _first_of_cluster(self, partials: AllPartials, op: tile.CombineOp) -> None:
        """
        Emit the join for the first block of the cluster, which alone does the epilogue; the other
        blocks wait until it is done.
        """
        shared = self._shared(partials)
        with self.emit.guarded(([self._rank - 1], [self.block])):
            partials.leave(shared)
        self.emit.op(kernel.ClusterBarrierOp())
        with self.emit.guarded(([self._rank - 1], [self.block])):
            self.emit.op(kernel.ClusterArriveOp())
        self.rest.callback(self._at, op, kernel.ClusterWaitOp)
        self.rest.enter_context(self.emit.guarded(([self._rank * -1], [self.block])))
        self.is_alone = True
        self._join_remote(partials, shared, partials.carried(), first=1)
        self.emit.op(kernel.ClusterArriveOp())

    def _deal_registers(
        self, partials: AllPartials, op: tile.CombineOp, parts: Sequence[EpiloguePart]
    ) -> None:
        """
        Emit the join for an epilogue in which each block does its own steps of the register axes.
        """
        shared = self._store_all(partials)
        self.rest.callback(self._at, op, kernel.ClusterWaitOp)
        for axis, steps, number in parts:
            own = number.replace_dims_and_symbols([self._rank], ())
            self.values.restrict(axis, steps, own, self.block)
            self.dealt[axis] = own
        partials.restart()
        self._join_remote(partials, shared, partials.begin(), first=0)
        self.emit.op(kernel.ClusterArriveOp())

    def _deal_threads(self, partials: AllPartials, op: tile.CombineOp, layout: Layout) -> None:
        """
        Emit the join for an epilogue in which each block uses only a part of its threads. These
        store before the barrier, which all threads of a block reach together.
        """
        shared = self._store_all(partials)
        self.rest.callback(self._at, op, kernel.ClusterBarrierOp)
        slot = layout.slot.replace_dims_and_symbols([_D1], ())
        apart = (slot * self.joins.blocks) // layout.num_threads - self._rank
        where = [apart, apart * -1], [self.block, self.thread]
        self.rest.enter_context(self.emit.guarded(where))
        self.is_alone = True
        self._join_remote(partials, shared, partials.begin(), first=0)

    def _store_all(self, partials: AllPartials) -> list[list[SSAValue]]:
        """Store each block's values in its shared memory, for all blocks, and return the arrays."""
        shared = self._shared(partials)
        partials.leave(shared)
        self.emit.op(kernel.ClusterBarrierOp())
        return shared

    def _at(self, op: tile.CombineOp, last: type[Operation]) -> None:
        """Emit the op `last`, after which no block reads the values that `op` left."""
        with self.emit.at(op):
            self.emit.op(last())

    def _all_of_cluster(self, partials: AllPartials, op: tile.CombineOp) -> None:
        """
        Emit the join for an epilogue that every block does: each block reads the values of all
        blocks, in the same order. Another join that follows may use the same shared memory.
        """
        shared = self._store_all(partials)
        self._join_remote(partials, shared, partials.begin(), first=0)
        if op is not self.joins.ops[-1]:
            self.emit.op(kernel.ClusterBarrierOp())
            return
        self.emit.op(kernel.ClusterArriveOp())
        self.rest.callback(self._at, op, kernel.ClusterWaitOp)

    def _join_remote(
        self,
        partials: AllPartials,
        shared: Sequence[Sequence[SSAValue]],
        start: Sequence[SSAValue],
        *,
        first: int,
    ) -> None:
        def step(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            later = kernel.IndexOp(([_D0 + first], [index]))
            rank = self.emit.value(later, "rank") if first else index
            theirs = [
                [self.emit.value(kernel.RemoteOp(array, rank), "theirs") for array in arrays]
                for arrays in shared
            ]
            return partials.take(theirs, carried)

        steps = self.joins.blocks - first
        partials.end(self.emit.loop(steps, start, step, "r", unroll=True))

    def _last_block(self, partials: AllPartials) -> None:
        blocks = self.joins.blocks
        groups = self.function.grid.value.data // blocks
        group, rank = _D0 // blocks, self._rank

        def scratch(layout: Layout, element: Attribute) -> SSAValue:
            return self.function.add_scratch(layout.type(element, groups, blocks), "partials")

        room = partials.arrays(scratch)
        partials.leave(room, ([group, rank], [self.block]))
        arrived = self.function.add_scratch(
            MemRefType(i32, [groups]), "arrived", IntegerAttr(0, i32)
        )
        arrive = kernel.ArriveOp(arrived, ([group], [self.block]), blocks)
        self.rest.enter_context(self.emit.branch(self.emit.value(arrive, "last")))
        self.is_alone = True

        if self._can_join_by_threads(partials):
            self._join_by_threads(partials, room)
            return

        def step(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return partials.take(room, carried, ([group, _D1], [self.block, index]))

        values = sum(layout.num_values for layout in partials.layouts)
        unroll = blocks * values <= _UNROLLED
        partials.end(self.emit.loop(blocks, partials.begin(), step, "r", unroll=unroll))

    def _can_join_by_threads(self, partials: AllPartials) -> bool:
        """True if each block has one value, which every thread holds, and all threads join."""
        threads = {axis.value for axis in self.threads if axis.extent > 1}
        joined = all(threads <= {*each.op.axes} for each in partials.partials)
        return joined and all(layout.is_single for layout in partials.layouts)

    def _join_by_threads(self, partials: AllPartials, room: Sequence[Sequence[SSAValue]]) -> None:
        """
        Make each thread of the last block join the values of every n-th block, for n threads; then
        join across the threads.
        """
        blocks, threads = self.joins.blocks, self.combining.threads
        group, theirs = _D0 // blocks, _D2 * threads + _D1

        def step(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            operands = [self.block, self.thread, index]
            where = ([theirs * -1 + (blocks - 1)], operands) if blocks % threads else None
            return partials.take(room, carried, ([group, theirs], operands), where)

        rounds = -(-blocks // threads)
        partials.end(self.emit.loop(rounds, partials.begin(), step, "r", unroll=True))
        for each in partials.partials:
            self.combining.join_threads(each.op)

    def store(self, op: loop.StoreOp) -> None:
        """
        Emit a store; if all joining blocks would store the same element, only one of them does.
        """
        store = self.values.clone(op)
        assert isinstance(store, loop.StoreOp)
        once = self._one_block([*op.indices, *op.mask_operands])
        if not once:
            self.emit.op(store)
            return
        self.emit.op(masked_store(store, (once, [self.block])))

    def _one_block(self, named: Sequence[SSAValue]) -> list[AffineExpr]:
        """
        Return the expressions of a mask that holds in one of the blocks with equal values of
        `named`; empty if no mask is needed.
        """
        if self.is_alone or not self.joins.differing.isdisjoint(named):
            return []
        if not self.dealt:
            return [self._rank * -1]
        own = self.values.registers.of(named)
        return [number * -1 for axis, number in self.dealt.items() if axis not in own]

    def update(self, op: loop.StoreOp) -> None:
        """Join each block's value into the output by an atomic op."""
        (combine,) = (each for each in self.joins.ops if op.value in each.results)
        store = self.values.clone(op)
        assert isinstance(store, loop.StoreOp)
        subscripts = store.map.data.results, store.indices
        monoid = combine.monoid
        self.emit.op(kernel.AtomicOp(store.value, store.memref, subscripts, monoid, store.where))
        assert isinstance(store.memref, BlockArgument)
        (identity,) = monoid.identities([store.value.type])
        self.function.set_initial(store.memref, identity)
