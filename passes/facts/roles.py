# SPDX-License-Identifier: Apache-2.0
"""
The role of each free axis for the reductions inside it.

A contraction is a reduction with two sides that vary with the axis of the reduction. Each side also
varies with a free axis that the other does not vary with. Axes of only the first side are `m`, axes
of only the other `n`, and axes of both `batch`. Any other reduction works on rows. A side also
varies with an axis through data: rows that an index tensor selects along `m` are rows of a factor.

The sides are the two factors of a product, each with all ops that compute it. A query that is
rotated by a table of angles is one side, although the table lacks an axis of the query.

    %0 = loop.load %query[%head, %q, %k]
    %1 = loop.load %angle[%q, %k]
    %2 = arith.mulf %0, %1
    %3 = loop.load %key[%head, %s, %k]
    %4 = arith.mulf %2, %3                   batch %head, m %q, n %s

A reduction by `softmax` sums products of weights and values: one side is the score, with the inner
reduction that may compute it, and the other is a value.

    %m, %sum = loop.reduce %k in 128 with softmax {
      %s = loop.reduce %d in 64 with add { ... %query[%head, %q, %d] ... %key[%head, %k, %d] ... }
      %0 = loop.load %v[%head, %k, %l]
      loop.yield %s, %0                      batch %head, m %q, n %l

If the reduction does not sum products, a load is one side, and loads that vary with other axes are
the other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, MemRefType
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.axes import Role


def index_sources(indices: Iterable[SSAValue]) -> set[SSAValue]:
    """
    Return the indices that `indices` are computed from. Data is replaced by the indices of the
    loads and casts that compute it; any other index, and the result of a loop, is itself a source.
    """
    found, pending = set[SSAValue](), [*indices]
    while pending:
        value = pending.pop()
        is_data = not isinstance(value.type, IndexType) or isinstance(value.owner, loop.ToIndexOp)
        if isinstance(value.type, MemRefType):
            continue
        if is_data and isinstance(value.owner, Operation) and not value.owner.regions:
            pending += value.owner.operands
        else:
            found.add(value)
    return found


def element_sources(load: loop.LoadOp, steps: Set[SSAValue], free: Set[SSAValue]) -> set[SSAValue]:
    """
    Return the indices with which the element varies that a load returns in loops over `steps` for
    each of the axes `free`. An element may vary by its mask alone: a diagonal matrix is
    `%x[%i] where [%k - %i, %i - %k]`, or the same with `%x[%k]`.
    """
    found = index_sources(load.indices)
    if found.isdisjoint(steps) or found.isdisjoint(free):
        return index_sources((*load.indices, *load.mask_operands))
    return found


_Axes = frozenset[SSAValue]
_Loads = Mapping[loop.LoadOp, _Axes]


def axis_roles(block: Block) -> list[Role]:
    """Return the role of each axis of a nest, given its body."""
    axes = block.args if isinstance(block.parent_op(), loop.ForOp) else ()
    return roles_in(block, axes)


def roles_in(block: Block, axes: Sequence[SSAValue]) -> list[Role]:
    """
    Return the role of each of `axes` for the reductions of a block that is inside all of them.
    """
    reductions = [op for op in block.ops if isinstance(op, loop.ReduceOp)]
    if not reductions:
        return [Role.FREE] * len(axes)
    for reduction in reductions:
        if (roles := _contraction_roles(reduction, axes)) is not None:
            return roles
    return [Role.ROW] * len(axes)


def single_row_roles(block: Block) -> list[Role] | None:
    """
    Return the role of each axis of a nest whose body weights values by the scores of one row, as
    attention of a single query does: batch or columns. Return None for other bodies.
    """
    axes = block.args
    softmaxes = (op for op in block.ops if isinstance(op, loop.ReduceOp) and op.extent.value.data)
    for score, value in (sides for op in softmaxes for sides in _weighted(op, axes)):
        if score < value == frozenset(axes):
            return [_role(axis in score, True) for axis in axes]
    return None


def is_contraction(block: Block) -> bool:
    """True if the axes of a nest, given its body, are rows and columns of a product."""
    return Role.N in axis_roles(block)


def _contraction_roles(reduction: loop.ReduceOp, axes: Sequence[SSAValue]) -> list[Role] | None:
    if 0 in reduction.axis_extents():
        return None  # it has no step, therefore no sides
    varying = _varying_loads(reduction, axes)
    weighted = _weighted(reduction, axes)
    for left, right in (*weighted, *_factors(reduction, varying), *_each_load(varying)):
        if left - right and right - left and left | right == frozenset(axes):
            return [_role(axis in left, axis in right) for axis in axes]
    return None


def _varying_loads(reduction: loop.ReduceOp, axes: Sequence[SSAValue]) -> _Loads:
    """
    Return, for each load that varies with the reduction's axis, those of `axes` with which it
    varies.
    """
    loads = [op for op in reduction.body.walk() if isinstance(op, loop.LoadOp)]
    sources = {op: element_sources(op, {reduction.axis}, {*axes}) for op in loads}
    return {
        op: frozenset(axis for axis in axes if axis in found)
        for op, found in sources.items()
        if reduction.axis in found
    }


def _factors(reduction: loop.ReduceOp, loads: _Loads) -> Iterator[tuple[_Axes, _Axes]]:
    """
    Yield, for each product that is yielded, the axes with which its two factors vary. The factor
    with the first load comes first.
    """
    for value in reduction.yield_op.values:
        if not isinstance(value.owner, arith.MulfOp | arith.MuliOp):
            continue
        made = [_ops_of(factor) for factor in value.owner.operands]
        sides = [[load for load in loads if load in ops] for ops in made]
        sides.sort(key=lambda side: [*loads].index(side[0]) if side else len(loads))
        left, right = (_union(loads[load] for load in side) for side in sides)
        yield left, right


def _weighted(reduction: loop.ReduceOp, axes: Sequence[SSAValue]) -> Iterator[tuple[_Axes, _Axes]]:
    """
    Yield, for each value that `softmax` weights, the axes with which the score varies and those
    with which the value varies, if both vary with the reduction's axis.
    """
    if not reduction.is_softmax:
        return
    score, *values = (_sources_of(value) for value in reduction.yield_op.values)
    for value in values:
        if reduction.axis in score & value:
            yield score.intersection(axes), value.intersection(axes)


def _sources_of(value: SSAValue) -> _Axes:
    """Return the sources of the indices of all loads from which a value is computed."""
    loads = [load for op in _ops_of(value) for load in op.walk() if isinstance(load, loop.LoadOp)]
    return _union(frozenset(index_sources(load.indices)) for load in loads)


def _each_load(loads: _Loads) -> Iterator[tuple[_Axes, _Axes]]:
    """
    Yield, for each load, the axes with which it varies, and the axes of all loads that vary with
    other axes.
    """
    used = [axes for axes in loads.values() if axes]
    for left in used:
        yield left, _union(axes for axes in used if axes != left)


def _ops_of(value: SSAValue) -> set[Operation]:
    """Return the op that computes a value, and all ops that it depends on."""
    found, pending = set[Operation](), [value]
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner not in found:
            found.add(owner)
            pending += owner.operands
    return found


def _union(parts: Iterable[_Axes]) -> _Axes:
    return frozenset[SSAValue]().union(*parts)


def _role(in_left: bool, in_right: bool) -> Role:
    if in_left and in_right:
        return Role.BATCH
    return Role.M if in_left else Role.N
