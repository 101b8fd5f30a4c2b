# SPDX-License-Identifier: Apache-2.0
"""
Detection of the GPUs present, through ctypes and their driver, and of the target to compile for.

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
    """A GPU's name and compute capability, as its driver reports them."""

    name: str
    capability: tuple[int, int]

    @property
    def target(self) -> str | None:
        """
        The compilation target for this GPU, as `sm_90a`; None if Tilewright does not support it.
        """
        name = "sm_{}{}".format(*self.capability)
        return next((t for t in TARGETS if t in (name, f"{name}a")), None)


@cache
def present_gpus() -> tuple[Gpu, ...]:
    """Return all GPUs, in the driver's order; empty without a driver."""
    try:
        driver = ctypes.CDLL(_DRIVER)
    except OSError:
        return ()
    count = ctypes.c_int()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return ()
    return tuple(_described(driver, ordinal) for ordinal in range(count.value))


def present_gpu() -> Gpu | None:
    """Return the first GPU; None without a GPU or driver."""
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
    """
    Return the target called `name`. If `name` is None, return the target of the present GPU, else
    `sm_90a`.
    """
    if name is not None:
        return target(name).name
    gpu = present_gpu()
    return (gpu and gpu.target) or DEFAULT_TARGET
