# SPDX-License-Identifier: Apache-2.0
"""
Measurements on a GPU: CUDA graphs, recorded by PyTorch, between two CUDA events.

Reference: CUDA driver API, sections "Device Management" and "Event Management"; PyTorch's notes on
CUDA semantics, "CUDA Graphs".
"""

import ctypes
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from tilewright.codegen.runtime.libcuda import LibCuda, libcuda
from tilewright.codegen.timing import gpu_state
from tilewright.codegen.timing.device import Call, Recording
from tilewright.codegen.timing.roofline import Peaks
from tilewright.codegen.timing.timer import Replay
from tilewright.dialects.target import Target

_SMS, _CLOCK_KHZ, _MEMORY_CLOCK_KHZ, _BUS_BITS, _L2_BYTES = 16, 13, 36, 37, 38
"""Numbers of CUDA's device attributes (CUdevice_attribute) that are queried."""
_PER_CLOCK = 2
"""Transfers per clock of device memory, which moves data on both edges of its clock."""
_WARM_UPS = 2
_LEAST_READ = 256 * 2**20
"""Minimum bytes that a flush reads; meanwhile the host has time to queue the next graph."""


class CudaDevice:
    """PyTorch's current GPU; kernels for it are compiled for `target`."""

    def __init__(self, target: Target):
        import torch

        ordinal, lib = torch.cuda.current_device(), libcuda()
        self._gpu = lib, ordinal
        self.torch_device = f"cuda:{ordinal}"
        self.name: str = torch.cuda.get_device_name(ordinal)
        self.l2_bytes = device_attribute(lib, ordinal, _L2_BYTES)
        self.peaks = peaks(lib, ordinal, target)
        floats = max(_LEAST_READ, 2 * self.l2_bytes) // 4
        self._beyond_l2 = torch.zeros(floats, device=self.torch_device)

    def record(self, calls: Sequence[Call]) -> Recording:
        import torch

        here, side = torch.cuda.current_stream(), torch.cuda.Stream()
        side.wait_stream(here)
        with torch.no_grad(), torch.cuda.stream(side):
            for call in [*calls] * _WARM_UPS:
                call()
        here.wait_stream(side)
        self.wait()
        graph = torch.cuda.CUDAGraph()
        outputs, failures = list[list[Any]](), list[Exception]()
        try:
            with torch.no_grad(), torch.cuda.graph(graph), _collected(failures):
                outputs += [call() for call in calls]
        except Exception as err:
            failures.append(err)  # usually: a capture in which something failed has ended
        finally:
            torch.cuda.set_stream(here)  # `graph` does not do this if capturing fails
        if failures:
            raise failures[0]
        return Recording(graph.replay, outputs)

    def timer(self, flush: bool) -> "EventTimer":
        return EventTimer(self._beyond_l2, flush)

    def state(self) -> gpu_state.State:
        return gpu_state.state(*self._gpu)

    def wait(self) -> None:
        import torch

        torch.cuda.synchronize()


@contextmanager
def _collected(failures: list[Exception]) -> Generator[None]:
    """
    Append an exception that the body of the `with` raises to `failures`, instead of raising it.
    """
    try:
        yield
    except Exception as err:
        failures.append(err)


class EventTimer:
    """
    Timer that measures each replay between two CUDA events, on PyTorch's current stream.

    The host queues faster than the GPU works, once it has a lead. The first replay therefore always
    waits for a flush of the cache, so that no replay waits for the host. A flush reads the tensor
    `beyond_l2`, which is larger than the cache. It does not write, as written bytes would have to
    be written back to memory while the replay is measured.
    """

    def __init__(self, beyond_l2: Any, flush: bool):
        self._beyond_l2 = beyond_l2
        self._flush = flush

    def times(self, replays: Sequence[Replay]) -> list[float]:
        import torch

        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in replays]
        for number, ((start, end), replay) in enumerate(zip(events, replays, strict=True)):
            if self._flush or number == 0:
                self._beyond_l2.amax()
            start.record()
            replay()
            end.record()
        torch.cuda.synchronize()
        return [1e3 * start.elapsed_time(end) for start, end in events]


def peaks(lib: LibCuda, ordinal: int, target: Target) -> Peaks:
    """
    Return what a GPU does per second at its highest clocks, according to its driver.

    If the driver reports 0, the figure is that of the target.
    """
    sms, clock, memory_clock, bits = (
        device_attribute(lib, ordinal, number)
        for number in (_SMS, _CLOCK_KHZ, _MEMORY_CLOCK_KHZ, _BUS_BITS)
    )
    flops = 2 * target.fp32_lanes * sms * clock * 1e3
    bandwidth = _PER_CLOCK * memory_clock * 1e3 * bits / 8
    flops = flops or target.flops
    tensor_flops = flops * target.tensor_flops / target.flops
    return Peaks(flops, bandwidth or target.bandwidth, tensor_flops)


def device_attribute(lib: LibCuda, ordinal: int, number: int) -> int:
    """Return an attribute of a GPU, as its driver reports it."""
    device, value = ctypes.c_int(), ctypes.c_int()
    what = f"an attribute of GPU {ordinal}"
    lib.call(what, "cuDeviceGet", ctypes.byref(device), ordinal)
    lib.call(what, "cuDeviceGetAttribute", ctypes.byref(value), number, device)
    return value.value
