# SPDX-License-Identifier: Apache-2.0
"""
Compilation of a kernel with a schedule, from Loop IR to machine code that processes can exchange.
"""

from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.kernel_texts import kernel_texts
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.nvrtc_library import NvrtcUnavailable
from tilewright.codegen.runtime.cubin_cache import CubinCache
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.codegen.target_limits import check_launches
from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.errors import one_line
from tilewright.passes.driver.lowering import REFUSED, context
from tilewright.passes.rewriting.launching import with_main


class Compiled(NamedTuple):
    """A compiled kernel that can be launched."""

    plan: Plan
    cubins: dict[str, bytes]
    """Machine code of each kernel, by its text (`kernel_texts`)."""


def compiled(kernel: str, schedule: str, target: str) -> Compiled | str:
    """
    Compile a kernel at Loop IR with a schedule, or return the reason why it cannot be compiled.

    Raises `NvrtcUnavailable`, which is not caused by the schedule.
    """
    try:
        plan = plan_of(lower_to_cuda(scheduled(kernel, schedule), target))
        check_launches(plan.launches, target)
        texts = [*kernel_texts(plan.source, plan.dynamic_shared_bytes).values()]
        cubins = CubinCache().cubins(texts, target)
        return Compiled(plan, dict(zip(texts, cubins, strict=True)))
    except NvrtcUnavailable:
        raise
    except REFUSED as err:
        return in_a_line(err)


def in_a_line(err: Exception) -> str:
    """Return the message of an error in one line."""
    return one_line(err).removeprefix("error: ")


def scheduled(kernel: str, schedule: str = "") -> ModuleOp:
    """
    Return the module of a kernel's text, with an `@main` that launches it, and with its schedule.
    The text of a program gets the schedule for all of its kernels.
    """
    module = with_main(Parser(context(), kernel).parse_module())
    if schedule:
        for op in [op for op in module.ops if isinstance(op, loop.KernelOp)]:
            op.planned = ScheduleAttr.parse(schedule)
    return module
