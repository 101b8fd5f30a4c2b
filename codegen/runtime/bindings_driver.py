# SPDX-License-Identifier: Apache-2.0
"""
The driver `cuda-bindings`, which loads and launches kernels through NVIDIA's own Python bindings.

CUDA builds of PyTorch install these bindings. Graphs and tensor maps, which gain nothing from the
bindings, go through ctypes, with the same handles. Only functions that versions 12 and 13 share are
used. Reference: https://nvidia.github.io/cuda-python/cuda-bindings/latest/module/driver.html.
"""

import ctypes
from functools import partial
from importlib import import_module
from typing import Any

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.runtime.cubin_cache import CubinCache
from tilewright.codegen.runtime.cuda_driver import CudaDriver
from tilewright.codegen.runtime.cuda_launch import CudaLaunch, Parameters
from tilewright.codegen.runtime.driver import Bound
from tilewright.codegen.runtime.libcuda import LIBRARY, Handle, LibCuda, Version

_MODULE = "cuda.bindings.driver"


class BoundLibrary(LibCuda):
    """
    The driver's library, whose functions for kernels are called through NVIDIA's bindings instead
    of ctypes.
    """

    def __init__(self, path: str = LIBRARY):
        super().__init__(path)
        self.cuda: Any = import_module(_MODULE)
        self._result("the driver does not start", self.cuda.cuInit(0))

    def load(self, cubin: bytes, compiled_by: Version) -> Handle:
        status, module = self.cuda.cuModuleLoadData(cubin)
        self.check_loaded(int(status), compiled_by)
        return Handle(int(module))

    def function(self, module: Handle, name: str) -> Handle:
        found = self.cuda.cuModuleGetFunction(module.value, name.encode())
        return Handle(int(self._result(f"kernel '{name}'", found)))

    def attribute(self, function: Handle, attribute: int, what: str) -> int:
        number = self.cuda.CUfunction_attribute(attribute)
        return self._result(what, self.cuda.cuFuncGetAttribute(number, function.value))

    def set_attribute(self, function: Handle, attribute: int, value: int, what: str) -> None:
        number = self.cuda.CUfunction_attribute(attribute)
        self._result(what, self.cuda.cuFuncSetAttribute(function.value, number, value))

    def active_clusters(self, function: Handle, launch: Launch) -> int | None:
        query = self.cuda.cuOccupancyMaxActiveClusters
        status, clusters = query(function.value, self.launch_config(launch))
        return None if status else clusters

    def active_blocks(self, function: Handle, launch: Launch) -> int | None:
        query = self.cuda.cuOccupancyMaxActiveBlocksPerMultiprocessor
        status, blocks = query(function.value, launch.block, launch.dynamic_shared_bytes)
        return None if status else blocks

    def launch_config(self, launch: Launch) -> Any:
        """Return the configuration of a launch for the driver, without its stream."""
        config = self.cuda.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = launch.grid, 1, 1
        config.blockDimX, config.blockDimY, config.blockDimZ = launch.block, 1, 1
        config.sharedMemBytes = launch.dynamic_shared_bytes
        return config

    def _result(self, what: str, answer: tuple[Any, ...]) -> Any:
        """
        Return the result of a call to the driver without its status; raise `DriverError` if the
        status is an error.
        """
        self.check(int(answer[0]), what)
        return answer[1] if len(answer) > 1 else None


class BoundLaunch(CudaLaunch):
    """A launch with its parameters, queued through the bindings."""

    def __init__(self, lib: BoundLibrary, function: Handle, launch: Launch, given: Parameters):
        super().__init__(lib, function, launch, given)
        self._bound = lib.launch_config(launch)
        kernel, pointers = lib.cuda.CUfunction(function.value), ctypes.addressof(given.pointers)
        self._queue = partial(lib.cuda.cuLaunchKernelEx, self._bound, kernel, pointers, 0)

    def __call__(self, stream: int) -> None:
        if stream != self._stream:
            self._stream = self._bound.hStream = stream
        (status,) = self._queue()
        if status:
            self._refused(int(status))


class BindingsDriver(CudaDriver):
    """The GPU with number `ordinal`, through cuda-bindings, in the context that PyTorch uses."""

    name = "cuda-bindings"
    lib: BoundLibrary

    def __init__(
        self,
        ordinal: int = 0,
        lib: BoundLibrary | None = None,
        cache: CubinCache | None = None,
        device: str | None = None,
    ):
        super().__init__(ordinal, lib or BoundLibrary(), cache, device)

    def bind_launch(self, function: Handle, launch: Launch, given: Parameters) -> Bound:
        return BoundLaunch(self.lib, function, launch, given)


def is_importable() -> bool:
    """True if the bindings are installed, and find the driver's library."""
    try:
        cuda: Any = import_module(_MODULE)
        (status,) = cuda.cuInit(0)
    except Exception:  # bindings of another driver fail with exceptions of their own
        return False
    return not status
