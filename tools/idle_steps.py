# SPDX-License-Identifier: Apache-2.0
"""Steps of a schedule that were asked for with options, and did nothing."""

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.passes.tile.scheduling_pass import SchedulingPass, is_scheduled


def is_idle(step: ModulePass, module: ModuleOp) -> bool:
    """Whether `step` decides what options say, and no kernel's schedule has it."""
    if not isinstance(step, SchedulingPass) or not step.options():
        return False
    kernels = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    return not any(is_scheduled(kernel, step.name) for kernel in kernels)
