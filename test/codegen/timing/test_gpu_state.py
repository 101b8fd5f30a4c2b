# SPDX-License-Identifier: Apache-2.0
"""State of a GPU from NVML: the queries, their answers and refusals."""

import ctypes
from collections.abc import Callable
from typing import Any, cast

import pytest

from tilewright.codegen.runtime.libcuda import LibCuda
from tilewright.codegen.timing import gpu_state
from tilewright.codegen.timing.gpu_state import Nvml, bus_id, state

NOT_SUPPORTED = 3
ANSWERS = {
    ("nvmlDeviceGetClockInfo", 1): 1755,
    ("nvmlDeviceGetClockInfo", 2): 2619,
    ("nvmlDeviceGetPowerUsage",): 612_500,
    ("nvmlDeviceGetEnforcedPowerLimit",): 700_000,
    ("nvmlDeviceGetTemperature", 0): 61,
    ("nvmlDeviceGetCurrentClocksThrottleReasons",): 0x4 | 0x1 | 0x40,
}


class Library:
    """Stand-in for NVML that answers queries of one GPU from a table."""

    def __init__(self, answers: dict[tuple[Any, ...], int], known: bytes = b"0000:1B:00.0"):
        self._answers, self._known = answers, known

    def nvmlInit_v2(self) -> int:
        return 0

    def nvmlDeviceGetHandleByPciBusId_v2(self, place: bytes, handle: Any) -> int:
        ctypes.cast(handle, ctypes.POINTER(ctypes.c_void_p))[0] = 7
        return 0 if place == self._known else NOT_SUPPORTED

    def __getattr__(self, name: str) -> Any:
        if name not in {function for function, *_ in ANSWERS}:
            raise AttributeError(name)

        def query(handle: ctypes.c_void_p, *given: Any) -> int:
            *arguments, result = given
            assert handle.value == 7
            if (answer := self._answers.get((name, *arguments))) is None:
                return NOT_SUPPORTED
            wide = name.endswith("Reasons")
            if wide:
                ctypes.cast(result, ctypes.POINTER(ctypes.c_ulonglong))[0] = answer
            else:
                ctypes.cast(result, ctypes.POINTER(ctypes.c_uint))[0] = answer
            return 0

        return query


def test_reported_values() -> None:
    assert Nvml(Library(ANSWERS), b"0000:1B:00.0").state() == {
        "sm_mhz": 1755,
        "memory_mhz": 2619,
        "watts": 612.5,
        "limit_watts": 700.0,
        "celsius": 61,
        "slowed_by": ["power cap", "hardware thermal slowdown"],
    }


def test_refused_queries_are_unknown() -> None:
    found = Nvml(Library({("nvmlDeviceGetClockInfo", 1): 1980}), b"0000:1B:00.0").state()
    assert found["sm_mhz"] == 1980
    assert found["slowed_by"] == []
    assert {found[name] for name in ("memory_mhz", "watts", "limit_watts", "celsius")} == {None}


class Driver:
    """Stand-in for a driver that knows the PCI bus id of GPU 2."""

    def call(self, what: str, function: str, result: Any, *rest: Any) -> None:
        if function == "cuDeviceGet":
            ctypes.cast(result, ctypes.POINTER(ctypes.c_int))[0] = 40 + rest[0]
            return
        assert function == "cuDeviceGetPCIBusId"
        assert rest[1].value == 42
        result.value = b"0000:1B:00.0"


def loading(known: bytes) -> Callable[[str], Library]:
    """Return a `CDLL` that loads a stand-in for NVML, which knows one GPU."""
    return lambda path: Library(ANSWERS, known)


def test_a_gpu_is_found_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = cast(LibCuda, Driver())
    assert bus_id(driver, 2) == b"0000:1B:00.0"
    gpu_state._nvml.cache_clear()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(ctypes, "CDLL", loading(b"0000:1B:00.0"))
    assert state(driver, 2)["watts"] == 612.5
    gpu_state._nvml.cache_clear()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(ctypes, "CDLL", loading(b"another"))
    assert state(driver, 2) == {}


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu_state._nvml.cache_clear()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(gpu_state, "LIBRARY", "libno-such-library.so.1")
    assert state(cast(LibCuda, Driver()), 2) == {}
