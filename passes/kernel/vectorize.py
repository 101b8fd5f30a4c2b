# SPDX-License-Identifier: Apache-2.0
"""
Replaces loads and stores of elements by copies of vectors, as wide as one instruction allows.

    kernel.unroll %i in 2, %v in 4 {
      %0 = loop.load %x[%i * 128 + %t * 4 + %v] : memref<256xf32>
      %1 = math.exp %0 : f32
      loop.store %1, %e[%i, %v] : memref<2x4xf32, 5 : i64>
    }

becomes

    %r = kernel.registers : memref<2x4xf32, 5 : i64>
    kernel.unroll %i in 2 {
      kernel.copy %x[%i * 128 + %t * 4] to %r[%i, 0] width 4 : ...
    }
    kernel.unroll %i in 2, %v in 4 {
      %0 = loop.load %r[%i, %v] : memref<2x4xf32, 5 : i64>
      %1 = math.exp %0 : f32
      loop.store %1, %e[%i, %v] : memref<2x4xf32, 5 : i64>
    }

Stores are vectorized the same way. `vector_width` proves that the width is legal. The alignment
that it needs of arguments is recorded on the kernel (`plan.align`).
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.axes import Access, cached_ranges
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.kernel.copy import CopyOp
from tilewright.dialects.kernel.registers import LOCAL, RegistersOp, UnrollOp
from tilewright.dialects.origin import from_same
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.vector_width import require_aligned_arguments, vector_width
from tilewright.passes.reporting.trace import Rule, is_listening, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution

RULE = Rule("k", 3, "vectorize")


class Vector(NamedTuple):
    """Access in a nest that can be done `width` elements at a time along `axis`."""

    op: loop.LoadOp | loop.StoreOp
    axis: BlockArgument
    width: int
    axes: Sequence[BlockArgument]
    """Axes on which the access depends; the axis of the vector is last."""

    @property
    def nest(self) -> UnrollOp:
        """Nest that contains the access."""
        nest = self.op.parent_op()
        assert isinstance(nest, UnrollOp)
        return nest

    def extent(self, axis: BlockArgument) -> int:
        """Return the number of steps of an axis of the nest."""
        return self.nest.axis_extents()[axis.index]


def reason_against(op: loop.LoadOp | loop.StoreOp) -> str | None:
    """Reason why the access must stay in its nest unchanged, or None."""
    nest = op.parent_op()
    assert isinstance(nest, UnrollOp)
    if isinstance(op, loop.StoreOp) and op.mask is not None and _space(op) == tile.SHARED:
        return "masked-off elements must stay unchanged, but copies write zeros to shared memory"
    inside = {result for inner in nest.body.block.ops for result in inner.results}
    if not inside.isdisjoint((*op.indices, *op.mask_operands)):
        return "the nest computes its subscripts or mask"
    others = [inner for inner in nest.walk() if inner is not op and op.memref in inner.operands]
    if isinstance(op, loop.StoreOp) or not all(isinstance(o, loop.LoadOp) for o in others):
        return "other ops in the nest access the same memory" if others else None
    return None


def widest(op: loop.LoadOp | loop.StoreOp) -> Vector:
    """Return the access with its widest legal vectors; the width is 1 if there are none."""
    nest = op.parent_op()
    assert isinstance(nest, UnrollOp)
    axes = zip(nest.body.block.args, nest.axis_extents(), strict=True)
    widths = {axis: vector_width(op, axis, extent) for axis, extent in axes}
    axis = max(widths, key=lambda axis: (widths[axis], axis.index))
    named = {*op.indices, *op.mask_operands}
    others = [other for other in widths if other in named and other is not axis]
    return Vector(op, axis, widths[axis], [*others, axis])


def _found(op: loop.LoadOp | loop.StoreOp) -> Vector | None:
    if not isinstance(op.parent_op(), UnrollOp) or _space(op) == LOCAL:
        return None
    vector = widest(op)
    if vector.width == 1 and not is_listening():
        return None
    reason = reason_against(op)
    if reason is None and vector.width == 1:
        reason = "no axis of the nest steps from aligned elements to their neighbours"
    if reason is None:
        return vector
    name = op.memref.name_hint or "memory"
    verb = "loads from" if isinstance(op, loop.LoadOp) else "stores to"
    skipped(RULE, kernel.function_of(op), f"{verb} %{name}: {reason}")
    return None


def _space(op: loop.LoadOp | loop.StoreOp) -> Attribute:
    return memref_type(op.memref).memory_space


class _VectorizeLoad(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LoadOp, rewriter: PatternRewriter) -> None:
        if (vector := _found(op)) is None:
            return
        use, ahead = op.result.get_user_of_unique_use(), InsertPoint.before(vector.nest)
        with rewriting(RULE, kernel.function_of(op)):
            if isinstance(use, loop.StoreOp) and _moves_alone(vector, use):
                _replace_nest(vector, rewriter, use.memref, ahead)
                return
            array = _array(vector, rewriter, op.result, op.memref.name_hint)
            _copy(vector, rewriter, array, ahead)
            rewriter.replace(op, from_same(op, loop.LoadOp(array, _element(vector))))


class _VectorizeStore(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.StoreOp, rewriter: PatternRewriter) -> None:
        if (vector := _found(op)) is None:
            return
        value, after = op.value.owner, InsertPoint.after(vector.nest)
        with rewriting(RULE, kernel.function_of(op)):
            if isinstance(value, loop.LoadOp) and _moves_alone(vector, value):
                _replace_nest(vector, rewriter, value.memref, after)
                return
            array = _array(vector, rewriter, op.value, op.value.name_hint)
            _copy(vector, rewriter, array, after)
            store = loop.StoreOp(op.value, array, _element(vector))
            rewriter.replace(op, from_same(op, store), [])


def _replace_nest(
    vector: Vector, rewriter: PatternRewriter, array: SSAValue, where: InsertPoint
) -> None:
    """Replace the whole nest by copies of vectors."""
    nest = vector.nest
    _copy(vector, rewriter, array, where)
    rewriter.erase(nest)


def _moves_alone(vector: Vector, other: loop.LoadOp | loop.StoreOp) -> bool:
    """
    True if the nest only moves elements between memory and a register array of the same shape.
    """
    if {*vector.nest.body.block.ops} != {vector.op, other} or other.mask is not None:
        return False
    if memref_type(other.memref).memory_space != LOCAL:
        return False
    shape = tuple(vector.extent(axis) for axis in vector.axes)
    dims, axes = _element(vector)
    is_whole = memref_type(other.memref).get_shape() == shape
    return is_whole and other.map.data.results == tuple(dims) and [*other.indices] == [*axes]


def _array(
    vector: Vector, rewriter: PatternRewriter, element: SSAValue, hint: str | None
) -> SSAValue:
    shape = [vector.extent(axis) for axis in vector.axes]
    registers = from_same(vector.op, RegistersOp(element.type, shape))
    registers.memref.name_hint = hint
    rewriter.insert(registers, InsertPoint.before(vector.nest))
    return registers.memref


def _element(vector: Vector) -> Access:
    dims = [AffineExpr.dimension(position) for position in range(len(vector.axes))]
    return dims, vector.axes


def _copy(vector: Vector, rewriter: PatternRewriter, array: SSAValue, where: InsertPoint) -> None:
    """Insert copies between memory and the register array, in a nest over the vectors."""
    *others, axis = vector.axes
    vectors = vector.extent(axis) // vector.width
    extents = [*(vector.extent(other) for other in others), vectors]
    kept = [position for position, extent in enumerate(extents) if extent > 1]
    body = Block(arg_types=[IndexType()] * len(kept))
    indices: dict[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]] = {}
    for position, old in enumerate(vector.axes):
        factor = vector.width if old is axis else 1
        if position not in kept:
            indices[old] = AffineExpr.constant(0), ()
            continue
        new = body.args[kept.index(position)]
        new.name_hint = old.name_hint
        indices[old] = AffineDimExpr(0) * factor, (new,)
    body.add_op(from_same(vector.op, _copy_op(vector, array, Substitution({}, indices))))
    if not kept:
        copy = body.first_op
        assert copy is not None
        copy.detach()
        rewriter.insert(copy, where)
        return
    nest = UnrollOp([extents[position] for position in kept], Region(body))
    rewriter.insert(from_same(vector.op, nest), where)


def _copy_op(vector: Vector, array: SSAValue, substitution: Substitution) -> CopyOp:
    op = vector.op
    memory = substitution.access(op.map.data.results, op.indices)
    registers = substitution.access(*_element(vector))
    mask = substitution.mask(op)
    if isinstance(op, loop.LoadOp):
        return CopyOp(op.memref, memory, array, registers, vector.width, mask)
    return CopyOp(array, registers, op.memref, memory, vector.width, mask)


class VectorizePass(ModulePass):
    """Replace loads and stores of elements by copies of vectors."""

    name = "vectorize"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Vectorize the accesses in every nest of the module, and record the alignment that kernels
        need.
        """
        with cached_ranges():
            rewrite_each(op, _VectorizeLoad(), loop.LoadOp)
            rewrite_each(op, _VectorizeStore(), loop.StoreOp)
        for function in op.ops:
            if isinstance(function, kernel.FuncOp):
                require_aligned_arguments(function)
