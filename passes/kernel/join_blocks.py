# SPDX-License-Identifier: Apache-2.0
"""
Joining values across blocks, once each block has joined its own.

    cluster      each leaves its values in its own shared memory; the others read them there. Where
                 what follows is the same for all of them, one reads and goes on alone.
    last_block   each leaves its values in global memory and arrives at a counter; the last reads
                 those of all, always in the same order, and goes on alone.
    atomic       the output starts as the identity; each joins its values into it.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from math import prod

from xdsl.dialects.builtin import IntegerAttr, MemRefType, i32
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.tile import SHARED, Join
from tilewright.dialects.tile_axes import Axis
from tilewright.passes.kernel.block_joins import BlockJoins
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.partials import Layout, Partials
from tilewright.passes.kernel.thread_values import ThreadValues
from tilewright.passes.substitution import conjunction

_D0, _D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)

_UNROLLED = 64
"""Values that a thread takes in at most where the loop over the blocks is unrolled."""


class JoiningBlocks:
    """
    Lowers the combines of a launch across blocks. Those that join lie side by side in the grid, so
    that a block's number tells who it joins with, and its rank among them.
    """

    def __init__(
        self,
        joins: BlockJoins,
        function: kernel.FuncOp,
        values: ThreadValues,
        emitter: Emitter,
        ids: tuple[SSAValue, SSAValue],
        threads: Sequence[Axis],
    ):
        self.joins, self.function = joins, function
        self.values, self.emit, self.threads = values, emitter, threads
        self.block, self.thread = ids
        self.rest = ExitStack()
        """Around all that is still to come."""
        self.is_alone = False
        """Whether one block does what comes now."""
        self._rank = _D0 % joins.blocks

    def lower(self, op: tile.CombineOp) -> None:
        """The results are there, within each block."""
        layout = Layout.of(op, self.values, self.threads)
        partials = Partials(op, layout, self.values, self.emit, self.thread)
        match self.joins.kind:
            case Join.CLUSTER if self.joins.goes_on_alone(op):
                self._first_of_cluster(partials)
            case Join.CLUSTER:
                self._all_of_cluster(partials)
            case _:
                self._last_block(partials)

    def _shared(self, partials: Partials) -> list[SSAValue]:
        types = [partials.layout.type(v.type, space=SHARED) for v in partials.op.results]
        return [self.emit.value(kernel.SharedOp(type), "partial") for type in types]

    def _first_of_cluster(self, partials: Partials) -> None:
        """The first block goes on from its own values; the others wait until it is done."""
        shared = self._shared(partials)
        with self.emit.guarded(([self._rank - 1], [self.block])):
            partials.leave(shared)
        self.emit.op(kernel.ClusterBarrierOp())
        self.rest.callback(self._meet, partials.op)
        self.rest.enter_context(self.emit.guarded(([self._rank * -1], [self.block])))
        self.is_alone = True
        self._take_remote(partials, shared, partials.carried(), first=1)

    def _meet(self, op: tile.CombineOp) -> None:
        """The cluster has done with what `op` left."""
        with self.emit.at(op):
            self.emit.op(kernel.ClusterBarrierOp())

    def _all_of_cluster(self, partials: Partials) -> None:
        """Every block reads those of all, in the same order."""
        shared = self._shared(partials)
        partials.leave(shared)
        self.emit.op(kernel.ClusterBarrierOp())
        self._take_remote(partials, shared, partials.begin(), first=0)
        self.emit.op(kernel.ClusterBarrierOp())

    def _take_remote(
        self,
        partials: Partials,
        shared: Sequence[SSAValue],
        start: Sequence[SSAValue],
        *,
        first: int,
    ) -> None:
        def step(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            later = kernel.IndexOp(([_D0 + first], [index]))
            rank = self.emit.value(later, "rank") if first else index
            theirs = [self.emit.value(kernel.RemoteOp(memref, rank), "theirs") for memref in shared]
            return partials.take(theirs, carried)

        steps = self.joins.blocks - first
        partials.end(self.emit.loop(steps, start, step, "r", unroll=True))

    def _last_block(self, partials: Partials) -> None:
        blocks = self.joins.blocks
        groups = self.function.grid.value.data // blocks
        group, rank = _D0 // blocks, self._rank
        room = [
            self.function.add_scratch(partials.layout.type(value.type, groups, blocks), "partials")
            for value in partials.op.results
        ]
        partials.leave(room, ([group, rank], [self.block]))
        arrived = self.function.add_scratch(
            MemRefType(i32, [groups]), "arrived", IntegerAttr(0, i32)
        )
        arrive = kernel.ArriveOp(arrived, ([group], [self.block]), blocks)
        self.rest.enter_context(self.emit.branch(self.emit.value(arrive, "last")))
        self.is_alone = True

        def step(index: SSAValue, carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return partials.take(room, carried, ([group, _D1], [self.block, index]))

        unroll = blocks * prod(partials.layout.extents) <= _UNROLLED
        partials.end(self.emit.loop(blocks, partials.begin(), step, "r", unroll=unroll))

    def store(self, op: loop.StoreOp) -> None:
        """Once, where blocks that join would all store the same element."""
        store = self.values.clone(op)
        assert isinstance(store, loop.StoreOp)
        named = {*op.indices, *op.mask_operands}
        if self.is_alone or not self.joins.differing.isdisjoint(named):
            self.emit.op(store)
            return
        own = [] if store.mask is None else [(store.mask.data.results, store.mask_operands)]
        where = conjunction([*own, ([self._rank * -1], [self.block])])
        subscripts = store.map.data.results, store.indices
        self.emit.op(loop.StoreOp(store.value, store.memref, subscripts, where))

    def update(self, op: loop.StoreOp) -> None:
        """Each block joins its values into the output."""
        (combine,) = self.joins.ops
        store = self.values.clone(op)
        assert isinstance(store, loop.StoreOp)
        where = None if store.mask is None else (store.mask.data.results, store.mask_operands)
        subscripts = store.map.data.results, store.indices
        monoid = combine.monoid
        self.emit.op(kernel.AtomicOp(store.value, store.memref, subscripts, monoid, where))
        assert isinstance(store.memref, BlockArgument)
        (identity,) = monoid.identities([store.value.type])
        self.function.set_initial(store.memref, identity)
