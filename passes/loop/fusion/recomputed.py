# SPDX-License-Identifier: Apache-2.0
"""Values that a kernel computes again for each step of axes with which they do not vary."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.effects import is_pure
from tilewright.passes.facts.nest import needed_by, steps_of
from tilewright.passes.facts.products import is_widened
from tilewright.passes.loop.fusion.op_counts import cost_of, varying


class Part(NamedTuple):
    """A value that is computed repeatedly, and all ops that compute it."""

    value: SSAValue
    axes: Sequence[SSAValue]
    """Axes around the value with which it varies, outermost first."""
    ops: Sequence[Operation]
    """Ops that compute the value, in order."""
    runs: float
    """Number of times that the kernel computes the value in one launch."""

    @property
    def elements(self) -> int:
        """Number of different values."""
        return steps_of(self.axes)

    @property
    def costliest(self) -> str:
        """Name of the costliest op, such as `powf`."""
        op = max(self.ops, key=lambda op: (cost_of(op), not isinstance(op, loop.LoadOp)))
        return op.name.partition(".")[2]

    @property
    def title(self) -> str:
        """Name of the part in decisions, such as `powf@4096`; equal parts have equal names."""
        return f"{self.costliest}@{self.elements}"


def parts(kernel: loop.KernelOp, times: Mapping[Operation, float]) -> Iterator[Part]:
    """
    Yield the values of `kernel` that could be cut out: each varies with fewer axes than are around
    it, and has a use that varies with more. Casts of half types to wider types are left out. The
    scores of a reduction with `softmax` are, too: it computes them once for all columns. No buffer
    holds subscripts, but the integers that they are made of. `times` holds the number of runs of
    each op.
    """
    varies, scores = varying(kernel), _scores(times)
    for op in times:
        if op in scores or len(op.results) != 1 or isinstance(op, loop.LoadOp | arith.ConstantOp):
            continue
        if not isinstance(op, loop.ReduceOp) and not is_pure(op):
            continue
        if isinstance(op, arith.ExtFOp) and is_widened(op.result):
            continue
        around = list(_axes_around(op))
        axes = [axis for axis in around if axis in varies[op]]
        if _is_subscript(op) or len(axes) == len(around) or not _grows(op, varies):
            continue
        if (ops := _slice(op)) is not None:
            steps = op.axis_extents()[0] if isinstance(op, loop.ReduceOp) else 1
            yield Part(op.results[0], axes, ops, times[op] / max(steps, 1))


def _grows(op: Operation, varies: Mapping[Operation, Set[SSAValue]]) -> bool:
    """True if a use of a value, or of subscripts made of it, varies with more axes."""
    users = {use.operation for result in op.results for use in result.uses}
    return any(
        varies[user] - varies[op] or (_is_subscript(user) and _grows(user, varies))
        for user in users
    )


def _is_subscript(op: Operation) -> bool:
    return any(isinstance(result.type, IndexType) for result in op.results)


def _scores(ops: Iterable[Operation]) -> set[Operation]:
    """Return the ops in reductions with `softmax` that compute their scores."""
    found = set[Operation]()
    for reduction in ops:
        if isinstance(reduction, loop.ReduceOp) and reduction.is_softmax:
            body, terminator = reduction.body.block, reduction.yield_op
            needed, _ = needed_by([*body.ops], terminator.values[:1])
            found.update(ops_in(*needed))
    return found


def _axes_around(op: Operation) -> Iterator[SSAValue]:
    """Yield the axes around `op`, outermost first."""
    parent = op.parent_op()
    if parent is not None and not isinstance(parent, loop.KernelOp):
        yield from _axes_around(parent)
        yield from parent.regions[0].block.args


def _slice(op: Operation) -> list[Operation] | None:
    """
    Return `op` and all ops that it depends on, in order; None if one is a scan, a store or a nest.
    """
    found: dict[Operation, None] = {}
    pending = [op]
    while pending:
        needed = pending.pop()
        if needed in found:
            continue
        if isinstance(needed, loop.PrefixOp | loop.ScanOp | loop.StoreOp | loop.ForOp):
            return None
        found[needed] = None
        inside = {*ops_in(needed)}
        operands = (operand for inner in inside for operand in inner.operands)
        owners = [v.owner for v in operands if isinstance(v.owner, Operation)]
        pending += [owner for owner in owners if owner not in inside]
    kernel = op
    while (parent := kernel.parent_op()) is not None and not isinstance(kernel, loop.KernelOp):
        kernel = parent
    return [inner for inner in ops_in(kernel) if inner in found]
