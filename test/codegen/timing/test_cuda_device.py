# SPDX-License-Identifier: Apache-2.0
"""Calls of PyTorch and of the driver while a GPU is measured, in order."""

import ctypes
from collections.abc import Callable
from typing import Any, cast
from unittest.mock import Mock

import pytest
import torch

from tilewright.codegen.runtime.driver import DriverError
from tilewright.codegen.runtime.libcuda import LibCuda
from tilewright.codegen.timing import cuda_device
from tilewright.codegen.timing.cuda_device import CudaDevice, EventTimer, peaks
from tilewright.dialects.target import target

H100 = {16: 132, 13: 1_980_000, 36: 2_619_000, 37: 5120, 38: 50 * 2**20}
"""Attributes that the driver of an H100 SXM reports, by CUdevice_attribute."""


class Driver:
    """Stand-in for a driver that reports the attributes of a GPU."""

    def __init__(self, attributes: dict[int, int]):
        self.attributes = attributes

    def call(self, what: str, function: str, result: Any, number: int, *device: Any) -> None:
        value = ctypes.cast(result, ctypes.POINTER(ctypes.c_int))
        value[0] = self.attributes.get(number, 0) if function == "cuDeviceGetAttribute" else number


def driver(attributes: dict[int, int]) -> LibCuda:
    """Return a stand-in driver with the type that our code expects."""
    return cast(LibCuda, Driver(attributes))


def test_peaks_are_those_of_the_gpu_that_is_present() -> None:
    h100 = peaks(driver(H100), 0, target("sm_90a"))
    assert h100.flops == pytest.approx(66.9e12, rel=1e-3)
    assert h100.bandwidth == pytest.approx(3.352e12, rel=1e-3)
    assert h100.tensor_flops == pytest.approx(16 * h100.flops)
    # The H200 has the same architecture, with more bandwidth than the H100's data sheet states.
    h200 = peaks(driver({**H100, 36: 3_201_000, 37: 6144}), 0, target("sm_90a"))
    assert h200.bandwidth == pytest.approx(4.917e12, rel=1e-3)


def test_peaks_fall_back_to_those_of_the_target() -> None:
    known = target("sm_90a")
    fallback = (known.flops, known.bandwidth, known.tensor_flops)
    assert peaks(driver({}), 0, known) == pytest.approx(fallback)


class Torch:
    """Stand-in for `torch.cuda` that logs its calls."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.log: list[str] = []
        self.events = 0
        given: dict[str, Callable[..., Any]] = {
            "current_device": lambda: 0,
            "get_device_name": lambda *_: "a GPU",
            "synchronize": self.logs("synchronize"),
            "current_stream": lambda: self,
            "set_stream": self.logs("set_stream"),
            "Stream": lambda: self,
            "stream": lambda *_: self.inside("side"),
            "CUDAGraph": lambda: self,
            "graph": lambda *_: self.inside("capture"),
            "Event": self.event,
        }
        for name, value in given.items():
            monkeypatch.setattr(torch.cuda, name, value)

    def logs(self, what: str) -> Callable[..., None]:
        return lambda *_: self.log.append(what)

    def wait_stream(self, other: Any) -> None:
        self.log.append("wait_stream")

    def replay(self) -> None:
        self.log.append("replay")

    def inside(self, what: str) -> Any:
        log = self.log

        class Block:
            def __enter__(self) -> None:
                log.append(f"<{what}")

            def __exit__(self, *_: object) -> None:
                log.append(f"{what}>")

        return Block()

    def event(self, enable_timing: bool) -> Any:
        assert enable_timing
        self.events += 1
        number, log = self.events, self.log

        class Event:
            def record(self) -> None:
                log.append(f"event {number}")

            def elapsed_time(self, end: Any) -> float:
                return 0.25  # milliseconds

        return Event()


class Buffer:
    """Buffer whose read evicts everything else from the cache."""

    def __init__(self, log: list[str]):
        self.log = log

    def amax(self) -> None:
        self.log.append("flush")


@pytest.mark.parametrize("flush", [True, False])
def test_the_flush_is_outside_of_the_time(flush: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Torch(monkeypatch)
    timer = EventTimer(Buffer(asked.log), flush)
    assert timer.times([asked.logs("a"), asked.logs("b")]) == [250.0, 250.0]
    assert asked.log == [
        *("flush", "event 1", "a", "event 2"),  # the first flush gives the host a lead
        *(["flush"] if flush else []),
        *("event 3", "b", "event 4"),
        "synchronize",
    ]


def test_calls_are_made_before_they_are_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Torch(monkeypatch)
    monkeypatch.setattr(cuda_device, "libcuda", lambda: driver(H100))
    monkeypatch.setattr(torch, "zeros", Mock())
    device = CudaDevice(target("sm_90a"))
    assert (device.name, device.torch_device, device.l2_bytes) == ("a GPU", "cuda:0", 50 * 2**20)

    def call(name: str) -> Callable[[], list[str]]:
        return lambda: [asked.log.append(name) or name]

    recording = device.record([call("a"), call("b")])
    assert recording.outputs == [["a"], ["b"]]
    assert asked.log == [
        *("wait_stream", "<side", "a", "b", "a", "b", "side>", "wait_stream", "synchronize"),
        *("<capture", "a", "b", "capture>", "set_stream"),
    ]
    recording.replay()
    assert asked.log[-1] == "replay"


class Capture:
    """Capture that cannot end, as PyTorch's after a failure in it."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        raise RuntimeError("operation failed due to a previous error during capture")


def test_the_first_error_of_a_capture_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Torch(monkeypatch)
    monkeypatch.setattr(cuda_device, "libcuda", lambda: driver(H100))
    monkeypatch.setattr(torch, "zeros", Mock())
    monkeypatch.setattr(torch.cuda, "graph", Mock(return_value=Capture()))
    asked_before: list[int] = []

    def call() -> list[Any]:
        asked_before.append(1)
        if len(asked_before) > 2:  # the first two calls warm up
            raise DriverError("kernel 'x' cannot be launched")
        return []

    device = CudaDevice(target("sm_90a"))
    with pytest.raises(DriverError, match=r"^kernel 'x' cannot be launched$"):
        device.record([call])
    assert asked.log[-1] == "set_stream"
    with pytest.raises(RuntimeError, match="previous error during capture"):
        device.record([list[Any]])
