# SPDX-License-Identifier: Apache-2.0
"""The number of runs of each op of a kernel, and the axes with which it varies."""

from collections.abc import Collection, Iterator, Mapping
from math import prod

from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.axes import AxesOp
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.nest import steps_of
from tilewright.passes.loop.plan import evaluations

REUSE = 128
"""
Steps of free axes for which a block computes an operand of a reduction once: the side of a tile.
"""

VECTOR = 4
"""Elements that a thread loads in one instruction where nothing is reused: 128 bits of float32."""


_NONE = frozenset[SSAValue]()


def runs(kernel: loop.KernelOp, rows: Collection[SSAValue] = ()) -> dict[Operation, float]:
    """
    Return the number of runs of each op of `kernel` in a launch; a loop counts all its steps. If
    each step of `rows` is a block of its own, blocks do not reuse values, but load vectors.
    """
    reduces = any(isinstance(op, loop.ReduceOp) for op in ops_in(kernel))
    varies = varying(kernel) if reduces else {}  # needed only inside of reductions
    found = dict(_runs(kernel.body.block, 1, None, varies, frozenset(rows)))
    if not rows:
        return found
    loads = [op for op in found if isinstance(op, loop.LoadOp)]
    return found | {load: min(found[load], evaluations(load) / VECTOR) for load in loads}


def varying(kernel: loop.KernelOp) -> dict[Operation, frozenset[SSAValue]]:
    """Return the axes with which each op varies, out of the axes of the loops around it."""
    varies: dict[Operation, frozenset[SSAValue]] = {}
    _add_varying(kernel.body.block, varies)
    return varies


def _add_varying(block: Block, varies: dict[Operation, frozenset[SSAValue]]) -> None:
    for op in block.ops:
        found = _NONE.union(*(_axes_of(value, varies) for value in op.operands))
        for region in op.regions:
            _add_varying(region.block, varies)
            found = found.union(*(varies[inner] for inner in region.block.ops))
            found -= {*region.block.args}
        varies[op] = found


def _axes_of(
    value: SSAValue, varies: Mapping[Operation, frozenset[SSAValue]]
) -> frozenset[SSAValue]:
    owner = value.owner
    if isinstance(owner, Operation):
        return varies[owner]
    return frozenset((value,)) if isinstance(owner.parent_op(), AxesOp) else _NONE


def _runs(
    block: Block,
    steps: float,
    reduction: loop.ReduceOp | None,
    varies: Mapping[Operation, frozenset[SSAValue]],
    rows: frozenset[SSAValue],
) -> Iterator[tuple[Operation, float]]:
    """
    Yield the ops of a body that runs `steps` times, with their runs; `reduction` is the outermost
    around it.
    """
    for op in block.ops:
        if not isinstance(op, AxesOp):
            yield op, steps if reduction is None else steps / _reuse(op, reduction, varies, rows)
            continue
        inside = steps * prod(op.axis_extents())
        yield op, inside
        outermost = op if reduction is None and isinstance(op, loop.ReduceOp) else reduction
        yield from _runs(op.regions[0].block, inside, outermost, varies, rows)


def _reuse(
    op: Operation,
    reduction: loop.ReduceOp,
    varies: Mapping[Operation, frozenset[SSAValue]],
    rows: frozenset[SSAValue],
) -> int:
    """Return the number of outputs of `reduction` for which a block computes `op` once."""
    others = varies[reduction] - varies[op] - rows
    return min(max(steps_of(others), 1), REUSE)
