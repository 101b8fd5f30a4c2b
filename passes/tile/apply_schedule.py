# SPDX-License-Identifier: Apache-2.0
"""
Runs the planned steps of each kernel, one kernel at a time.

    loop.kernel @mm(...) -> (...) { ... } planned "tileify,blockify-launch{m=8 n=32},mark-unroll"

becomes

    loop.kernel @mm(...) -> (...) { ... } schedule "tileify,blockify-launch{m=8 n=32},mark-unroll"

Planned steps may name any passes, in any order, any number of times.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.errors import UsageError
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.reporting.trace import Rule, skipped
from tilewright.passes.scheduling_steps import PLAN
from tilewright.passes.targeted_pass import TargetedPass, for_target
from tilewright.passes.tile.kernel_schedule import errors_of_planned_steps, planned_passes

RULE = Rule("t", 19, "apply_schedule")


@dataclass(frozen=True)
class ApplySchedulePass(TargetedPass):
    """Run the planned steps of each kernel."""

    name = "apply-schedule"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the planned steps of each kernel of the module."""
        for kernel in [k for k in op.ops if isinstance(k, loop.KernelOp)]:
            if kernel.planned is None:
                skipped(RULE, kernel, "no steps are planned")
                continue
            with errors_of_planned_steps(kernel):
                steps = planned_passes(kernel.planned)
                if kernel.planned.names(PLAN):
                    says = f"'{PLAN}' plans around the other steps, and has not run yet"
                    raise UsageError(says, remedy=f"run '{PLAN}' before '{self.name}'")
            _apply(ctx, op, kernel, [for_target(step, self.target) for step in steps])


def _apply(
    ctx: Context, module: ModuleOp, kernel: loop.KernelOp, steps: Sequence[ModulePass]
) -> None:
    """Run the steps on a kernel in a module of its own, where passes see no other kernel."""
    after = kernel.next_op
    kernel.detach()
    kernel.planned = None
    alone = ModuleOp([kernel])
    PassManager(ctx).run(alone, steps)
    for op in list(alone.ops):
        op.detach()
        if after is None:
            module.body.block.add_op(op)
        else:
            module.body.block.insert_op_before(op, after)
