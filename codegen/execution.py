# SPDX-License-Identifier: Apache-2.0
"""
Running a launch plan on a device: one interface, `Backend`, behind which are the simulator
(`simulator_backend.py`) and a GPU (`runtime/`).
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

from tilewright.arrays import as_array, tensor_of
from tilewright.codegen.gpu import present_gpu
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.outcome import Execution
from tilewright.codegen.poison import Array
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.errors import TilewrightError, UsageError


class Backend(Protocol):
    """A device that runs plans."""

    @property
    def name(self) -> str:
        """How `--device` calls it."""
        ...

    def run(self, plan: Plan, inputs: Sequence[Array]) -> Execution:
        """Run all launches. `inputs` are as `plan.inputs` says, and are left as they are."""
        ...


RunTensors = Callable[[Sequence[Any]], list[Any]]
"""Queues all launches on tensors; gives new tensors for the results, on the device."""


@runtime_checkable
class TensorBackend(Backend, Protocol):
    """A device that takes PyTorch's tensors as they lie there."""

    @property
    def device(self) -> str:
        """What PyTorch calls it."""
        ...

    def load(self, plan: Plan) -> RunTensors:
        """Return a plan on the device: what it takes is as `plan.inputs` says."""
        ...


def runner(plan: Plan, backend: Backend) -> RunTensors:
    """
    Return a plan on a device as a function of tensors or arrays, which it gives back as the device
    does: tensors of a GPU, arrays of the simulator. Raises `TilewrightError` for a kernel that
    fails.
    """
    if isinstance(backend, TensorBackend):
        loaded = backend.load(plan)
        return lambda values: loaded([tensor_of(value) for value in values])

    def simulated(values: Sequence[Any]) -> list[Any]:
        execution = backend.run(plan, [as_array(value) for value in values])
        if execution.problems:
            first = execution.problems[0]
            raise TilewrightError(f"kernel '{first.kernel}' is wrong: {first.message}")
        return execution.results

    return simulated


def backend_for(device: str, target: str, blocks: int | None = None) -> Backend:
    """
    Return the backend that `device` (auto, gpu or sim) names, for code made for `target`.

    The simulator runs at most about `blocks` blocks of a kernel; a GPU runs all. Raises
    `TilewrightError` where there is no GPU, but it is asked for.
    """
    if device not in ("auto", "gpu", "sim"):
        raise UsageError(f"unknown device '{device}'", remedy="devices: auto, gpu, sim")
    if device == "gpu" and blocks is not None:
        raise UsageError("a GPU runs all blocks", remedy="--blocks goes with --device sim")
    if device == "gpu" or (device == "auto" and blocks is None and _gpu_runs(target)):
        # It comes with PyTorch, which to load takes long.
        from tilewright.codegen.runtime.gpu_backend import GpuBackend

        return GpuBackend(target)
    return SimulatorBackend(target, blocks=blocks)


def _gpu_runs(target: str) -> bool:
    """True if a GPU is present that runs code for `target`, and PyTorch can use it."""
    if (gpu := present_gpu()) is None or gpu.target != target:
        return False
    from tilewright.codegen.runtime.gpu_backend import reason_against_gpu

    return reason_against_gpu() is None
