# SPDX-License-Identifier: Apache-2.0
"""
Decides how each kernel is to be scheduled: the decisions are made jointly, before the first of them
is carried out.

    loop.kernel @mm(...) -> (...) {
      loop.for %i in 512, %j in 2048 { ... }
    }

becomes

    loop.kernel @mm(...) -> (...) {
      loop.for %i in 512, %j in 2048 { ... }
    } plan "tileify,chunk-matmul-k{bk=16},...,mark-unroll"

The passes that the plan names do their steps as it says, the others leave the kernel alone. A plan
that a kernel brings is followed too; one that names no passes as there are is an error here.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tilewright.dialects import loop, tile
from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.dialects.target import target as target_named
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.tile.plan_errors import blamed_on_plan, planned_passes
from tilewright.passes.tile.planner.planner import plan

RULE = Rule("t", 0, "plan_schedules")


def reason_against(kernel: loop.KernelOp) -> str | None:
    """Reason why the kernel needs no plan, or None."""
    if kernel.plan is not None:
        return "it has a plan"
    if isinstance(kernel.body.block.last_op, tile.LaunchOp):
        return "it is a launch already"
    return None


@dataclass(frozen=True)
class PlanSchedulesPass(ModulePass):
    """Give each kernel a plan."""

    name = "plan-schedules"

    target: str = DEFAULT_TARGET
    """What is decided for."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each kernel of the module."""
        target = target_named(self.target)
        for kernel in [k for k in op.ops if isinstance(k, loop.KernelOp)]:
            _check_plan(kernel)
            if (reason := reason_against(kernel)) is not None:
                skipped(RULE, kernel, reason)
                continue
            with rewriting(RULE, kernel):
                kernel.plan = StringAttr(plan(kernel, target))


def _check_plan(kernel: loop.KernelOp) -> None:
    """`UsageError` if no pass would ever do a step of it: all would leave the kernel alone."""
    if kernel.plan is None:
        return
    with blamed_on_plan(kernel):
        planned_passes(kernel.plan.data)
