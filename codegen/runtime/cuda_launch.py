# SPDX-License-Identifier: Apache-2.0
"""Launches and fills by the driver API, bound to their arguments."""

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.runtime.cuda_graph import KernelNode, MemsetNode
from tilewright.codegen.runtime.fill_pattern import Words
from tilewright.codegen.runtime.libcuda import Handle, LibCuda, launch_config

_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 0  # CU_LAUNCH_PARAM_*
_MEMSETS = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}
_MEMSET_ROWS = "cuMemsetD2D32Async"


class CudaLaunch:
    """
    A launch with its arguments packed, as cuLaunchKernelEx takes them in its `extra`. (It takes
    fewer parameters than cuLaunchKernel, and each costs ctypes time.)

    Reference: CUDA driver API, cuLaunchKernel: CU_LAUNCH_PARAM_BUFFER_POINTER.
    """

    def __init__(self, lib: LibCuda, function: Handle, launch: Launch, packed: bytes):
        self.name = f"kernel '{launch.kernel}'"
        self._launch = launch
        self._lib = lib
        self._function = function
        self._packed = packed
        self._size = ctypes.c_size_t(len(packed))
        address = ctypes.cast(ctypes.c_char_p(packed), Handle).value
        size = ctypes.addressof(self._size)
        self.extra = (Handle * 5)(_BUFFER_POINTER, address, _BUFFER_SIZE, size, _END)
        self._config = launch_config(launch)
        self._stream = 0
        launch_kernel = lib.library.cuLaunchKernelEx
        config = ctypes.byref(self._config)
        self._call = partial(launch_kernel, config, function, None, self.extra)

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
            extra=ctypes.addressof(self.extra),
        )
        return [node]


class CudaFill:
    """A fill."""

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
