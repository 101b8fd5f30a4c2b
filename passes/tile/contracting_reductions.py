# SPDX-License-Identifier: Apache-2.0
"""
Contractions of a launch: reductions in which one load varies with the rows of the result, and
another with its columns. Each element that is loaded is used for many elements of the result.

    tile.launch (%i = block 512 m, %j = block 2048 n) {
      %s = loop.reduce %k in 64 with add {
        %0 = loop.load %x[%i, %k]      varies with k and m
        %1 = loop.load %w[%k, %j]      varies with k and n

The axes got their roles when the launch was made (`tileify`). Any operation on the two loads may
follow. A load that is indexed by data varies with the axes of that data. A reduction in chunks
counts once, as a whole.

A reduction by `softmax` sums products of weights and values. It is a contraction if its score
varies with the rows, and a value that it weights with the columns. An inner reduction may compute
the score.
"""

from collections.abc import Iterator, Set

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.nest import nested_chunk
from tilewright.passes.facts.roles import element_sources

NO_CONTRACTION = "no contraction: no reduction loads one operand along m and another along n"
"""Skip reason: the launch has no contracting reduction."""


@memoised
def contracting_reductions(launch: tile.LaunchOp) -> list[loop.ReduceOp]:
    """Return the contractions of the launch in order, except those without steps."""
    rows, columns = (
        {axis.value for axis in launch.bound_axes() if axis.role is role}
        for role in (Role.M, Role.N)
    )
    if not rows or not columns:
        return []
    reductions = [op for op in ops_in(launch) if isinstance(op, loop.ReduceOp)]
    chunks = {nested_chunk(op) for op in reductions}
    return [op for op in reductions if op not in chunks and _contracts(op, rows, columns)]


def chunks_of(op: loop.ReduceOp) -> Iterator[loop.ReduceOp]:
    """
    Yield a reduction, then the reduction inside it that does one of its chunks, then the next one
    inside.
    """
    chunk: loop.ReduceOp | None = op
    while chunk is not None:
        yield chunk
        chunk = nested_chunk(chunk)


def _contracts(op: loop.ReduceOp, rows: Set[SSAValue], columns: Set[SSAValue]) -> bool:
    nest = [*chunks_of(op)]
    if any(0 in chunk.axis_extents() for chunk in nest):
        return False
    if op.is_softmax:
        return _weights(nest[-1], rows, columns)
    steps = {chunk.axis for chunk in nest}
    loads = [load for c in nest for load in c.body.block.ops if isinstance(load, loop.LoadOp)]
    sources = [element_sources(load, steps, rows | columns) for load in loads]
    varying = [found for found in sources if not steps.isdisjoint(found)]
    return any(found & rows and not found & columns for found in varying) and any(
        found & columns and not found & rows for found in varying
    )


def _weights(op: loop.ReduceOp, rows: Set[SSAValue], columns: Set[SSAValue]) -> bool:
    """
    True if the scores of `op` do not vary with `columns`, and a value that they weight varies with
    `columns` and not with `rows`.
    """
    known: dict[Operation, frozenset[BlockArgument]] = {}
    score, *values = (tile.value_varies_along(v, known) for v in op.yield_op.values)
    return not score & columns and any(value & columns and not value & rows for value in values)
