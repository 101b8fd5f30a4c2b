# SPDX-License-Identifier: Apache-2.0
"""
Whether a program computes the same however it is fused: as it is by default says what is right, as
a kernel's loops do of its schedules (`reference`).
"""

from functools import lru_cache

from xdsl.parser import Parser

from tilewright.arrays import tensor_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.nvrtc_library import NvrtcUnavailable
from tilewright.codegen.runtime.gpu_backend import GpuBackend
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.codegen.target_limits import check_launches
from tilewright.passes.driver.lowering import REFUSED, context
from tilewright.tuning.evaluators.compiled import in_a_line
from tilewright.tuning.evaluators.reference import Reference, Where
from tilewright.tuning.executors.child import tell


def complaint(default: str, fused: str, where: Where) -> str:
    """
    What is wrong with the results of `fused` on a device, or why there are none; empty if they are
    right. Both are texts of one program at Loop IR, `fused` with the schedules of its kernels.

    Raises `NvrtcUnavailable`, which is no fault of the program.
    """
    try:
        tell("compiling a program")
        plan = plan_of(lower_to_cuda(Parser(context(), fused).parse_module(), where.target))
        check_launches(plan.launches, where.target)
        reference = _reference(default, where)
        tell("running a program")
        results = GpuBackend(where.target, where.driver).run(plan, reference.inputs).results
    except NvrtcUnavailable:
        raise
    except REFUSED as err:
        return in_a_line(err)
    return reference.complaint([tensor_of(result) for result in results])


@lru_cache(maxsize=1)  # one program is fused in many ways
def _reference(default: str, where: Where) -> Reference:
    """What is right for inputs that are the same each time."""
    module = Parser(context(), default).parse_module()
    return Reference(default, plan_of(lower_to_cuda(module, where.target)).inputs, where)
