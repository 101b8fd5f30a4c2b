# SPDX-License-Identifier: Apache-2.0
"""
Which GPUs are present, asked of their driver through ctypes; and the target to compile for.

Reference: CUDA driver API, sections "Initialization" and "Device Management".
"""

import ctypes
from dataclasses import dataclass
from functools import cache

from tilewright.dialects.target import DEFAULT_TARGET, TARGETS, target

_DRIVER = "libcuda.so.1"
_COMPUTE_CAPABILITY_MAJOR, _COMPUTE_CAPABILITY_MINOR = 75, 76  # CUdevice_attribute


@dataclass(frozen=True)
class Gpu:
    """A GPU as its driver describes it."""

    name: str
    capability: tuple[int, int]

    @property
    def target(self) -> str | None:
        """What to compile for, `sm_90a`; None if we know no such target."""
        name = "sm_{}{}".format(*self.capability)
        return next((t for t in TARGETS if t in (name, f"{name}a")), None)


@cache
def present_gpus() -> tuple[Gpu, ...]:
    """Return all GPUs, in the order of the driver; none where there is no driver."""
    try:
        driver = ctypes.CDLL(_DRIVER)
    except OSError:
        return ()
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return ()
    return tuple(_described(driver, ordinal) for ordinal in range(count.value))


def present_gpu() -> Gpu | None:
    """Return the first GPU; None where there is none, or no driver."""
    return next(iter(present_gpus()), None)


def _described(driver: ctypes.CDLL, ordinal: int) -> Gpu:
    device = ctypes.c_int()
    driver.cuDeviceGet(ctypes.byref(device), ordinal)
    name = ctypes.create_string_buffer(256)
    driver.cuDeviceGetName(name, len(name), device)
    attributes = (_COMPUTE_CAPABILITY_MAJOR, _COMPUTE_CAPABILITY_MINOR)
    major, minor = (_attribute(driver, device, number) for number in attributes)
    return Gpu(name.value.decode(), (major, minor))


def _attribute(driver: ctypes.CDLL, device: ctypes.c_int, number: int) -> int:
    value = ctypes.c_int()
    driver.cuDeviceGetAttribute(ctypes.byref(value), number, device)
    return value.value


def target_for(name: str | None) -> str:
    """`name`, if we know the target; for None that of the GPU present, else `sm_90a`."""
    if name is not None:
        return target(name).name
    gpu = present_gpu()
    return (gpu and gpu.target) or DEFAULT_TARGET
