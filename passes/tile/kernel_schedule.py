# SPDX-License-Identifier: Apache-2.0
"""
The two pipelines that a kernel carries while it is scheduled: its `plan`, of the steps to come, and
its `schedule`, of those that were done.

    loop.kernel @mm(...) -> (...) { ... } plan "mark-unroll" schedule "tileify,async-copy"
"""

from functools import lru_cache

from xdsl.dialects.builtin import StringAttr
from xdsl.utils.arg_spec import ArgSpec

from tilewright.dialects import loop
from tilewright.dialects.pass_specs import parse_spec_list


def take_planned(kernel: loop.KernelOp, name: str) -> ArgSpec | None:
    """The step of that name in the kernel's plan; it and those before it are no longer to come."""
    if kernel.plan is None:
        return None
    step, rest = _taken(kernel.plan.data, name)
    if step is not None:
        kernel.plan = StringAttr(rest) if rest else None
    return step


@lru_cache(maxsize=1 << 12)  # many kernels are scheduled alike
def _taken(plan: str, name: str) -> tuple[ArgSpec | None, str]:
    """The step of that name in a plan, and the steps that come after it."""
    specs = parse_spec_list(plan)
    position = next((i for i, spec in enumerate(specs) if spec.name == name), None)
    if position is None:
        return None, plan
    return specs[position], ",".join(map(str, specs[position + 1 :]))


def record(kernel: loop.KernelOp, step: str) -> None:
    """Add what was done to the kernel's schedule."""
    before = "" if kernel.schedule is None else f"{kernel.schedule.data},"
    kernel.schedule = StringAttr(before + step)


def is_scheduled(kernel: loop.KernelOp, name: str) -> bool:
    """Whether the pass of that name is a step of the kernel's schedule."""
    if kernel.schedule is None or name not in kernel.schedule.data:
        return False
    return any(spec.name == name for spec in parse_spec_list(kernel.schedule.data))
