# SPDX-License-Identifier: Apache-2.0
"""
Who computes a workload: ours, PyTorch's eager mode, and what `torch.compile` makes of it.

All are measured as CUDA graphs that we capture. So `max-autotune` is asked for without the CUDA
graphs that it brings itself: these would copy their inputs into place first, which costs it time
that is none of its kernels'. float32 is float32 for all: TF32 is off.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.runtime.driver import Driver
from tilewright.codegen.runtime.loaded_plan import LoadedPlan
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.codegen.timing.device import Call
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.tools.bench.workload import Inputs, Workload
from tilewright.tuning.knowledge import Db
from tilewright.tuning.known_schedules import with_known_schedules

Bind = Callable[[Inputs], Call]
"""A call of one copy of the inputs; it gives the tensors among the results, flat."""
Prepare = Callable[[Workload], Bind]
"""Compiles a workload, or sees that it will be at the first call."""

OURS = "ours"
EAGER = "eager"


def use_float32() -> None:
    """No TF32 in PyTorch, neither in matrix products nor in convolutions."""
    import torch

    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False


def float32_settings() -> dict[str, Any]:
    """How PyTorch multiplies float32 in this process, as it stands now."""
    import torch

    return {
        "matmul": torch.get_float32_matmul_precision(),
        "matmul.allow_tf32": torch.backends.cuda.matmul.allow_tf32,
        "cudnn.allow_tf32": torch.backends.cudnn.allow_tf32,
    }


def forget_compiled() -> None:
    """Let `torch.compile` start anew: what one workload taught it is none of the next one's."""
    import torch._dynamo

    torch._dynamo.reset()  # pyright: ignore[reportUnknownMemberType]


class Compiled(NamedTuple):
    """A workload as our compiler leaves it."""

    plan: Plan
    kernel_ir: ModuleOp
    cuda_ir: ModuleOp


class Ours:
    """Tilewright, on a driver, with the schedules that `db` knows."""

    def __init__(self, driver: Driver, target: str, db: Db = True):
        self.driver, self.target = driver, target
        self._db = db
        self._last: tuple[Workload, Compiled] | None = None

    def compiled(self, workload: Workload) -> Compiled:
        """Return the workload, compiled; the one that was asked for last is remembered."""
        if self._last is not None and self._last[0] is workload:
            return self._last[1]
        module = with_known_schedules(workload.captured.module, self.target, self._db)
        kernel_ir = lower(module, Level.KERNEL, target=self.target)
        cuda_ir = lower_to_cuda(kernel_ir, self.target)
        compiled = Compiled(plan_of(cuda_ir), kernel_ir, cuda_ir)
        self._last = workload, compiled
        return compiled

    def __call__(self, workload: Workload) -> Bind:
        plan = self.compiled(workload).plan
        shared = LoadedPlan(plan, self.driver, self.target)

        def bind(inputs: Inputs) -> Call:
            # Parameters that are permuted when they are loaded are so once: a plan keeps one copy.
            loaded = LoadedPlan(plan, self.driver, self.target) if plan.permuted else shared
            return lambda: loaded(inputs.values)

        return bind


def eager(workload: Workload) -> Bind:
    """PyTorch's own kernels."""
    return flat(workload, workload.function)


def compiled(mode: str | None) -> Prepare:
    """PyTorch's compiler in one of its modes."""

    def prepare(workload: Workload) -> Bind:
        import torch

        function = torch.compile(  # pyright: ignore[reportUnknownMemberType]
            workload.function, mode=mode, dynamic=False
        )
        return flat(workload, function)

    return prepare


def flat(workload: Workload, function: Callable[..., Any]) -> Bind:
    """Calls of what computes the same as the workload's function."""
    import torch
    from torch.utils import _pytree as pytree

    def bind(inputs: Inputs) -> Call:
        arguments = workload.arguments(inputs)

        def call() -> list[Any]:
            leaves = pytree.tree_leaves(function(*arguments))
            return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

        return call

    return bind


BACKENDS: Mapping[str, Prepare] = {
    EAGER: eager,
    "compile": compiled(None),
    "max-autotune": compiled("max-autotune-no-cudagraphs"),
}
"""Those that ours can be compared with, by the names that `--backends` takes."""
