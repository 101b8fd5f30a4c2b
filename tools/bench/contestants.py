# SPDX-License-Identifier: Apache-2.0
"""
Who computes a workload: ours, PyTorch's eager mode, and what `torch.compile` makes of it.

All are measured as CUDA graphs that we capture. So `max-autotune` is asked for without the CUDA
graphs that it brings itself: these would copy their inputs into place first, which costs it time
that is none of its kernels'. float32 is float32 for all: TF32 is off.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.runtime.driver import Driver
from tilewright.codegen.runtime.loaded_plan import LoadedPlan
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.tools.bench.workload import Inputs, Workload

Compute = Callable[[Inputs], list[Any]]
"""The tensors among the results of a call, flat."""
Prepare = Callable[[Workload], Compute]
"""Compiles a workload, or sees that it will be at the first call."""

OURS = "ours"
EAGER = "eager"


def use_float32() -> None:
    """No TF32 in PyTorch, neither in matrix products nor in convolutions."""
    import torch

    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def forget_compiled() -> None:
    """Let `torch.compile` start anew: what one workload taught it is none of the next one's."""
    import torch._dynamo

    torch._dynamo.reset()  # pyright: ignore[reportUnknownMemberType]


def ours(driver: Driver, target: str) -> Prepare:
    """Tilewright, on a driver."""

    def prepare(workload: Workload) -> Compute:
        plan = plan_of(lower_to_cuda(workload.captured.module, target))
        loaded = LoadedPlan(plan, driver, target)
        return lambda inputs: loaded(workload.values(inputs))

    return prepare


def eager(workload: Workload) -> Compute:
    """PyTorch's own kernels."""
    return _flat(workload, workload.function)


def compiled(mode: str | None) -> Prepare:
    """PyTorch's compiler in one of its modes."""

    def prepare(workload: Workload) -> Compute:
        import torch

        function = torch.compile(  # pyright: ignore[reportUnknownMemberType]
            workload.function, mode=mode, dynamic=False
        )
        return _flat(workload, function)

    return prepare


def _flat(workload: Workload, function: Callable[..., Any]) -> Compute:
    def compute(inputs: Inputs) -> list[Any]:
        import torch
        from torch.utils import _pytree as pytree

        leaves = pytree.tree_leaves(function(*workload.arguments(inputs)))
        return [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]

    return compute


BACKENDS: Mapping[str, Prepare] = {
    EAGER: eager,
    "compile": compiled(None),
    "max-autotune": compiled("max-autotune-no-cudagraphs"),
}
"""Those that ours can be compared with, by the names that `--backends` takes."""
