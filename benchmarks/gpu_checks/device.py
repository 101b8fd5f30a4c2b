# SPDX-License-Identifier: Apache-2.0
"""
Where kernels run: a GPU, or the simulator in its place.

All that is checked goes through `GpuBackend`, so that the same checks run without a GPU.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tilewright.codegen.gpu import target_for
from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.tools.toolkit import use_cuda_home

DEVICES = ("gpu", "libcuda", "pycuda", "simulator")
"""The GPU by the best driver that there is, or by one of two; or the simulator."""


@dataclass(frozen=True)
class Device:
    """A device by name."""

    name: str

    @property
    def is_gpu(self) -> bool:
        """Whether it is not the simulator."""
        return self.name != "simulator"

    @property
    def target(self) -> str:
        """What to compile for."""
        return target_for(None) if self.is_gpu else DEFAULT_TARGET

    @property
    def place(self) -> str:
        """Where its tensors lie, as PyTorch says it."""
        return "cuda" if self.is_gpu else "cpu"

    def backend(self) -> Any:
        """A `GpuBackend`. Raises `TilewrightError` where there is no such device."""
        from tilewright.codegen.runtime.gpu_backend import GpuBackend

        use_cuda_home()
        return GpuBackend(self.target, None if self.name == "gpu" else _DRIVERS[self.name]())

    def program(self, function: Any, *inputs: Any) -> Any:
        """`tilewright.compile` for this device."""
        from tilewright.api import CompiledProgram, capture

        return CompiledProgram(capture(function, *inputs), self.backend(), self.target)

    def synchronize(self) -> None:
        """Wait for what is queued, so that its errors show here."""
        import torch

        if self.is_gpu:
            torch.cuda.synchronize()


def _libcuda() -> Any:
    from tilewright.codegen.runtime.cuda_driver import CudaDriver

    return CudaDriver()


def _pycuda() -> Any:
    from tilewright.codegen.runtime.pycuda_driver import PycudaDriver

    return PycudaDriver()


def _simulator() -> Any:
    from tilewright.codegen.runtime.simulated_driver import SimulatedDriver

    return SimulatedDriver()


_DRIVERS: dict[str, Callable[[], Any]] = {
    "libcuda": _libcuda,
    "pycuda": _pycuda,
    "simulator": _simulator,
}
