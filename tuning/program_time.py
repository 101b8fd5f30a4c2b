# SPDX-License-Identifier: Apache-2.0
"""
How long a program takes: one launch after the other, each as long as the best that is known of its
kernel. Times of kernels have the time in them that it takes to launch them.
"""

from collections import Counter
from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.dialects.target import Target
from tilewright.passes.loop.fusion.fusion_cost import work_of
from tilewright.tuning.host_functions import launches
from tilewright.tuning.kernel_key import digest


def kernels(nests: ModuleOp) -> dict[str, loop.KernelOp]:
    """The kernels of a program at Loop IR, by name."""
    return {op.sym_name.data: op for op in nests.ops if isinstance(op, loop.KernelOp)}


def launches_by_digest(nests: ModuleOp) -> Counter[str]:
    """How often each kernel is launched, by digest: equal for programs that do the same work."""
    digests = {name: digest(op) for name, op in kernels(nests).items()}
    return Counter(digests[launch.kernel.string_value()] for launch in launches(nests))


def program_us(launched: Counter[str], best_us: Callable[[str], float | None]) -> float | None:
    """Microseconds of a run, of those of kernels by digest; None where a kernel has no time."""
    total = 0.0
    for kernel, times in launched.items():
        if (us := best_us(kernel)) is None:
            return None
        total += times * us
    return total


def guessed_seconds(nests: ModuleOp, target: Target) -> float:
    """How long a run takes by the model that fusion has (`fusion_cost`)."""
    named = kernels(nests)
    works = (work_of(named[launch.kernel.string_value()], launch) for launch in launches(nests))
    return sum(work.seconds(target) for work in works)
