# SPDX-License-Identifier: Apache-2.0
"""
Where kernels run: a GPU, or the simulator in its place.

All that is checked goes through `GpuBackend`, so that the same checks run without a GPU.
"""

from dataclasses import dataclass
from typing import Any

from tilewright.codegen.gpu import target_for
from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.codegen.runtime.gpu_backend import DRIVERS, GpuBackend
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver

DEVICES = ("gpu", *DRIVERS, "simulator")
"""The GPU by the best driver that there is, or by one of them; or the simulator."""


@dataclass(frozen=True)
class Device:
    """A device by name."""

    name: str

    @property
    def is_gpu(self) -> bool:
        """True if it is not the simulator."""
        return self.name != "simulator"

    @property
    def target(self) -> str:
        """What to compile for."""
        return target_for(None) if self.is_gpu else DEFAULT_TARGET

    @property
    def place(self) -> str:
        """Where its tensors lie, as PyTorch says it."""
        return "cuda" if self.is_gpu else "cpu"

    def backend(self) -> GpuBackend:
        """Raises `TilewrightError` where there is no such device."""
        if self.name == "gpu":
            return GpuBackend(self.target)
        driver = DRIVERS[self.name] if self.is_gpu else SimulatedDriver
        return GpuBackend(self.target, driver())

    def program(self, function: Any, *inputs: Any) -> Any:
        """`tilewright.compile` for this device."""
        from tilewright.api import CompiledProgram, capture

        return CompiledProgram(capture(function, *inputs), self.backend(), self.target)

    def synchronize(self) -> None:
        """Wait for what is queued, so that its errors show here."""
        import torch

        if self.is_gpu:
            torch.cuda.synchronize()
