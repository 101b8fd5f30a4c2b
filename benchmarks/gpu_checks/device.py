# SPDX-License-Identifier: Apache-2.0
"""
Device that runs kernels: a GPU, or the simulator in its place.

All checks use `GpuBackend`, so that they also run without a GPU.
"""

from dataclasses import dataclass
from typing import Any

from tilewright.codegen.gpu import target_for
from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.codegen.runtime.gpu_backend import DRIVERS, GpuBackend
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver

DEVICES = ("gpu", *DRIVERS, "simulator")
"""
Names of devices: the GPU with the best available driver, the GPU with one driver, or the simulator.
"""


@dataclass(frozen=True)
class Device:
    """Device that runs kernels, selected by name: a GPU with a driver, or the simulator."""

    name: str

    @property
    def is_gpu(self) -> bool:
        """True unless the device is the simulator."""
        return self.name != "simulator"

    @property
    def target(self) -> str:
        """Target to compile for."""
        return target_for(None) if self.is_gpu else DEFAULT_TARGET

    @property
    def place(self) -> str:
        """PyTorch device of the tensors."""
        return "cuda" if self.is_gpu else "cpu"

    def backend(self) -> GpuBackend:
        """Return the backend. Raises `TilewrightError` if the device does not exist."""
        if self.name == "gpu":
            return GpuBackend(self.target)
        driver = DRIVERS[self.name] if self.is_gpu else SimulatedDriver
        return GpuBackend(self.target, driver())

    def program(self, function: Any, *inputs: Any) -> Any:
        """Return `function` compiled for this device, as `tilewright.compile` does it."""
        from tilewright.api import CompiledProgram, capture

        return CompiledProgram(capture(function, *inputs), self.backend(), self.target)

    def synchronize(self) -> None:
        """Wait for queued work, so that its errors are raised here."""
        import torch

        if self.is_gpu:
            torch.cuda.synchronize()
