# SPDX-License-Identifier: Apache-2.0
"""
Dealing the steps of loops out to the threads along an axis.

    %s = loop.reduce %k in 2048 with add { ... %x[%k] ... }

becomes, dealt out to `%t = thread 256`,

    %p = loop.reduce %k in 8 with add { ... %x[%k * 256 + %t] ... }
    %s = tile.combine %p across %t with add : f32

and, dealt out to `%t = thread 2048`,

    %s = tile.combine ... %x[%t] ... across %t with add : f32
"""

from collections.abc import Iterable, Sequence
from math import prod

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.index import delinearize
from tilewright.passes.substitution import Substitution, conjunction
from tilewright.passes.tile.rows import SHORT_ROW


class Dealing:
    """Clones ops whose loops are dealt out to `threads` threads along the axis `thread`."""

    def __init__(self, substitution: Substitution, threads: int, thread: SSAValue):
        self.substitution, self.threads, self.thread = substitution, threads, thread

    def clone(self, op: Operation) -> Iterable[Operation]:
        """What `op`, which stands in no loop, becomes."""
        match op:
            case loop.ReduceOp() if is_shared(op):
                return self._share_reduce(op)
            case loop.ForOp():
                return self._share_for(op)
            case loop.StoreOp():
                return [self._store_once(op)]
            case _:
                return [self.substitution.clone(op)]

    def _share_reduce(self, op: loop.ReduceOp) -> list[Operation]:
        (extent,) = op.axis_extents()
        body, bound = self._deal(op.body.block, [extent])
        terminator = op.yield_op
        done = [self.substitution.clone(i) for i in op.body.block.ops if i is not terminator]
        values = [self.substitution.value(v) for v in terminator.values]
        where = conjunction(m for m in (self.substitution.mask(terminator), bound) if m is not None)
        if body is not None:
            body.add_ops([*done, loop.YieldOp(values, where)])
            partial = loop.ReduceOp(-(-extent // self.threads), op.monoid, Region(body))
            partial.location = op.location
            done, values, where = [partial], list(partial.results), None
        combine = tile.CombineOp(values, [self.thread], op.monoid, where)
        combine.location = op.location
        for old, part, new in zip(op.results, values, combine.results, strict=True):
            new.name_hint = old.name_hint
            if body is not None:
                part.name_hint = old.name_hint
            self.substitution.values[old] = new
        return [*done, combine]

    def _share_for(self, op: loop.ForOp) -> list[Operation]:
        extents = list(op.axis_extents())
        body, _ = self._deal(op.body.block, extents)
        done = [self.substitution.clone(inner) for inner in op.body.block.ops]
        if body is None:
            return done
        body.add_ops(done)
        steps, roles = [-(-prod(extents) // self.threads)], [op.axis_roles()[0]]
        nest = loop.ForOp(steps, Region(body), roles)
        nest.location = op.location
        return [nest]

    def _deal(self, block: Block, extents: Sequence[int]) -> tuple[Block | None, Access | None]:
        """
        A body over steps in which `step * threads + thread` stands for the axes of `block`, or None
        if there is but one step; and the bound that holds while that does not overrun.
        """
        body, operands, index = None, [self.thread], AffineExpr.dimension(0)
        if prod(extents) > self.threads:
            body = Block(arg_types=[block.args[0].type])
            body.args[0].name_hint = block.args[0].name_hint
            operands = [body.args[0], self.thread]
            index = AffineExpr.dimension(0) * self.threads + AffineExpr.dimension(1)
        bound: Access | None = None
        if prod(extents) % self.threads:
            bound = ([index * -1 + (prod(extents) - 1)], operands)
        for axis, expr in zip(block.args, delinearize(index, extents), strict=True):
            self.substitution.indices[axis] = (expr, operands)
            if bound is not None:
                self.substitution.bounds[axis] = bound
        return body, bound

    def _store_once(self, op: loop.StoreOp) -> Operation:
        """By the first of the threads, which all have the same."""
        cloned = self.substitution.clone(op)
        assert isinstance(cloned, loop.StoreOp)
        masks: list[Access] = [([AffineExpr.dimension(0) * -1], [self.thread])]
        if cloned.mask is not None:
            masks.append((cloned.mask.data.results, cloned.mask_operands))
        subscripts = (cloned.map.data.results, cloned.indices)
        store = loop.StoreOp(cloned.value, cloned.memref, subscripts, conjunction(masks))
        store.location = op.location
        cloned.erase()
        return store


def is_shared(op: loop.ReduceOp) -> bool:
    """Whether threads share a reduction, rather than each doing all of it."""
    return op.axis_extents()[0] >= SHORT_ROW and op.bound is None
