# SPDX-License-Identifier: Apache-2.0
"""
Cloning of loop bodies with substituted values and index expressions.

Fusion puts the subscript `[%j * 4 + %v]` in the place of a producer's axis; splitting puts `%b *
128 + %t` in the place of a whole axis. Both clone the body through a `Substitution`.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, MaskedOp
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.roles import index_sources

Cloned = TypeVar("Cloned", bound=Operation)


@dataclass
class Substitution:
    """Replacements for the values of the original."""

    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Replacement of each value; clones add their results."""

    indices: dict[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]] = field(
        default_factory=dict[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]]
    )
    """Replacement of an axis by an affine expression over other indices."""

    bounds: dict[SSAValue, Access] = field(default_factory=dict[SSAValue, Access])
    """
    Axes of the original that may exceed their extent, each with the condition that they do not. The
    condition masks loads that use the axis, in a subscript or a mask, and all stores inside it. It
    also masks data that depends on the axis and is converted to an index, and loads subscripted by
    that data.
    """

    unneeded: set[SSAValue] = field(default_factory=set[SSAValue])
    """
    Axes with a bound beyond which no value of a reduction is needed: loads in reductions may read
    anything there. They are masked by the bounds of their memory instead. The reductions must
    contain no condition and no index from data, which would need the mask that is left out.
    """

    parts: dict[SSAValue, Sequence[SSAValue]] = field(
        default_factory=dict[SSAValue, Sequence[SSAValue]]
    )
    """
    Parts that an axis of a launch is split into; a join across the axis becomes one across all
    parts.
    """

    where: Access | None = None
    """
    Condition under which the clones matter: it masks their loads, and data converted to an index.
    """

    def value(self, value: SSAValue) -> SSAValue:
        """Return the replacement of `value`, or `value` itself if it has none."""
        return self.values.get(value, value)

    def access(self, exprs: Iterable[AffineExpr], operands: Sequence[SSAValue]) -> Access:
        """Return `exprs` over the replacements of `operands`."""
        dims: list[AffineExpr] = []
        numbers: dict[SSAValue, int] = {}
        """Substituted values, each once, with its dimension."""
        for operand in operands:
            expr, values = self.indices.get(operand, (None, (self.value(operand),)))
            new = [AffineExpr.dimension(numbers.setdefault(v, len(numbers))) for v in values]
            dims.append(new[0] if expr is None else expr.replace_dims_and_symbols(new, ()))
        return [e.replace_dims_and_symbols(dims, ()) for e in exprs], list(numbers)

    def mask(self, op: MaskedOp, axes: Iterable[SSAValue] = ()) -> Access | None:
        """
        Return the mask of `op`, joined with the bounds of those of `axes` that may exceed their
        extent.
        """
        masks = list[Access]()
        if self.bounds:  # rarely: else the axes are not computed
            masks += [self.bounds[axis] for axis in dict.fromkeys(axes) if axis in self.bounds]
        if op.mask is not None:
            masks.append(self.access(op.mask.data.results, op.mask_operands))
        return conjunction(masks)

    def _mask_of_read(self, op: MaskedOp, axes: Iterable[SSAValue]) -> Access | None:
        return conjunction([self.where, self.mask(op, axes)])

    def _mask_of_load(self, op: loop.LoadOp, subscripts: Access) -> Access | None:
        """Return the mask of the clone of a load at `subscripts`."""
        axes = [*_axes_of_load(op)]
        if self.unneeded.isdisjoint(axes) or not isinstance(op.parent_op(), loop.ReduceOp):
            return self._mask_of_read(op, axes)
        mask = self._mask_of_read(op, [axis for axis in axes if axis not in self.unneeded])
        return conjunction([mask, _in_memory(op.memref, subscripts)])

    def _predicate_access(self, op: loop.PredicateOp) -> Access:
        """
        Return the predicate. If it only selects between a load under this mask and another value,
        return the mask of the cloned loads instead, so that predicate and loads keep equal masks.
        """
        plain = self.access(op.map.data.results, op.indices)
        loads = [_load_selected_by(use.operation) for use in op.result.uses]
        masks = [self._mask_of_read(load, _axes_of_load(load)) for load in loads if load]
        if not masks or len(masks) != len(loads) or any(mask != masks[0] for mask in masks):
            return plain
        return masks[0] or plain

    def clone(self, op: Operation) -> Operation:
        """Clone `op` with its operands, subscripts, masks and regions substituted."""
        new = self._clone(op)
        new.location = op.location
        for old_result, new_result in zip(op.results, new.results, strict=True):
            new_result.name_hint = old_result.name_hint
            self.values[old_result] = new_result
        return new

    def _clone(self, op: Operation) -> Operation:
        match op:
            case loop.LoadOp():
                subscripts = self.access(op.map.data.results, op.indices)
                mask = self._mask_of_load(op, subscripts)
                return loop.LoadOp(self.value(op.memref), subscripts, mask)
            case loop.ToIndexOp():
                mask = self._mask_of_read(op, _axes_of_data(op))
                return loop.ToIndexOp(self.value(op.value), op.bound.value.data, mask)
            case loop.IndexOp():
                return loop.IndexOp(self.access(op.map.data.results, op.indices), op.result.type)
            case loop.PredicateOp():
                return loop.PredicateOp(self._predicate_access(op))
            case loop.StoreOp():
                subscripts = self.access(op.map.data.results, op.indices)
                mask = self.mask(op, (*op.indices, *op.mask_operands, *_axes_around(op)))
                value, memref = self.value(op.value), self.value(op.memref)
                return loop.StoreOp(value, memref, subscripts, mask)
            case loop.YieldOp():
                return loop.YieldOp([self.value(v) for v in op.values], self.mask(op))
            case tile.CombineOp():
                values = [self.value(v) for v in op.values]
                axes = [part for v in op.axes for part in self.parts.get(v, [self.value(v)])]
                join = None if op.join is None else op.join.data
                return tile.CombineOp(values, axes, op.monoid, self.mask(op), join)
            case tile.ShareOp():
                subscripts = self.access(op.map.data.results, op.indices)
                return tile.ShareOp(self.value(op.value), subscripts, memref_type(op.slab))
            case loop.ReduceOp() if op.is_bounded:
                new = self._clone_with_regions(op)
                bounds = (bound and self.access(*bound) for bound in (op.start, op.below))
                new.set_bounds(*bounds)
                return new
            case _:
                return self._clone_with_regions(op)

    def _clone_with_regions(self, op: Cloned) -> Cloned:
        """
        Clone an op before its nested ops, which need the ranges of its axes to simplify their
        subscripts.
        """
        blocks = [[(old, self._without_ops(old)) for old in r.blocks] for r in op.regions]
        clone = type(op).create(
            operands=[self.value(v) for v in op.operands],
            result_types=op.result_types,
            properties=op.properties.copy(),
            attributes=op.attributes.copy(),
            regions=[Region([new for _, new in region]) for region in blocks],
        )
        for old, new in (pair for region in blocks for pair in region):
            new.add_ops(self.clone(inner) for inner in old.ops)
        return clone

    def _without_ops(self, block: Block) -> Block:
        """Return an empty block with arguments for those of `block`."""
        new = Block(arg_types=block.arg_types)
        for old_arg, new_arg in zip(block.args, new.args, strict=True):
            new_arg.name_hint = old_arg.name_hint
            self.values[old_arg] = new_arg
        return new


def _in_memory(memref: SSAValue, subscripts: Access) -> Access:
    """Return the condition that subscripts are within the bounds of a memref."""
    exprs, operands = subscripts
    sizes = memref_type(memref).get_shape()
    last = [expr * -1 + (size - 1) for expr, size in zip(exprs, sizes, strict=True)]
    return [*exprs, *last], operands


def _load_selected_by(select: Operation) -> loop.LoadOp | None:
    """Return the load that `select` selects where the load's own mask holds, or None."""
    load = select.lhs.owner if isinstance(select, arith.SelectOp) else None
    return load if isinstance(load, loop.LoadOp) and load.selection() is select else None


def _axes_of_load(op: loop.LoadOp) -> Iterator[SSAValue]:
    """
    Yield the axes on which a load depends: beyond their extent, subscripts may leave the memref.
    """
    for index in (*op.indices, *op.mask_operands):
        yield index
        if isinstance(index.owner, loop.ToIndexOp):
            yield from _axes_of_data(index.owner)


def _axes_of_data(op: loop.ToIndexOp) -> Iterator[SSAValue]:
    """
    Yield the axes on which data depends, or all around it if unknown: beyond them it may be no
    index.
    """
    sources = index_sources([op.result])
    around = list(_axes_around(op))
    yield from (axis for axis in around if axis in sources or not sources <= set(around))


def _axes_around(op: Operation) -> Iterator[SSAValue]:
    """Yield the block arguments in scope, innermost first."""
    block = op.parent
    while block is not None:
        yield from block.args
        block = block.parent_block()


def conjunction(masks: Iterable[Access | None]) -> Access | None:
    """Return the mask that holds where all of `masks` do; None is one that always holds."""
    exprs: list[AffineExpr] = []
    operands: list[SSAValue] = []
    for mask_exprs, mask_operands in (mask for mask in masks if mask is not None):
        shift = [AffineExpr.dimension(len(operands) + d) for d in range(len(mask_operands))]
        exprs.extend(e.replace_dims_and_symbols(shift, ()) for e in mask_exprs)
        operands.extend(mask_operands)
    return (exprs, operands) if exprs else None


def masked_load(load: loop.LoadOp, where: Access) -> loop.LoadOp:
    """
    Return a new load like `load`, but masked by `where` too; it is not inserted into the IR.
    """
    subscripts = load.map.data.results, load.indices
    new = loop.LoadOp(load.memref, subscripts, conjunction([load.where, where]))
    new.location, new.result.name_hint = load.location, load.result.name_hint
    return new


def masked_store(store: loop.StoreOp, where: Access) -> loop.StoreOp:
    """
    Return a new store like `store`, but masked by `where` too; it is not inserted into the IR.
    """
    subscripts = store.map.data.results, store.indices
    mask = conjunction([store.where, where])
    new = loop.StoreOp(store.value, store.memref, subscripts, mask)
    new.location = store.location
    return new
