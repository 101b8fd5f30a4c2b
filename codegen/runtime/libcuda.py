# SPDX-License-Identifier: Apache-2.0
"""
Interface to NVIDIA's driver API through ctypes, with the functions that the runtime calls.

Handles and addresses are `c_void_p`; a status that is not 0 becomes a `DriverError`. Of functions
with several versions, the names are those that `cuda.h` of CUDA 13 gives them. Reference: CUDA
driver API, https://docs.nvidia.com/cuda/cuda-driver-api/.
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
"""
Status codes of a cubin that cannot be loaded: CUDA_ERROR_INVALID_IMAGE, NO_BINARY_FOR_GPU,
INVALID_PTX, UNSUPPORTED_PTX_VERSION.
"""
_STICKY_ERRORS = {700, 702, 710, 714, 715, 716, 717, 718, 719}
"""
Status codes of kernels that failed; all later calls of the driver return the same status.

CUDA_ERROR_ILLEGAL_ADDRESS, LAUNCH_TIMEOUT, ASSERT, HARDWARE_STACK_ERROR, ILLEGAL_INSTRUCTION,
MISALIGNED_ADDRESS, INVALID_ADDRESS_SPACE, INVALID_PC and LAUNCH_FAILED.
"""

Handle = ctypes.c_void_p
Sizes = ctypes.c_uint * 3
Version = tuple[int, int]


class LaunchConfig(ctypes.Structure):
    """The C structure CUlaunchConfig."""

    _fields_ = [
        ("grid", Sizes),
        ("block", Sizes),
        ("shared_bytes", ctypes.c_uint),
        ("stream", Handle),
        ("attributes", Handle),
        ("attribute_count", ctypes.c_uint),
    ]


def launch_config(launch: Launch) -> LaunchConfig:
    """
    Return the configuration of a launch for the driver, without its stream.

    The kernel's code fixes the size of its clusters.
    """
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
        """Raise `DriverError` unless `status` is success; the message begins with `what`."""
        if not status:
            return
        text = self.status_text(status)
        if status in _STICKY_ERRORS:
            remedy = "'tilewright run' waits for each kernel, and names the one that fails"
            message = f"{what}, because an earlier kernel failed: {text}"
            raise DriverError(message, remedy=remedy)
        raise DriverError(f"{what}: {text}")

    def call(self, what: str, function: str, *arguments: Any) -> None:
        """Call a function of the driver; raise `DriverError` unless its status is success."""
        self.check(self.function_named(function, what)(*arguments), what)

    def function_named(self, name: str, what: str) -> Any:
        """
        Return a function of the driver by name. If it is missing, raise `DriverError` that begins
        with `what`.
        """
        if (function := getattr(self.library, name, None)) is None:
            raise DriverError(f"{what}: the driver has no {name}", remedy="update the driver")
        return function

    def version(self) -> Version:
        """Return the CUDA version that the driver supports, as `(13, 0)`."""
        number = ctypes.c_int()
        self.call("the driver's version", "cuDriverGetVersion", ctypes.byref(number))
        return number.value // 1000, number.value % 1000 // 10

    def primary_context(self, ordinal: int) -> Handle:
        """
        Return a device's primary context, which PyTorch uses too; it is kept until the process
        ends.
        """
        device, context = ctypes.c_int(), Handle()
        what = f"GPU {ordinal} cannot be used"
        self.call(what, "cuDeviceGet", ctypes.byref(device), ordinal)
        self.call(what, "cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        return context

    def load(self, cubin: bytes, compiled_by: Version) -> Handle:
        """
        Load a cubin and return its module; `compiled_by` is the version of NVRTC that made the
        cubin.
        """
        module = Handle()
        status = self.library.cuModuleLoadData(ctypes.byref(module), cubin)
        self.check_loaded(status, compiled_by)
        return module

    def check_loaded(self, status: int, compiled_by: Version) -> None:
        """
        Raise `DriverError` unless `status`, of loading a cubin, is success. If the driver is older
        than the compiler, the error explains that.
        """
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
        """Return an attribute of a kernel."""
        value = ctypes.c_int()
        self.call(what, "cuFuncGetAttribute", ctypes.byref(value), attribute, function)
        return value.value

    def set_attribute(self, function: Handle, attribute: int, value: int, what: str) -> None:
        """Set an attribute of a kernel."""
        self.call(what, "cuFuncSetAttribute", function, attribute, value)

    def active_clusters(self, function: Handle, launch: Launch) -> int | None:
        """
        Return the number of clusters of a launch that the GPU holds at once.

        Return None if the driver cannot compute the number; the launch itself then reports the
        error.
        """
        if not hasattr(self.library, "cuOccupancyMaxActiveClusters"):
            return None
        clusters, config = ctypes.c_int(), ctypes.byref(launch_config(launch))
        query = self.library.cuOccupancyMaxActiveClusters
        return None if query(ctypes.byref(clusters), function, config) else clusters.value

    def active_blocks(self, function: Handle, launch: Launch) -> int | None:
        """
        Return the number of a launch's blocks that a multiprocessor holds; None if the call fails.
        """
        blocks, query = ctypes.c_int(), self.library.cuOccupancyMaxActiveBlocksPerMultiprocessor
        dynamic = ctypes.c_size_t(launch.dynamic_shared_bytes)
        status = query(ctypes.byref(blocks), function, launch.block, dynamic)
        return None if status else blocks.value

    def capture(self, stream: int) -> int:
        """Return the identifier of the capture that a stream takes part in; 0 without a capture."""
        status, number = ctypes.c_int(), ctypes.c_ulonglong()
        # CUDA before 12.3 has only the version that returns no data of the graph's edges.
        is_new = hasattr(self.library, "cuStreamGetCaptureInfo_v3")
        self.call(
            "a captured stream",
            "cuStreamGetCaptureInfo_v3" if is_new else "cuStreamGetCaptureInfo_v2",
            Handle(stream),
            ctypes.byref(status),
            ctypes.byref(number),
            *[None] * (4 if is_new else 3),  # the graph, and the next node's dependencies
        )
        return number.value if status.value else 0

    def encoded(self, map: MapOf, memory: Memory, what: str) -> bytes:
        """Return the bytes of a `CUtensorMap` for memory of the GPU. Errors begin with `what`."""
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
            0,  # out-of-bounds elements are zero
        )
        return bytes(encoded)

    def status_text(self, status: int) -> str:
        """Return the name and description of a status."""
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        self.library.cuGetErrorName(status, ctypes.byref(name))
        self.library.cuGetErrorString(status, ctypes.byref(text))
        parts = [(part.value or b"").decode() for part in (name, text)]
        return ", ".join(filter(None, parts)) or f"error {status}"


@cache
def libcuda() -> LibCuda:
    """Load the driver of this machine. Raises `DriverError` if there is none."""
    return LibCuda()


def _array(type: Any, values: Sequence[int]) -> Any:
    return (type * len(values))(*values)


def _aligned_map() -> Any:
    """Return memory for a tensor map, aligned as `cuda.h` requires."""
    memory = (ctypes.c_uint8 * (2 * MAP_BYTES))()
    start = -ctypes.addressof(memory) % MAP_BYTES
    return (ctypes.c_uint8 * MAP_BYTES).from_buffer(memory, start)
