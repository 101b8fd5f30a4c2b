# SPDX-License-Identifier: Apache-2.0
"""
Clocks, power and temperature of a GPU at a moment, from NVIDIA's management library, NVML.

The library comes with the driver. If it is missing or fails, the state is empty; an entry whose
query fails is None. Reference: NVML API Reference Guide, "Device Queries".
"""

import ctypes
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from tilewright.codegen.runtime.libcuda import LibCuda

LIBRARY = "libnvidia-ml.so.1"

State = dict[str, Any]
"""State of a GPU: figures by name, as `Nvml.state` returns them."""

_SM, _MEMORY, _GPU_SENSOR = 1, 2, 0  # nvmlClockType_t, nvmlTemperatureSensors_t
_BUS_ID_BYTES = 64

REASONS: Mapping[int, str] = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}
"""Reasons why the GPU runs at lower clocks than requested, by nvmlClocksEventReason bit."""


class Nvml:
    """Handle of one GPU in NVML."""

    def __init__(self, library: Any, bus_id: bytes):
        """Open the GPU with a bus id. Raises `OSError` if NVML does not know it."""
        self._library = library
        self._device = ctypes.c_void_p()
        for status in (
            library.nvmlInit_v2(),
            library.nvmlDeviceGetHandleByPciBusId_v2(bus_id, ctypes.byref(self._device)),
        ):
            if status:
                raise OSError(f"NVML: status {status}")

    def state(self) -> State:
        """Return the present clocks, power, temperature, and reasons for low clocks."""
        sm = self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, _SM)
        memory = self._number("nvmlDeviceGetClockInfo", ctypes.c_uint, _MEMORY)
        milliwatts = self._number("nvmlDeviceGetPowerUsage", ctypes.c_uint)
        limit = self._number("nvmlDeviceGetEnforcedPowerLimit", ctypes.c_uint)
        celsius = self._number("nvmlDeviceGetTemperature", ctypes.c_uint, _GPU_SENSOR)
        reasons = self._number("nvmlDeviceGetCurrentClocksThrottleReasons", ctypes.c_ulonglong)
        return {
            "sm_mhz": sm,
            "memory_mhz": memory,
            "watts": None if milliwatts is None else milliwatts / 1e3,
            "limit_watts": None if limit is None else limit / 1e3,
            "celsius": celsius,
            "slowed_by": [name for bit, name in REASONS.items() if (reasons or 0) & bit],
        }

    def _number(self, function: str, kind: Callable[[], Any], *arguments: int) -> int | None:
        """
        Return the number that an NVML function reports; None if NVML refuses the query or lacks the
        function.
        """
        query, value = getattr(self._library, function, None), kind()
        if query is None or query(self._device, *arguments, ctypes.byref(value)):
            return None
        return int(value.value)


def state(lib: LibCuda, ordinal: int) -> State:
    """Return the state of the GPU with CUDA's number `ordinal`; empty if NVML cannot report it."""
    try:
        return _nvml(bus_id(lib, ordinal)).state()
    except OSError:
        return {}


@cache
def _nvml(bus_id: bytes) -> Nvml:
    return Nvml(ctypes.CDLL(LIBRARY), bus_id)


def bus_id(lib: LibCuda, ordinal: int) -> bytes:
    """Return the PCI bus id of a GPU, which does not depend on the GPUs that a process sees."""
    device, text = ctypes.c_int(), ctypes.create_string_buffer(_BUS_ID_BYTES)
    what = f"the place of GPU {ordinal}"
    lib.call(what, "cuDeviceGet", ctypes.byref(device), ordinal)
    lib.call(what, "cuDeviceGetPCIBusId", text, _BUS_ID_BYTES, device)
    return text.value
