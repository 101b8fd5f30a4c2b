# SPDX-License-Identifier: Apache-2.0
"""
Contestants that compute a workload: Tilewright, PyTorch's eager mode, and `torch.compile`.

All are timed as CUDA graphs that this program captures. Therefore `max-autotune` runs without CUDA
graphs of its own: these first copy the inputs, which costs time that its kernels do not take. All
contestants have one precision of float32 products.
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
"""
Function that binds one copy of the inputs to a call, which returns the tensors among the results.
"""
Prepare = Callable[[Workload], Bind]
"""Function that compiles a workload, or arranges that its first call compiles it."""

OURS = "ours"
EAGER = "eager"


def use_precision(word: str = "highest") -> None:
    """
    Set the precision of float32 products in PyTorch. Convolutions may use TF32 unless the word is
    `highest`.
    """
    import torch

    torch.set_float32_matmul_precision(word)
    torch.backends.cudnn.allow_tf32 = word != "highest"


def float32_settings() -> dict[str, Any]:
    """Return PyTorch's current settings for float32 products in this process."""
    import torch

    return {
        "matmul": torch.get_float32_matmul_precision(),
        "matmul.allow_tf32": torch.backends.cuda.matmul.allow_tf32,
        "cudnn.allow_tf32": torch.backends.cudnn.allow_tf32,
    }


def allows_tf32(settings: Mapping[str, Any]) -> bool:
    """True if `settings`, as `float32_settings` returns them, allow TF32 in matrix products."""
    is_high = settings.get("matmul", "highest") in ("high", "medium")
    return is_high or bool(settings.get("matmul.allow_tf32", False))


def forget_compiled() -> None:
    """Reset `torch.compile`, so that one workload does not influence the next."""
    import torch._dynamo

    torch._dynamo.reset()  # pyright: ignore[reportUnknownMemberType]


class Compiled(NamedTuple):
    """Program as Tilewright has compiled it: launch plan, Kernel IR and CUDA IR."""

    plan: Plan
    kernel_ir: ModuleOp
    cuda_ir: ModuleOp


class Ours:
    """Contestant Tilewright, on a driver, with the schedules in the database `db`."""

    def __init__(self, driver: Driver, target: str, db: Db = True):
        self.driver, self.target = driver, target
        self._db = db
        self._last: tuple[Workload, Compiled] | None = None

    def compiled(self, workload: Workload) -> Compiled:
        """Return the compiled workload; the last one is cached."""
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
            # A plan keeps one copy of its permuted parameters, so each copy of the inputs needs its
            # own.
            loaded = LoadedPlan(plan, self.driver, self.target) if plan.permuted else shared
            return lambda: loaded(inputs.values)

        return bind


def eager(workload: Workload) -> Bind:
    """Return a function that binds inputs to calls in PyTorch's eager mode."""
    return flat(workload, workload.function)


def compiled(mode: str | None) -> Prepare:
    """Return a contestant that compiles with `torch.compile` in this mode."""

    def prepare(workload: Workload) -> Bind:
        import torch

        function = torch.compile(  # pyright: ignore[reportUnknownMemberType]
            workload.function, mode=mode, dynamic=False
        )
        return flat(workload, function)

    return prepare


def flat(workload: Workload, function: Callable[..., Any]) -> Bind:
    """Return a function that binds inputs to calls of `function`, a variant of the workload's."""
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
"""Competitors of Tilewright, by the names that `--backends` accepts."""
