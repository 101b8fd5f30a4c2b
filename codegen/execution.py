# SPDX-License-Identifier: Apache-2.0
"""
Execution of a launch plan on a device, through the interface `Backend`.

The simulator (`simulator_backend.py`) and a GPU (`runtime/`) implement it.
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
from tilewright.matrix_sums import MatrixSums


class Backend(Protocol):
    """A device that runs launch plans on NumPy arrays."""

    @property
    def name(self) -> str:
        """Name of the device, as the option `--device` takes it."""
        ...

    def run(self, plan: Plan, inputs: Sequence[Array]) -> Execution:
        """Run all launches of the plan. `inputs` match `plan.inputs` and are not modified."""
        ...


RunTensors = Callable[[Sequence[Any]], list[Any]]
"""
A function that queues all launches of a plan on tensors, and returns the results as tensors on the
device.
"""


@runtime_checkable
class TensorBackend(Backend, Protocol):
    """A device that runs launch plans on PyTorch tensors in its own memory."""

    @property
    def device(self) -> str:
        """Name of the device in PyTorch, as `cuda:0`."""
        ...

    def load(self, plan: Plan) -> RunTensors:
        """
        Load a plan on the device. Return a function that runs the plan on tensors that match
        `plan.inputs`.
        """
        ...


def runner(plan: Plan, backend: Backend) -> RunTensors:
    """
    Return a function that runs a plan on tensors or arrays. Its results are tensors on a GPU, and
    arrays on the simulator. The function raises `TilewrightError` if the simulator finds a problem
    in a kernel.
    """
    if isinstance(backend, TensorBackend):
        loaded = backend.load(plan)
        return lambda values: loaded([tensor_of(value) for value in values])

    def simulated(values: Sequence[Any]) -> list[Any]:
        execution = backend.run(plan, [as_array(value) for value in values])
        if execution.problems:
            first = execution.problems[0]
            raise TilewrightError(f"kernel '{first.kernel}' fails: {first.message}")
        return execution.results

    return simulated


def backend_for(
    device: str, target: str, blocks: int | None = None, matrix_sums: MatrixSums | None = None
) -> Backend:
    """
    Return the backend that `device` (auto, gpu or sim) names, for code compiled for `target`.

    `auto` is a GPU that runs code for `target`, if there is one, and `blocks` and `matrix_sums` are
    None; else the simulator. The simulator runs at most about `blocks` blocks of a kernel; a GPU
    runs all. `matrix_sums` is the model by which the simulator computes sums in matrix
    instructions. Raises `UsageError` for an unknown device, and `TilewrightError` if `device` is
    `gpu` and there is no GPU.
    """
    if device not in ("auto", "gpu", "sim"):
        raise UsageError(f"unknown device '{device}'", remedy="devices: auto, gpu, sim")
    if device == "gpu" and blocks is not None:
        raise UsageError("a GPU runs all blocks", remedy="use --blocks with --device sim")
    if device == "gpu" and matrix_sums is not None:
        raise UsageError(
            "a GPU computes sums by its own arithmetic",
            remedy="use --matrix-sums with --device sim",
        )
    is_simulated = device == "sim" or blocks is not None or matrix_sums is not None
    if device == "gpu" or (not is_simulated and _gpu_runs(target)):
        # This imports PyTorch, which takes long.
        from tilewright.codegen.runtime.gpu_backend import GpuBackend

        return GpuBackend(target)
    sums = MatrixSums.ROUNDED_ONCE if matrix_sums is None else matrix_sums
    return SimulatorBackend(target, blocks=blocks, matrix_sums=sums)


def _gpu_runs(target: str) -> bool:
    """True if a GPU is present that runs code for `target`, and PyTorch can use it."""
    if (gpu := present_gpu()) is None or gpu.target != target:
        return False
    from tilewright.codegen.runtime.gpu_backend import reason_against_gpu

    return reason_against_gpu() is None
