# SPDX-License-Identifier: Apache-2.0
"""
Lowering of loops and branches; values that they carry or yield become variables assigned in their
bodies.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects import kernel
from tilewright.dialects.cuda.expressions import CallOp, ExpressionOp, ReadOp
from tilewright.dialects.cuda.statements import AssignOp, ForOp, IfOp, VarOp
from tilewright.dialects.kernel.registers import UNROLL
from tilewright.passes.cuda.conversion import Conversion, Handlers
from tilewright.passes.cuda.index import Index
from tilewright.passes.cuda.writer import is_pending

if TYPE_CHECKING:
    from tilewright.passes.cuda.ring_counters import Carried


def _if(to: Conversion, op: scf.IfOp) -> None:
    if isinstance(known := to.writer.constants.get(op.cond), IntegerAttr):
        _convert_taken(to, op.true_region if known.value.data else op.false_region, op.results)
        return
    condition = to.writer.use(op.cond)
    variables = [_variable(to, result) for result in op.results]
    then_body = _branch(to, op.true_region, variables)
    else_body = _branch(to, op.false_region, variables)
    to.writer.statement(IfOp(condition, then_body, else_body if else_body.block.ops else None))


def _convert_taken(to: Conversion, region: Region, results: Sequence[SSAValue]) -> None:
    """Convert the only branch that can run, without an `if` around it."""
    if not region.blocks:
        return
    *ops, terminator = region.block.ops
    with to.indices.scope(region.block):
        to.convert_all(ops)
    for result, value in zip(results, terminator.operands, strict=True):
        to.writer.bind(result, to.writer.use(value))


def _variable(to: Conversion, result: SSAValue) -> SSAValue:
    variable = VarOp(None, to.writer.type(result.type), result.name_hint)
    to.writer.statement(variable)
    to.writer.values[result] = variable.variable
    return variable.variable


def _branch(to: Conversion, region: Region, variables: Sequence[SSAValue]) -> Region:
    body = Block()
    with to.writer.inside(body):
        _convert_body(to, region, variables)
    return Region(body)


def _convert_body(
    to: Conversion,
    region: Region,
    variables: Sequence[SSAValue],
    carried: Sequence[tuple[Index, SSAValue]] = (),
) -> None:
    """
    Convert the ops of a body, and assign the values that it yields to `variables`. In the body, the
    variables of `carried` hold indices.
    """
    if not region.blocks:
        return
    *ops, terminator = region.block.ops
    with to.indices.scope(region.block):
        for index, variable in carried:
            to.indices.names.add(index, variable)
        to.convert_all(ops)
    _assign(to, variables, terminator.operands)


def _assign(to: Conversion, variables: Sequence[SSAValue], yielded: Sequence[SSAValue]) -> None:
    """
    Assign all `variables` in parallel: a value that reads a variable assigned before it gets a name
    first.
    """
    values = [to.writer.use(v) for v in yielded]
    for position, value in enumerate(values):
        if _reads(value, variables[:position]):
            hint = yielded[position].name_hint or variables[position].name_hint
            values[position] = to.writer.let(value, hint)
    for variable, value in zip(variables, values, strict=True):
        if not (isinstance(value.owner, ReadOp) and value.owner.variable is variable):
            to.writer.statement(AssignOp(variable, value))


def _reads(value: SSAValue, variables: Sequence[SSAValue]) -> bool:
    if not is_pending(value):
        return False
    expression = value.owner
    assert isinstance(expression, ExpressionOp)
    return expression.reads() in variables or any(_reads(v, variables) for v in expression.operands)


def _for(to: Conversion, op: scf.ForOp) -> None:
    step = to.writer.constants.get(op.step)
    if not isinstance(step, IntegerAttr) or step.value.data < 1:
        raise to.writer.unsupported("'scf.for' with a step that is no positive constant")
    slots = _unrolled_slots(to, op)
    low, high = to.writer.use(op.lb), _bound(to, op.ub, slots is not None)
    carried = op.body.block.args[1:]
    variables = [
        _carried(to, *names) for names in zip(carried, op.iter_args, op.results, strict=True)
    ]
    body = Block(arg_types=[low.type])
    body.args[0].name_hint = op.body.block.args[0].name_hint or "k"
    to.writer.values[op.body.block.args[0]] = body.args[0]
    counters = _counters(to, op, step)
    with to.writer.inside(body):
        _convert_body(to, op.body, variables, [name for each in counters for name in each.names()])
        for counter in counters:
            counter.advance(to)
    unroll = UNROLL in op.attributes
    unrolled = ForOp(low, high, step.value.data, Region(body), unroll=unroll, unroll_by=slots)
    to.writer.statement(unrolled)


def _unrolled_slots(to: Conversion, op: scf.ForOp) -> int | None:
    """Return the number of slots of a ring by which a loop is unrolled, if it is."""
    if not to.accesses.fills:
        return None
    from tilewright.passes.cuda.ring_counters import unrolled_slots

    return unrolled_slots(op, to.accesses)


def _counters(to: Conversion, op: scf.ForOp, step: IntegerAttr) -> "Sequence[Carried]":
    """Return the counters of rings that a loop carries."""
    if not to.accesses.fills:
        return ()
    from tilewright.passes.cuda.ring_counters import carried_counters

    return carried_counters(to, op, step)


def _bound(to: Conversion, bound: SSAValue, is_unrolled: bool) -> SSAValue:
    """
    Return the upper bound of a loop. C++ evaluates it at each step, so that an expression gets a
    name first. NVRTC must not know the bound of a loop that is unrolled by a number (prelude).
    """
    value = to.writer.use(bound)
    if bound in to.writer.constants:
        return value
    if is_unrolled:
        value = CallOp("steps_unknown", [value], to.writer.index_type).result
        return to.writer.let(value, "steps")
    return to.writer.let(value, bound.name_hint or "end") if is_pending(value) else value


def _carried(to: Conversion, argument: SSAValue, initial: SSAValue, result: SSAValue) -> SSAValue:
    """
    Return the variable that a loop carries from step to step, and that holds the result after the
    loop.
    """
    hint = argument.name_hint or result.name_hint or "acc"
    variable = VarOp(to.writer.use(initial), to.writer.type(result.type), hint)
    to.writer.statement(variable)
    to.writer.values[argument] = to.writer.values[result] = variable.variable
    return variable.variable


def _unroll(to: Conversion, op: kernel.UnrollOp) -> None:
    _unroll_axes(to, op, [*zip(op.body.block.args, op.axis_extents(), strict=True)])


def _unroll_axes(to: Conversion, op: kernel.UnrollOp, axes: Sequence[tuple[SSAValue, int]]) -> None:
    """
    Write one unrolled loop for each axis, outermost first; an axis of one step becomes the constant
    0.
    """
    if not axes:
        with to.indices.scope(op.body.block):
            to.convert_all(op.body.block.ops)
        return
    (axis, extent), *inner = axes
    if extent == 1:
        to.writer.constants[axis] = IntegerAttr(0, to.writer.index_type)
        _unroll_axes(to, op, inner)
        return
    body = Block(arg_types=[to.writer.index_type])
    body.args[0].name_hint = axis.name_hint or "i"
    to.writer.values[axis] = body.args[0]
    with to.writer.inside(body):
        _unroll_axes(to, op, inner)
    ends = to.writer.index(0), to.writer.index(extent)
    to.writer.statement(ForOp(*ends, 1, Region(body), unroll=True))


CONTROL_FLOW: Handlers = {scf.IfOp: _if, scf.ForOp: _for, kernel.UnrollOp: _unroll}
