# SPDX-License-Identifier: Apache-2.0
"""Execution of launch plans on a GPU, with tensors or NumPy arrays."""

from collections.abc import Callable, Mapping, Sequence

from tilewright.arrays import array_of, tensor_of
from tilewright.codegen.gpu import present_gpu
from tilewright.codegen.launch_plan import Launch, Plan
from tilewright.codegen.outcome import Execution, KernelReport
from tilewright.codegen.poison import Array
from tilewright.codegen.runtime import bindings_driver, pycuda_driver
from tilewright.codegen.runtime.bindings_driver import BindingsDriver
from tilewright.codegen.runtime.cuda_driver import CudaDriver
from tilewright.codegen.runtime.driver import Driver
from tilewright.codegen.runtime.loaded_plan import LoadedPlan
from tilewright.codegen.runtime.pycuda_driver import PycudaDriver
from tilewright.codegen.simulator import Counters
from tilewright.errors import TilewrightError


class GpuBackend:
    """
    The device `gpu`, which runs plans with `driver`: by default the best installed one, on
    PyTorch's current GPU.

    The simulator is a driver too: `GpuBackend(target, SimulatedDriver())`.
    """

    name = "gpu"

    def __init__(self, target: str, driver: Driver | None = None):
        self.target = target
        self.driver = driver or gpu_driver()

    def __repr__(self) -> str:
        return f"<GpuBackend {self.target}>"

    @property
    def device(self) -> str:
        """PyTorch's name of the device."""
        return self.driver.device

    def run(self, plan: Plan, inputs: Sequence[Array]) -> Execution:
        """
        Run all launches, and wait for each. Raises `DriverError`, which names the kernel that
        failed.
        """
        plan.check_inputs(list(inputs))
        written = plan.written
        tensors = [tensor_of(a.copy() if n in written else a) for n, a in enumerate(inputs)]
        results = self.load(plan)(tensors, step_by_step=True)
        kernels = [_uncounted(launch) for launch in plan.launches]
        return Execution([array_of(result) for result in results], kernels)

    def load(self, plan: Plan) -> LoadedPlan:
        """Load a plan's kernels on the GPU. Return a function that runs the plan on tensors."""
        return LoadedPlan(plan, self.driver, self.target)


def _uncounted(launch: Launch) -> KernelReport:
    return KernelReport(launch, 0, Counters(()), (), launch.grid, is_counted=False)


DRIVERS: Mapping[str, type[CudaDriver]] = {
    kind.name: kind for kind in (PycudaDriver, BindingsDriver, CudaDriver)
}
"""Drivers for a GPU by name, in order of preference."""
_IS_IMPORTABLE: Mapping[str, Callable[[], bool]] = {
    PycudaDriver.name: pycuda_driver.is_importable,
    BindingsDriver.name: bindings_driver.is_importable,
}
"""
Functions that return True if a Python package works here, by the name of the driver that needs the
package.
"""


def is_installed(driver: str) -> bool:
    """True if the Python package of one of `DRIVERS` works here, or the driver needs none."""
    return driver not in _IS_IMPORTABLE or _IS_IMPORTABLE[driver]()


def best_driver() -> str:
    """Return the name of the first of `DRIVERS` that is installed."""
    return next(filter(is_installed, DRIVERS))


def gpu_driver() -> Driver:
    """
    Return the best installed driver for the GPU that is PyTorch's current device.

    Raises `TilewrightError` if PyTorch can use no GPU.
    """
    if (reason := reason_against_gpu()) is not None:
        raise TilewrightError(f"there is no GPU to run on: {reason}", remedy="use the device sim")
    import torch

    return DRIVERS[best_driver()](torch.cuda.current_device())


def reason_against_gpu() -> str | None:
    """Reason why nothing can run on a GPU here, or None."""
    if present_gpu() is None:
        return "NVIDIA's driver finds none"
    import torch

    if torch.version.cuda is None:
        return "this build of PyTorch is for CPUs only"
    return None if torch.cuda.is_available() else "PyTorch cannot use it"
