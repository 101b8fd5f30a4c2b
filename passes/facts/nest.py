# SPDX-License-Identifier: Apache-2.0
"""
Shapes of nests that passes recognise.

A flat nest is the nest of a kernel that computes one value and stores it at its own axes.

A chunked reduction reduces a chunk in each step, with the same monoid. Both reductions share one
accumulator.

    %sum = loop.reduce %ko in 7 with add {
      %chunk = loop.reduce %ki in 5 with add { ... }
      loop.yield %chunk : f32
    }
"""

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from tilewright.dialects import loop
from tilewright.dialects.axes import extent_of, range_of_value
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import Range, range_of
from tilewright.dialects.types import memref_type


class FlatNest(NamedTuple):
    """A kernel of one output whose nest computes one value and stores it at the nest's axes."""

    axes: dict[SSAValue, int]
    """Dimension of the output that each axis subscripts."""
    body: Sequence[Operation]
    """All ops except the store, in order; scalar ops before the nest come first."""
    store: loop.StoreOp

    @property
    def reduces(self) -> bool:
        """True if the nest contains a reduction."""
        return any(isinstance(op, loop.ReduceOp) for op in self.body)

    def axes_at(
        self, subscripts: Sequence[AffineExpr], indices: Sequence[SSAValue]
    ) -> dict[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]]:
        """
        Return the expression of each axis for the step that computes the element at `subscripts` of
        the output.
        """
        return {axis: (subscripts[d], indices) for axis, d in self.axes.items()}


def flat_nest(kernel: loop.KernelOp) -> FlatNest | None:
    """Return `kernel` as a flat nest, or None if it has another shape."""
    if len(kernel.outputs) != 1 or kernel.is_updated(kernel.outputs[0]):
        return None
    block = nest_block(kernel)
    store = block.last_op
    if not isinstance(store, loop.StoreOp) or store.memref is not kernel.outputs[0]:
        return None
    if store.mask is not None:
        return None
    body = [op for op in block.ops if op is not store]
    if block is not kernel.body.block and kernel.body.block.last_op is not None:
        body = [*_before(kernel.body.block.last_op), *body]
    if any(isinstance(op, loop.ForOp | loop.StoreOp) for op in ops_in(*body)):
        return None
    axes = subscripted_dims(store.map.data.results, store.indices)
    nest_axes = () if block is kernel.body.block else block.args
    return FlatNest(axes, body, store) if axes.keys() == set(nest_axes) else None


def subscripted_dims(
    subscripts: Sequence[AffineExpr], indices: Sequence[SSAValue]
) -> dict[SSAValue, int]:
    """
    Return the dimension that each index subscripts if each index is the whole subscript of one
    dimension, and the other subscripts are 0. Returns an empty dictionary otherwise.
    """
    dims: dict[SSAValue, int] = {}
    for dim, expr in enumerate(subscripts):
        if expr == AffineExpr.constant(0):
            continue
        if not isinstance(expr, AffineDimExpr) or indices[expr.position] in dims:
            return {}
        dims[indices[expr.position]] = dim
    return dims


def nest_block(kernel: loop.KernelOp) -> Block:
    """
    Return the body of the outermost nest, before which there are only scalar ops. Without free axes
    it is the body of the kernel.
    """
    nest = kernel.body.block.last_op
    if isinstance(nest, loop.ForOp) and all(map(loop.is_scalar, _before(nest))):
        return nest.body.block
    return kernel.body.block


def reducing_nest(kernel: loop.KernelOp) -> loop.ForOp | None:
    """Return the outermost nest of the kernel if its body contains a reduction, or None."""
    block = nest_block(kernel)
    nest = block.parent_op()
    reduces = any(isinstance(op, loop.ReduceOp) for op in block.ops)
    return nest if isinstance(nest, loop.ForOp) and reduces else None


def _before(nest: Operation) -> list[Operation]:
    assert nest.parent is not None
    return [op for op in nest.parent.ops if op is not nest]


def steps_of(axes: Iterable[SSAValue]) -> int:
    """
    Return the number of steps of a nest over `axes`; values that are not axes count as one step.
    """
    return prod(extent_of(axis) or 1 for axis in axes)


def quotients_of(load: loop.LoadOp) -> list[tuple[SSAValue, int]]:
    """Return the indices that subscripts divide, each one alone, with the divisors."""
    found: list[tuple[SSAValue, int]] = []
    for expr in (inner for result in load.map.data.results for inner in result.dfs()):
        match expr:
            case AffineBinaryOpExpr(
                AffineBinaryOpKind.FloorDiv, AffineDimExpr(dim), AffineConstantExpr(divisor)
            ):
                found.append((load.indices[dim], divisor))
            case _:
                pass
    return found


def only_divided(op: Operation) -> set[SSAValue]:
    """Return the indices of a load that all its subscripts divide; none for other ops."""
    if not isinstance(op, loop.LoadOp) or op.mask is not None:
        return set()
    divided = [index for index, _ in quotients_of(op)]
    exprs = (inner for result in op.map.data.results for inner in result.dfs())
    used = [op.indices[expr.position] for expr in exprs if isinstance(expr, AffineDimExpr)]
    return {index for index in divided if used.count(index) == divided.count(index)}


def is_in_bounds(load: loop.LoadOp) -> bool:
    """True if a load is known to be in bounds without its mask."""
    extents = memref_type(load.memref).get_shape()
    ranges = [range_of_value(index) for index in load.indices]
    return all(
        (found := range_of(expr, ranges)) is not None and found in Range.extent(extent)
        for expr, extent in zip(load.map.data.results, extents, strict=True)
    )


class Subscript(NamedTuple):
    """The subscripts of a load; equal for loads of one buffer that read the same element."""

    map: AffineMap
    indices: tuple[SSAValue, ...]
    shape: tuple[int, ...]
    """Shape of the buffer that is subscripted."""


def subscript_of(load: loop.LoadOp) -> Subscript:
    """Return the subscript of `load`."""
    shape = memref_type(load.memref).get_shape()
    return Subscript(load.map.data, tuple(load.indices), shape)


def reads_each_once(subscript: Subscript, axes: Iterable[SSAValue]) -> bool:
    """
    True if each step of `axes` reads a different element of the buffer, and all steps together read
    every element.
    """
    dims = subscripted_dims(subscript.map.results, subscript.indices)
    return dims.keys() == {*axes} and steps_of(dims) == prod(subscript.shape)


def common_subscript(loads: Sequence[loop.LoadOp]) -> Subscript | None:
    """Return the subscript of all of `loads`; None if they differ or are masked."""
    found = {subscript_of(load) for load in loads}
    if len(found) != 1 or any(op.mask is not None for op in loads):
        return None
    return found.pop()


def chunk_of(op: loop.ReduceOp) -> loop.ReduceOp | None:
    """
    Return the reduction of a chunk in each step of `op`; None if there is none or `op` has one
    step.
    """
    return None if op.has_one_step else nested_chunk(op)


def nested_chunk(op: loop.ReduceOp) -> loop.ReduceOp | None:
    """
    Return the reduction of a chunk in each step of `op`, even if `op` has only one step, or None.
    """
    chunk = op.yield_op.values[0].owner
    if not isinstance(chunk, loop.ReduceOp) or chunk.parent is not op.body.block:
        return None
    passed_on = chunk.results == tuple(op.yield_op.values) and op.yield_op.mask is None
    is_only_use = all(result.has_one_use() for result in chunk.results)
    return chunk if passed_on and is_only_use and chunk.monoid == op.monoid else None


def whole_of(op: loop.ReduceOp) -> loop.ReduceOp | None:
    """Return the reduction of which `op` reduces a chunk in each step, or None."""
    whole = op.parent_op()
    return whole if isinstance(whole, loop.ReduceOp) and chunk_of(whole) is op else None


def softmaxes_in(block: Block) -> list[loop.ReduceOp]:
    """Return the reductions by `softmax` directly in a block."""
    return [op for op in block.ops if isinstance(op, loop.ReduceOp) and op.is_softmax]


def softmax_around(op: Operation) -> loop.ReduceOp | None:
    """Return the reduction by `softmax` whose body contains `op` directly, or None."""
    around = op.parent_op()
    return around if isinstance(around, loop.ReduceOp) and around.is_softmax else None


def needed_by(
    ops: Sequence[Operation], values: Iterable[SSAValue]
) -> tuple[list[Operation], list[SSAValue]]:
    """
    Return those of `ops` that `values` need, in order, and all values that are needed.
    """
    wanted, found = dict.fromkeys(values), list[Operation]()
    for op in reversed(ops):
        if any(result in wanted for result in op.results):
            found.append(op)
            wanted.update(dict.fromkeys(v for inner in ops_in(op) for v in inner.operands))
    return found[::-1], [*wanted]
