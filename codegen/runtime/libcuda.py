# SPDX-License-Identifier: Apache-2.0
"""
NVIDIA's driver API through ctypes: those of its functions that the runtime calls.

Handles and addresses are `c_void_p`; a status other than 0 becomes a `DriverError`. Where the API
has versions of a function, the names here are those that `cuda.h` of CUDA 13 gives them.
Reference: CUDA driver API, https://docs.nvidia.com/cuda/cuda-driver-api/.
"""

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

from tilewright.codegen.launch_plan import Launch, MapOf
from tilewright.codegen.runtime.driver import DriverError, Memory
from tilewright.codegen.runtime.tensor_map import MAP_BYTES, encoding

LIBRARY = "libcuda.so.1"

REGISTERS, LOCAL_BYTES, MAX_DYNAMIC_SHARED_BYTES = 4, 3, 8  # CUfunction_attribute
_UNLOADABLE = {200, 209, 218, 222}
"""CUDA_ERROR_INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_PTX, UNSUPPORTED_PTX_VERSION"""
_FAILED_BEFORE = {700, 702, 710, 714, 715, 716, 717, 718, 719}
"""
CUDA_ERROR_ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, ASSERT, HARDWARE_STACK_ERROR, ILLEGAL_INSTRUCTION,
MISALIGNED_ADDRESS, INVALID_ADDRESS_SPACE, INVALID_PC and LAUNCH_FAILED: what kernels do wrong. All
that is asked of the driver after it gives the same status.
"""

Handle = ctypes.c_void_p
Sizes = ctypes.c_uint * 3
Version = tuple[int, int]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig"""

    _fields_ = [
        ("grid", Sizes),
        ("block", Sizes),
        ("shared_bytes", ctypes.c_uint),
        ("stream", Handle),
        ("attributes", Handle),
        ("attribute_count", ctypes.c_uint),
    ]


def launch_config(launch: Launch) -> LaunchConfig:
    """How a launch is, but for its stream. The kernel's text says how large its clusters are."""
    return LaunchConfig((launch.grid, 1, 1), (launch.block, 1, 1), launch.dynamic_shared_bytes)


class LibCuda:
    """The driver's library, initialised."""

    def __init__(self, path: str = LIBRARY):
        try:
            self.library = ctypes.CDLL(path)
        except OSError:
            message = f"running on a GPU needs NVIDIA's driver, and {path} is not found"
            raise DriverError(message, remedy="use the device sim") from None
        self.check(self.library.cuInit(0), "the driver does not start")

    def check(self, status: int, what: str) -> None:
        """Raise `DriverError` unless all went well; `what` failed otherwise."""
        if not status:
            return
        text = self.status_text(status)
        if status in _FAILED_BEFORE:
            remedy = "'tilewright run' waits for each kernel, and names the one that fails"
            message = f"{what}, for a kernel before it has failed: {text}"
            raise DriverError(message, remedy=remedy)
        raise DriverError(f"{what}: {text}")

    def call(self, what: str, function: str, *arguments: Any) -> None:
        """Call a function whose result is a status."""
        self.check(self.function_named(function, what)(*arguments), what)

    def function_named(self, name: str, what: str) -> Any:
        """Return a function that gives a status; `what` needs it."""
        if (function := getattr(self.library, name, None)) is None:
            raise DriverError(f"{what}: the driver has no {name}", remedy="update the driver")
        return function

    def version(self) -> Version:
        """Return the CUDA version that the driver supports, `(13, 0)`."""
        number = ctypes.c_int()
        self.call("the driver's version", "cuDriverGetVersion", ctypes.byref(number))
        return number.value // 1000, number.value % 1000 // 10

    def primary_context(self, ordinal: int) -> Handle:
        """
        Return the context of a device that PyTorch uses too; it is kept until the process ends.
        """
        device, context = ctypes.c_int(), Handle()
        what = f"GPU {ordinal} cannot be used"
        self.call(what, "cuDeviceGet", ctypes.byref(device), ordinal)
        self.call(what, "cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        return context

    def load(self, cubin: bytes, compiled_by: Version) -> Handle:
        """Return a module; `compiled_by` is the version of NVRTC that made the cubin."""
        module = Handle()
        status = self.library.cuModuleLoadData(ctypes.byref(module), cubin)
        self.check_loaded(status, compiled_by)
        return module

    def check_loaded(self, status: int, compiled_by: Version) -> None:
        """Raise `DriverError` unless a module was loaded."""
        if status in _UNLOADABLE and (version := self.version()) < (compiled_by[0], 0):
            raise DriverError(
                "the driver supports CUDA {}.{}, but the kernels are compiled by NVRTC "
                "{}.{}".format(*version, *compiled_by),
                remedy="update the driver, or pip install 'tilewright[cuda12]'",
            )
        self.check(status, "the driver does not load the kernels")

    def function(self, module: Handle, name: str) -> Handle:
        """Return a kernel of a module."""
        function = Handle()
        where = f"kernel '{name}'"
        self.call(where, "cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def attribute(self, function: Handle, attribute: int, what: str) -> int:
        """What the driver knows of a kernel."""
        value = ctypes.c_int()
        self.call(what, "cuFuncGetAttribute", ctypes.byref(value), attribute, function)
        return value.value

    def set_attribute(self, function: Handle, attribute: int, value: int, what: str) -> None:
        """Ask something of the driver for a kernel."""
        self.call(what, "cuFuncSetAttribute", function, attribute, value)

    def active_clusters(self, function: Handle, launch: Launch) -> int | None:
        """
        How many clusters of a launch the GPU holds at a time; None where the driver does not tell:
        whatever is wrong then, the launch will tell it.
        """
        if not hasattr(self.library, "cuOccupancyMaxActiveClusters"):
            return None
        clusters, config = ctypes.c_int(), ctypes.byref(launch_config(launch))
        ask = self.library.cuOccupancyMaxActiveClusters
        return None if ask(ctypes.byref(clusters), function, config) else clusters.value

    def active_blocks(self, function: Handle, launch: Launch) -> int | None:
        """How many of a launch's blocks a multiprocessor holds; None where it is not told."""
        blocks, ask = ctypes.c_int(), self.library.cuOccupancyMaxActiveBlocksPerMultiprocessor
        dynamic = ctypes.c_size_t(launch.dynamic_shared_bytes)
        return None if ask(ctypes.byref(blocks), function, launch.block, dynamic) else blocks.value

    def capture(self, stream: int) -> int:
        """
        Return the number of the capture that a stream takes part in; 0 if it takes part in none.
        """
        status, number = ctypes.c_int(), ctypes.c_ulonglong()
        # Before CUDA 12.3 there is the one that does not tell what edges of the graph carry.
        is_new = hasattr(self.library, "cuStreamGetCaptureInfo_v3")
        self.call(
            "a captured stream",
            "cuStreamGetCaptureInfo_v3" if is_new else "cuStreamGetCaptureInfo_v2",
            Handle(stream),
            ctypes.byref(status),
            ctypes.byref(number),
            *[None] * (4 if is_new else 3),  # the graph, and what the stream's next node depends on
        )
        return number.value if status.value else 0

    def encoded(self, map: MapOf, memory: Memory, what: str) -> bytes:
        """Return a `CUtensorMap` of memory that the GPU can reach; `what` needs it."""
        dtype = memory.type.dtype
        e = encoding(map, dtype.name, dtype.itemsize)
        encoded = _aligned_map()
        self.call(
            f"{what}: the tensor map of {memory.type}, box {list(map.box)}, swizzle {map.swizzle}",
            "cuTensorMapEncodeTiled",
            ctypes.byref(encoded),
            e.dtype,
            len(e.extents),
            Handle(memory.address),
            _array(ctypes.c_uint64, e.extents),
            _array(ctypes.c_uint64, e.strides),
            _array(ctypes.c_uint32, e.box),
            _array(ctypes.c_uint32, [1] * len(e.box)),
            0,  # no interleaving
            e.swizzle,
            e.l2_promotion,
            0,  # zeros outside
        )
        return bytes(encoded)

    def status_text(self, status: int) -> str:
        """Return a status in words."""
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        self.library.cuGetErrorName(status, ctypes.byref(name))
        self.library.cuGetErrorString(status, ctypes.byref(text))
        parts = [(part.value or b"").decode() for part in (name, text)]
        return ", ".join(filter(None, parts)) or f"error {status}"


@cache
def libcuda() -> LibCuda:
    """Return the driver of this machine. Raises `DriverError` where there is none."""
    return LibCuda()


def _array(type: Any, values: Sequence[int]) -> Any:
    return (type * len(values))(*values)


def _aligned_map() -> Any:
    """Room for a tensor map, aligned as `cuda.h` says."""
    memory = (ctypes.c_uint8 * (2 * MAP_BYTES))()
    start = -ctypes.addressof(memory) % MAP_BYTES
    return (ctypes.c_uint8 * MAP_BYTES).from_buffer(memory, start)
