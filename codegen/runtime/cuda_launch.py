# SPDX-License-Identifier: Apache-2.0
"""Launches and fills through the driver API, bound to their arguments."""

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.runtime.cuda_graph import KernelNode, MemsetNode
from tilewright.codegen.runtime.fill_pattern import Words
from tilewright.codegen.runtime.libcuda import Handle, LibCuda, launch_config

_MEMSETS = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}
_MEMSET_ROWS = "cuMemsetD2D32Async"


class Parameters:
    """
    Values of a kernel's parameters, tensor maps first, and a pointer to each value.

    Pointers are passed, because only the driver knows the offsets at which a kernel expects its
    parameters. Compilers pad before a tensor map so that it is aligned in the constant bank, not
    among the parameters. Reference: CUDA driver API, cuLaunchKernel: kernelParams.
    """

    def __init__(self, maps: Sequence[bytes], addresses: Sequence[int]):
        self.has_maps = bool(maps)
        self._addresses = addresses
        values: list[Any] = [ctypes.create_string_buffer(map, len(map)) for map in maps]
        values += map(ctypes.c_uint64, addresses)
        self._values = values  # keeps the memory that is pointed to alive
        self.pointers = (Handle * len(values))(*map(ctypes.addressof, values))

    @cached_property
    def packed(self) -> bytes:
        """Bytes of all parameters without gaps; only for kernels without tensor maps."""
        assert not self.has_maps
        return struct.pack(f"={len(self._addresses)}Q", *self._addresses)


class CudaLaunch:
    """
    A launch with its parameters, through cuLaunchKernelEx.

    It takes fewer arguments than cuLaunchKernel, and ctypes needs time for each argument.
    """

    def __init__(self, lib: LibCuda, function: Handle, launch: Launch, parameters: Parameters):
        self.name = f"kernel '{launch.kernel}'"
        self._launch = launch
        self._lib = lib
        self._function = function
        self.parameters = parameters
        self._config = launch_config(launch)
        self._stream = 0
        launch_kernel = lib.library.cuLaunchKernelEx
        config = ctypes.byref(self._config)
        self._call = partial(launch_kernel, config, function, parameters.pointers, None)

    def __call__(self, stream: int) -> None:
        if stream != self._stream:
            self._stream = self._config.stream = stream
        if status := self._call():
            self._refused(status)

    def _refused(self, status: int) -> None:
        self._lib.check(status, f"{self.name} cannot be launched")

    @property
    def nodes(self) -> Sequence[Any]:
        node = KernelNode(
            function=self._function,
            grid=(self._launch.grid, 1, 1),
            block=(self._launch.block, 1, 1),
            shared_bytes=self._launch.dynamic_shared_bytes,
            parameters=ctypes.addressof(self.parameters.pointers),
        )
        return [node]


class CudaFill:
    """A fill of a buffer through the driver's memset functions."""

    def __init__(self, lib: LibCuda, words: Sequence[Words], name: str):
        self.name = name
        self._lib = lib
        self._calls = [_memset(lib, each) for each in words]
        self.nodes: Sequence[Any] = [MemsetNode(*each) for each in words]

    def __call__(self, stream: int) -> None:
        for call in self._calls:
            if status := call(Handle(stream)):
                self._lib.check(status, f"{self.name} cannot be queued")


def _memset(lib: LibCuda, words: Words) -> Callable[[Handle], int]:
    address, value = Handle(words.address), ctypes.c_uint(words.value)
    width, height = ctypes.c_size_t(words.width), ctypes.c_size_t(words.height)
    if words.height == 1:
        return partial(getattr(lib.library, _MEMSETS[words.size]), address, value, width)
    pitch = ctypes.c_size_t(words.pitch)
    return partial(getattr(lib.library, _MEMSET_ROWS), address, pitch, value, width, height)
