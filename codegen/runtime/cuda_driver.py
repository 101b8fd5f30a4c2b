# SPDX-License-Identifier: Apache-2.0
"""The driver `libcuda`: kernels are loaded and launched through the driver API alone."""

import ctypes
import struct
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from tilewright.codegen import nvrtc
from tilewright.codegen.launch_plan import Launch, MapOf
from tilewright.codegen.runtime.cubin_cache import CubinCache
from tilewright.codegen.runtime.cuda_graph import CudaGraph, KernelNode, MemsetNode, Sizes
from tilewright.codegen.runtime.driver import Arguments, Bound, Memory, Module
from tilewright.codegen.runtime.fill_pattern import Words, words_of
from tilewright.codegen.runtime.libcuda import (
    LOCAL_BYTES,
    MAX_DYNAMIC_SHARED_BYTES,
    REGISTERS,
    Handle,
    LibCuda,
    libcuda,
)

_MOST_MAPS = 1024
"""How many encoded tensor maps are kept."""
_BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 0  # CU_LAUNCH_PARAM_*
_MEMSETS = {1: "cuMemsetD8Async", 2: "cuMemsetD16Async", 4: "cuMemsetD32Async"}
_MEMSET_ROWS = "cuMemsetD2D32Async"


class _Config(ctypes.Structure):
    """CUlaunchConfig"""

    _fields_ = [
        ("grid", Sizes),
        ("block", Sizes),
        ("shared_bytes", ctypes.c_uint),
        ("stream", Handle),
        ("attributes", Handle),
        ("attribute_count", ctypes.c_uint),
    ]


class CudaLaunch:
    """
    A launch with its arguments packed, as cuLaunchKernelEx takes them in its `extra`. (It takes
    fewer parameters than cuLaunchKernel, and each costs ctypes time.)

    Reference: CUDA driver API, cuLaunchKernel: CU_LAUNCH_PARAM_BUFFER_POINTER.
    """

    def __init__(self, lib: LibCuda, function: Handle, launch: Launch, packed: bytes):
        self.launch = launch
        self._lib = lib
        self._function = function
        self._packed = packed
        self._size = ctypes.c_size_t(len(packed))
        address = ctypes.cast(ctypes.c_char_p(packed), Handle).value
        size = ctypes.addressof(self._size)
        self._extra = (Handle * 5)(_BUFFER_POINTER, address, _BUFFER_SIZE, size, _END)
        grid, block = (launch.grid, 1, 1), (launch.block, 1, 1)
        self._config = _Config(grid, block, launch.dynamic_shared_bytes)
        self._stream = 0
        launch_kernel = lib.library.cuLaunchKernelEx
        config = ctypes.byref(self._config)
        self._call = partial(launch_kernel, config, function, None, self._extra)

    def __call__(self, stream: int) -> None:
        if stream != self._stream:
            self._stream = self._config.stream = stream
        if status := self._call():
            self._lib.check(status, f"kernel '{self.launch.kernel}' cannot be launched")

    @property
    def nodes(self) -> Sequence[Any]:
        node = KernelNode(
            function=self._function,
            grid=(self.launch.grid, 1, 1),
            block=(self.launch.block, 1, 1),
            shared_bytes=self.launch.dynamic_shared_bytes,
            extra=ctypes.addressof(self._extra),
        )
        return [node]


class CudaFill:
    """A fill."""

    def __init__(self, lib: LibCuda, words: Sequence[Words]):
        self._lib = lib
        self._calls = [_memset(lib, each) for each in words]
        self.nodes: Sequence[Any] = [MemsetNode(*each) for each in words]

    def __call__(self, stream: int) -> None:
        for call in self._calls:
            if status := call(Handle(stream)):
                self._lib.check(status, "a buffer cannot be filled")


def _memset(lib: LibCuda, words: Words) -> Callable[[Handle], int]:
    address, value = Handle(words.address), ctypes.c_uint(words.value)
    width, height = ctypes.c_size_t(words.width), ctypes.c_size_t(words.height)
    if words.height == 1:
        return partial(getattr(lib.library, _MEMSETS[words.size]), address, value, width)
    pitch = ctypes.c_size_t(words.pitch)
    return partial(getattr(lib.library, _MEMSET_ROWS), address, pitch, value, width, height)


class CudaFunction:
    """A kernel."""

    def __init__(self, driver: "CudaDriver", handle: Handle):
        self.handle = handle
        self._driver = driver

    @property
    def registers(self) -> int:
        return self._attribute(REGISTERS)

    @property
    def local_bytes(self) -> int:
        return self._attribute(LOCAL_BYTES)

    def bind(self, launch: Launch, arguments: Arguments) -> CudaLaunch:
        packed = self._driver.packed(arguments)
        return CudaLaunch(self._driver.lib, self.handle, launch, packed)

    def _attribute(self, attribute: int) -> int:
        with self._driver.current():
            return self._driver.lib.attribute(self.handle, attribute)


class CudaModule:
    """A cubin, loaded."""

    def __init__(self, driver: "CudaDriver", cubin: bytes):
        self._driver = driver
        self._handle = driver.lib.load(cubin, nvrtc.version())

    def function(self, name: str, dynamic_shared_bytes: int) -> CudaFunction:
        with self._driver.current():
            return CudaFunction(self._driver, self._handle_of(name, dynamic_shared_bytes))

    def _handle_of(self, name: str, dynamic_shared_bytes: int) -> Handle:
        lib = self._driver.lib
        handle = lib.function(self._handle, name)
        if dynamic_shared_bytes:
            lib.call(
                f"kernel '{name}' with {dynamic_shared_bytes} bytes of dynamic shared memory",
                "cuFuncSetAttribute",
                handle,
                MAX_DYNAMIC_SHARED_BYTES,
                dynamic_shared_bytes,
            )
        return handle


class CudaDriver:
    """
    The GPU of a number, through `libcuda.so.1`, on the context that PyTorch uses.

    `device` is where PyTorch's memory for it lies.
    """

    name = "libcuda"

    def __init__(
        self,
        ordinal: int = 0,
        lib: LibCuda | None = None,
        cache: CubinCache | None = None,
        device: str | None = None,
    ):
        self.lib = lib or libcuda()
        self.ordinal = ordinal
        self.device = device or f"cuda:{ordinal}"
        self._context = self.lib.primary_context(ordinal)
        self._cache = cache or CubinCache()
        self._maps: OrderedDict[tuple[MapOf, Memory], bytes] = OrderedDict()

    def load(self, source: str, target: str) -> Module:
        cubin = self._cache.cubin(source, target)
        with self.current():
            return self._loaded(cubin)

    def _loaded(self, cubin: bytes) -> Module:
        return CudaModule(self, cubin)

    def bind_fill(self, memory: Memory, value: float | int) -> CudaFill:
        return CudaFill(self.lib, words_of(memory, value))

    def graph(self, steps: Sequence[Bound]) -> CudaGraph:
        return CudaGraph(self.lib, self._context, steps)

    def enter(self) -> None:
        self.lib.call("the GPU's context", "cuCtxPushCurrent_v2", self._context)

    def leave(self) -> None:
        self.lib.call("the GPU's context", "cuCtxPopCurrent_v2", ctypes.byref(Handle()))

    @contextmanager
    def current(self) -> Generator[None]:
        """The device, current in this thread; the driver wants one for whatever is a module's."""
        self.enter()
        try:
            yield
        finally:
            self.leave()

    def capture(self, stream: int) -> int:
        return self.lib.capture(stream)

    def synchronize(self, stream: int) -> None:
        self.lib.call("the GPU", "cuStreamSynchronize", Handle(stream))

    def packed(self, arguments: Arguments) -> bytes:
        """The block of parameters: tensor maps at multiples of 64 bytes, then addresses."""
        maps = b"".join(self._encoded(*map) for map in arguments.maps)
        addresses = [memory.address for memory in (*arguments.inputs, *arguments.outputs)]
        return maps + struct.pack(f"={len(addresses)}Q", *addresses)

    def _encoded(self, map: MapOf, memory: Memory) -> bytes:
        """A tensor map; those used last are kept."""
        key = (map, memory)
        if (encoded := self._maps.get(key)) is None:
            encoded = self._maps[key] = self.lib.encoded(map, memory)
            if len(self._maps) > _MOST_MAPS:
                self._maps.popitem(last=False)
        return encoded
