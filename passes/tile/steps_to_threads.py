# SPDX-License-Identifier: Apache-2.0
"""
Dealing of the steps of loops to the threads along an axis (`cooperative-reduce`).

    %s = loop.reduce %k in 2048 with add { ... %x[%k] ... }

becomes, dealt out to `%t = thread 256`,

    %p = loop.reduce %k in 8 with add { ... %x[%k * 256 + %t] ... }
    %s = tile.combine %p across %t with add : f32

and, dealt out to `%t = thread 2048`,

    %s = tile.combine ... %x[%t] ... across %t with add : f32

Blocks may share the steps too: each does a run of consecutive steps, and they join. Dealt out to
`%b = block 4 split` and `%t = thread 256`,

    %p = loop.reduce %k in 2 with add { ... %x[%b * 512 + %k * 256 + %t] ... }
    %s = tile.combine %p across %b, %t with add join(last_block) : f32
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from math import prod
from operator import add
from typing import NamedTuple

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.index import delinearize
from tilewright.dialects.monoid import MonoidAttr
from tilewright.dialects.tile import Join
from tilewright.passes.rewriting.substitution import Substitution, conjunction, masked_store
from tilewright.passes.tile.row_facts import SHORT_ROW


class Blocks(NamedTuple):
    """Blocks that share the steps of loops."""

    axis: SSAValue
    number: int
    join: Join
    """Join of these blocks."""


class StepDistribution:
    """
    Cloning of ops whose loops are dealt out to `threads` threads along the axis `thread`, in each
    of `blocks`.
    """

    def __init__(
        self,
        substitution: Substitution,
        threads: int,
        thread: SSAValue,
        blocks: Blocks | None = None,
    ):
        self.substitution, self.threads, self.thread = substitution, threads, thread
        self.blocks = blocks

    @property
    def workers(self) -> int:
        """Threads of all blocks that share a loop."""
        return self.threads * (1 if self.blocks is None else self.blocks.number)

    def steps(self, extent: int) -> int:
        """Return the number of steps that each thread does of a loop of `extent` steps."""
        return -(-extent // self.workers)

    def clone(self, op: Operation) -> Iterable[Operation]:
        """Return the ops that replace `op`, which stands in no loop."""
        match op:
            case loop.ReduceOp() if is_cooperative(op):
                return self._deal_reduce(op)
            case loop.ForOp():
                return self._deal_for(op)
            case loop.StoreOp():
                return [self._store_once(op)]
            case _:
                return [self.substitution.clone(op)]

    def _deal_reduce(self, op: loop.ReduceOp) -> list[Operation]:
        (extent,) = op.axis_extents()
        body, bound = self._deal_body(op.body.block, [extent])
        terminator = op.yield_op
        done = [self.substitution.clone(i) for i in op.body.block.ops if i is not terminator]
        values = [self.substitution.value(v) for v in terminator.values]
        where = conjunction([self.substitution.mask(terminator), bound])
        if body is not None:
            body.add_ops([*done, loop.YieldOp(values, where)])
            partial = loop.ReduceOp(
                self.steps(extent),
                op.monoid,
                Region(body),
                fastmath=op.fastmath,
                weights=op.weights,
            )
            partial.location = op.location
            done, values, where = [partial], list(partial.results), None
        combine = self._combine(values, op.monoid, where)
        combine.location = op.location
        for old, part, new in zip(op.results, values, combine.results, strict=True):
            new.name_hint = old.name_hint
            if body is not None:
                part.name_hint = old.name_hint
            self.substitution.values[old] = new
        return [*done, combine]

    def _combine(
        self, values: Sequence[SSAValue], monoid: MonoidAttr, where: Access | None
    ) -> tile.CombineOp:
        if self.blocks is None:
            return tile.CombineOp(values, [self.thread], monoid, where)
        axes = [self.blocks.axis, self.thread]
        return tile.CombineOp(values, axes, monoid, where, self.blocks.join)

    def _deal_for(self, op: loop.ForOp) -> list[Operation]:
        extents = list(op.axis_extents())
        body, _ = self._deal_body(op.body.block, extents)
        done = [self.substitution.clone(inner) for inner in op.body.block.ops]
        if body is None:
            return done
        body.add_ops(done)
        steps, roles = [self.steps(prod(extents))], [op.axis_roles()[0]]
        nest = loop.ForOp(steps, Region(body), roles)
        nest.location = op.location
        return [nest]

    def _deal_body(
        self, block: Block, extents: Sequence[int]
    ) -> tuple[Block | None, Access | None]:
        """
        Return a body over the steps of a thread, and the condition that they do not overrun. A
        linear index stands for the axes of `block`. The body is None if a thread has a single step.
        """
        total, steps, body = prod(extents), self.steps(prod(extents)), None
        parts = [(self.thread, 1)]
        if steps > 1:
            body = Block(arg_types=[block.args[0].type])
            body.args[0].name_hint = block.args[0].name_hint
            parts.insert(0, (body.args[0], self.threads))
        if self.blocks is not None:
            parts.insert(0, (self.blocks.axis, steps * self.threads))
        operands = [value for value, _ in parts]
        index = _linear([factor for _, factor in parts])
        bound: Access | None = None
        if self._overruns(total):
            bound = ([index * -1 + (total - 1)], operands)
        for axis, expr in zip(block.args, delinearize(index, extents), strict=True):
            self.substitution.indices[axis] = (expr, operands)
            if bound is not None:
                self.substitution.bounds[axis] = bound
        return body, bound

    def _overruns(self, extent: int) -> bool:
        """True if all threads together do more steps than `extent`."""
        return self.steps(extent) * self.workers > extent

    def _store_once(self, op: loop.StoreOp) -> Operation:
        """Return a store by the first of the threads, all of which have the same value."""
        cloned = self.substitution.clone(op)
        assert isinstance(cloned, loop.StoreOp)
        store = masked_store(cloned, ([AffineExpr.dimension(0) * -1], [self.thread]))
        cloned.erase()
        return store


def _linear(factors: Sequence[int]) -> AffineExpr:
    """Return the sum of the dimensions, each times its factor."""
    terms = [AffineExpr.dimension(at) * factor for at, factor in enumerate(factors)]
    return reduce(add, terms)


def is_cooperative(op: loop.ReduceOp) -> bool:
    """
    True if threads share the steps of a reduction: it has at least `SHORT_ROW` steps and no bound.
    """
    return op.axis_extents()[0] >= SHORT_ROW and not op.is_bounded
