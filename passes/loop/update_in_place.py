# SPDX-License-Identifier: Apache-2.0
"""
Stores only the changes of a buffer that the program updates in place.

    func.func @main(%cache {torch.becomes = 0 : i64}, %row, %at) -> (%new) {
      %new = memref.alloc()
      loop.launch @put(%cache, %row, %at) -> (%new)
      ... %new is read ...
      func.return %new

becomes, if `@put` copies all but one row,

    func.func @main(%cache {torch.becomes = 0 : i64}, %row, %at) -> (%cache) {
      loop.launch @put(%row, %at) -> (%cache)
      ... %cache is read ...
      func.return %cache

    loop.kernel @put(%row, %at) -> (%out {plan.updated}) { ... }

The module `changed_steps.py` rewrites the kernel to store only the changes. The pass is legal where
the argument must hold that result at the program's end, in each function that passes it on. Nothing
may need its old contents later: all other reads come before the launch.
"""

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.updates import becomes
from tilewright.passes.loop.changed_steps import Changed, changed_steps, keep_changes
from tilewright.passes.loop.launch_graph import launches_by_kernel
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("f", 20, "update_in_place")


def reason_against_update(launch: loop.LaunchOp, old: SSAValue, new: SSAValue) -> str | None:
    """Reason why a launch cannot write `new` into the buffer `old`, or None."""
    function = launch.parent_op()
    if not isinstance(function, func.FuncOp) or not isinstance(new.owner, memref.AllocOp):
        return "its output is not allocated by a function"
    if not isinstance(old, BlockArgument):
        return "the buffer that it copies is not an argument"
    if (result := _only_result(function, new)) is None:
        return "its output is not a single result of the function"
    if not _is_last_use(old, launch):
        return "the buffer that it copies is used later"
    return None if _becomes(function, old.index, result) else "the argument must keep its contents"


def _only_result(function: func.FuncOp, value: SSAValue) -> int | None:
    """
    Return the position of `value` among the function's results; None unless it is returned exactly
    once.
    """
    returned = function.body.block.last_op
    operands = [] if returned is None else [*returned.operands]
    return operands.index(value) if operands.count(value) == 1 else None


def _is_last_use(value: SSAValue, op: Operation) -> bool:
    """True if `op` uses `value` once, and all other uses come before it."""
    uses = [*value.uses]
    others = [use.operation for use in uses if use.operation is not op]
    block = op.parent
    before = all(other.parent is block and other.is_before_in_block(op) for other in others)
    return before and len(uses) - len(others) == 1


def _becomes(function: func.FuncOp, argument: int, result: int) -> bool:
    """
    True if the program, or every caller of the function, requires the argument to hold the result.
    """
    if function.sym_name.data == "main":
        return becomes(function, argument) == result
    module = function.parent_op()
    name = function.sym_name.data
    ops = () if module is None else ops_in(module)
    calls = [op for op in ops if isinstance(op, func.CallOp) and op.callee.string_value() == name]
    return bool(calls) and all(_call_becomes(call, argument, result) for call in calls)


def _call_becomes(call: func.CallOp, argument: int, result: int) -> bool:
    caller, given = call.parent_op(), call.arguments[argument]
    if not isinstance(caller, func.FuncOp) or not isinstance(given, BlockArgument):
        return False
    returned = _only_result(caller, call.results[result])
    is_last = _is_last_use(given, call)
    return is_last and returned is not None and _becomes(caller, given.index, returned)


def is_update(kernel: loop.KernelOp, launch: loop.LaunchOp) -> bool:
    """
    True if the launch may write its outputs into the buffers of its inputs, and then only has to
    store the changed steps.
    """
    changed = changed_steps(kernel)
    return changed is not None and _reason_against_kernel(kernel, changed, launch) is None


def _reason_against_kernel(
    kernel: loop.KernelOp, changed: Changed, launch: loop.LaunchOp
) -> str | None:
    """Reason why the launch cannot update its inputs in place, or None."""
    pairs = _updated(kernel, changed)
    reasons = (
        reason_against_update(launch, launch.inputs[i], launch.outputs[o]) for i, o in pairs.items()
    )
    return next(filter(None, reasons), None)


def _updated(kernel: loop.KernelOp, changed: Changed) -> dict[int, int]:
    """
    Return a map from the position of each copied input to the position of the output that copies
    it.
    """
    inputs, outputs = list[SSAValue](kernel.inputs), list[SSAValue](kernel.outputs)
    stores = changed.stores
    return {inputs.index(s.old.memref): outputs.index(s.store.memref) for s in stores}


def update(kernel: loop.KernelOp, changed: Changed, launches: Sequence[loop.LaunchOp]) -> None:
    """
    Make the kernel store only its changes, and make its launches write them into the old buffers.
    """
    updated = _updated(kernel, changed)
    keep_changes(changed)
    left = [n for n in range(len(kernel.buffers)) if n not in updated]
    facts = [kernel.facts[n] for n in left]
    for position in sorted(updated, reverse=True):
        kernel.body.block.erase_arg(kernel.body.block.args[position])
    kernel.set_facts(facts)
    for output in kernel.outputs:
        kernel.set_updated(output)
    for launch in launches:
        _relaunch(launch, updated)


def _relaunch(launch: loop.LaunchOp, updated: Mapping[int, int]) -> None:
    """Replace a launch by one that writes into its old inputs."""
    inputs, outputs = [*launch.inputs], [*launch.outputs]
    old = {output: inputs[position] for position, output in updated.items()}
    left = [value for n, value in enumerate(inputs) if n not in updated]
    updating = loop.LaunchOp(launch.kernel.string_value(), left, [old[n] for n in sorted(old)])
    updating.location = launch.location
    assert launch.parent is not None
    launch.parent.insert_op_before(updating, launch)
    Rewriter.erase_op(launch)
    for position, new in enumerate(outputs):
        assert isinstance(new.owner, memref.AllocOp)
        new.replace_all_uses_with(old[position])
        Rewriter.erase_op(new.owner)


class UpdateInPlacePass(ModulePass):
    """Write arguments in place where the program updates them, and store only the changes."""

    name = "update-in-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Update in place in each kernel of the module that copies the buffer which its output
        replaces.
        """
        launches = launches_by_kernel(op)
        for kernel in [k for k in op.ops if isinstance(k, loop.KernelOp)]:
            launched = launches.get(kernel.sym_name.data, [])
            if not launched or (changed := changed_steps(kernel)) is None:
                continue
            reasons = (_reason_against_kernel(kernel, changed, launch) for launch in launched)
            if (reason := next(filter(None, reasons), None)) is not None:
                skipped(RULE, kernel, reason)
                continue
            with rewriting(RULE, kernel, whole_module=True):
                update(kernel, changed, launched)
