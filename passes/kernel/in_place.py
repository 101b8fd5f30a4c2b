# SPDX-License-Identifier: Apache-2.0
"""
Proof that a kernel may write an output in the memory of one of its inputs.

    kernel.func grid 4 block 64 @residual(%h: memref<250xf32>, ...) -> (%out: memref<250xf32>) {
      ...
      %0 = loop.load %h[%b * 64 + %t] where [249 - %b * 64 - %t] : memref<250xf32>
      %1 = arith.addf %0, %product : f32
      loop.store %1, %out[%b * 64 + %t] where [249 - %b * 64 - %t] : memref<250xf32>
    }

`%out` may share the memory of `%h`. Each element of `%h` that a thread reads is written later only
by this thread, at the same subscripts. Reads of other inputs do not matter. The proof requires that

- the input is only loaded and the output only stored, all in one block of ops;
- their subscripts are equal up to constants;
- no two steps of any threads have equal subscripts, so that each element belongs to one step;
- subscripts with different constants never meet in one element;
- within a step, no element is loaded after it is stored.

The proof reads Kernel IR, where the work of each thread and its order are final; earlier passes may
change both. Masks are ignored, because a masked-off access cannot interfere.
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
from tilewright.passes.kernel.digits import determine, is_one_value, may_be_apart


class _Subscripts(NamedTuple):
    """Subscripts of the first element that an op accesses, and the number of adjacent elements."""

    exprs: Sequence[AffineExpr]
    operands: Sequence[SSAValue]
    width: int


class _Access(NamedTuple):
    """Element that is loaded or stored, as the varying sums and the constants of its subscripts."""

    op: Operation
    sums: tuple[Sum, ...]
    """Subscripts without their constants."""
    constants: tuple[int, ...]


def reason_not_in_place(
    function: kernel.FuncOp, read: BlockArgument, written: BlockArgument
) -> str | None:
    """Reason why the output `written` must not share the memory of the input `read`, or None."""
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
    """Return the elements of `memref` that `op` accesses, or None if they are unknown."""
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
    """Steps that run a block of ops: every thread, and every step of the loops around the block."""

    def __init__(self, function: kernel.FuncOp, block: Block):
        self.block = block
        self.roots: dict[Hashable, AffineDimExpr] = {}
        """Variables that distinguish steps: block and thread ids, and loop counters."""
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
        """Reason why a step may load an element that another step has overwritten, or None."""
        if None in loads or None in stores:
            return "subscripts depend on data"
        reads = [access for accesses in loads for access in accesses or ()]
        writes = [access for accesses in stores for access in accesses or ()]
        sums = reads[0].sums
        if any(access.sums != sums for access in (*reads, *writes)):
            return "loads and stores have different subscripts"
        varying = [
            dim
            for dim, known in zip(self.roots.values(), self.ranges, strict=True)
            if not is_one_value(known)
        ]
        if not determine(sums, varying, self.ranges):
            return "several steps may load or store one element"
        place = {op: position for position, op in enumerate(self.block.ops)}
        for read, write in product(reads, writes):
            if read.constants != write.constants and self._may_coincide(read, write):
                return "it loads at one step what it stores at another"
            if read.constants == write.constants and place[read.op] > place[write.op]:
                return "it loads elements again after they are stored"
        return None

    def accesses(self, op: Operation, memref: SSAValue) -> list[_Access] | None:
        """Return the elements of `memref` that `op` accesses, or None if they depend on data."""
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
        """Return `exprs` as expressions of the roots, or None if they depend on another value."""
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

    def _may_coincide(self, one: _Access, other: _Access) -> bool:
        """
        True if two steps may access one element, the first by `one` and the second by `other`.
        """
        distances = [a - b for a, b in zip(one.constants, other.constants, strict=True)]
        return all(
            may_be_apart(value, distance, self.ranges)
            for value, distance in zip(one.sums, distances, strict=True)
        )
