# SPDX-License-Identifier: Apache-2.0
"""
Whether a kernel may write an output where one of its inputs lies.

    kernel.func grid 4 block 64 @residual(%h: memref<250xf32>, ...) -> (%out: memref<250xf32>) {
      ...
      %0 = loop.load %h[%b * 64 + %t] where [249 - %b * 64 - %t] : memref<250xf32>
      %1 = arith.addf %0, %product : f32
      loop.store %1, %out[%b * 64 + %t] where [249 - %b * 64 - %t] : memref<250xf32>
    }

`%out` may take the place of `%h`: whatever a thread reads of `%h` nobody has written yet, for it is
that thread alone that will, at the same subscripts and further down. What the kernel reads of its
other inputs does not matter. The proof asks that

- the input is only loaded from, the output only stored to, and all that in one block of ops;
- subscripts are the same, up to constants;
- no two steps of any thread have the same subscripts, so that each element is one step's own;
- within the step, what is stored at some constants is not loaded at them later.

It is made of Kernel IR, where it is settled what threads do and in which order: passes before may
do as they like. Masks do not matter, for whoever does not act does not interfere.
"""

from collections.abc import Hashable, Sequence
from itertools import product
from typing import NamedTuple

from xdsl.dialects import scf
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.index import Range, Sum, sum_of
from tilewright.passes.kernel.digits import is_one_value, may_be_apart, tell_apart


class _Subscripts(NamedTuple):
    """The first element that an op accesses, and how many side by side."""

    exprs: Sequence[AffineExpr]
    operands: Sequence[SSAValue]
    width: int


class _Access(NamedTuple):
    """One element that is loaded or stored: what varies in its subscripts, and their constants."""

    op: Operation
    sums: tuple[Sum, ...]
    """The subscripts without their constants."""
    constants: tuple[int, ...]


def reason_not_in_place(
    function: kernel.FuncOp, read: BlockArgument, written: BlockArgument
) -> str | None:
    """Reason why the output `written` may not lie where the input `read` does, or None."""
    loads = [use.operation for use in read.uses]
    stores = [use.operation for use in written.uses]
    if not loads or not stores:
        return None
    for op, memref in [(op, read) for op in loads] + [(op, written) for op in stores]:
        if _subscripts(op, memref) is None:
            return f"'{op.name}' may access any element"
    blocks = {op.parent for op in (*loads, *stores)}
    if len(blocks) > 1:
        return "it loads and stores in different loops or branches"
    (block,) = blocks
    assert block is not None
    scope = block.parent_op()
    while scope is not function:
        if not isinstance(scope, scf.ForOp | scf.IfOp | kernel.UnrollOp):
            return "it loads and stores in a loop whose steps are not known"
        scope = scope.parent_op()
    steps = _Steps(function, block)
    reads = [steps.accesses(op, read) for op in loads]
    writes = [steps.accesses(op, written) for op in stores]
    return steps.reason_against(reads, writes)


def _subscripts(op: Operation, memref: SSAValue) -> _Subscripts | None:
    """What the op accesses of `memref`; None if that is not known."""
    match op:
        case loop.LoadOp() | loop.StoreOp():
            return _Subscripts(op.map.data.results, op.indices, 1)
        case kernel.CopyOp() if op.source is memref:
            return _Subscripts(op.source_map.data.results, op.source_indices, op.width.value.data)
        case kernel.CopyOp():
            return _Subscripts(op.target_map.data.results, op.target_indices, op.width.value.data)
        case _:
            return None


class _Steps:
    """The steps that run a block of ops: of all threads, and of the loops around."""

    def __init__(self, function: kernel.FuncOp, block: Block):
        self.block = block
        self.roots: dict[Hashable, AffineDimExpr] = {}
        """What tells steps apart: the ids, and the counters of loops."""
        self.ranges: list[Range | None] = []
        self._add(kernel.BlockIdOp, Range.extent(function.grid.value.data))
        self._add(kernel.ThreadIdOp, Range.extent(function.block.value.data))
        scope = block.parent_op()
        while scope is not function:
            assert scope is not None
            if isinstance(scope, scf.ForOp):
                counter = scope.body.block.args[0]
                self._add(counter, range_of_value(counter))
            if isinstance(scope, kernel.UnrollOp):
                for axis in scope.body.block.args:
                    self._add(axis, range_of_value(axis))
            scope = scope.parent_op()

    def _add(self, root: Hashable, range: Range | None) -> None:
        self.roots[root] = AffineDimExpr(len(self.ranges))
        self.ranges.append(range)

    def reason_against(
        self,
        loads: Sequence[Sequence[_Access] | None],
        stores: Sequence[Sequence[_Access] | None],
    ) -> str | None:
        """Reason why a step may load what has been overwritten by then, or None."""
        if None in loads or None in stores:
            return "subscripts depend on data"
        reads = [access for accesses in loads for access in accesses or ()]
        writes = [access for accesses in stores for access in accesses or ()]
        sums = reads[0].sums
        if any(access.sums != sums for access in (*reads, *writes)):
            return "it loads elsewhere than it stores"
        varying = [
            dim
            for dim, known in zip(self.roots.values(), self.ranges, strict=True)
            if not is_one_value(known)
        ]
        if not tell_apart(sums, varying, self.ranges):
            return "several steps may load or store one element"
        place = {op: position for position, op in enumerate(self.block.ops)}
        for read, write in product(reads, writes):
            if read.constants != write.constants and self._may_meet(read, write):
                return "it loads at one step what it stores at another"
            if read.constants == write.constants and place[read.op] > place[write.op]:
                return "it loads elements again after they are stored"
        return None

    def accesses(self, op: Operation, memref: SSAValue) -> list[_Access] | None:
        """Return the elements of `memref` that an op accesses; None if that depends on data."""
        subscripts = _subscripts(op, memref)
        assert subscripts is not None
        exprs = self._over_roots(subscripts.exprs, subscripts.operands)
        if exprs is None:
            return None
        sums = [sum_of(expr, self.ranges) for expr in exprs]
        varying, constants = tuple(Sum(s.terms) for s in sums), [s.constant for s in sums]
        return [
            _Access(op, varying, (*constants[:-1], *(last + n for last in constants[-1:])))
            for n in range(subscripts.width)
        ]

    def _over_roots(
        self, exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]
    ) -> list[AffineExpr] | None:
        """`exprs` as expressions of the roots; None if they depend on something else."""
        dims = [self._over_roots_alone(operand) for operand in operands]
        known = [dim for dim in dims if dim is not None]
        if len(known) < len(dims):
            return None
        return [expr.replace_dims_and_symbols(known, ()) for expr in exprs]

    def _over_roots_alone(self, index: SSAValue) -> AffineExpr | None:
        owner = index.owner
        if isinstance(owner, kernel.IdOp):
            return self.roots[type(owner)]
        if isinstance(owner, kernel.IndexOp):
            exprs = self._over_roots(owner.map.data.results, owner.indices)
            return None if exprs is None else exprs[0]
        if index in self.roots:
            return self.roots[index]
        known = range_of_value(index)
        return AffineConstantExpr(known.low) if known and is_one_value(known) else None

    def _may_meet(self, one: _Access, other: _Access) -> bool:
        """True if two steps may access one element, by `one` and by `other`."""
        distances = [a - b for a, b in zip(one.constants, other.constants, strict=True)]
        return all(
            may_be_apart(value, distance, self.ranges)
            for value, distance in zip(one.sums, distances, strict=True)
        )
