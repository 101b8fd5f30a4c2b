# SPDX-License-Identifier: Apache-2.0
"""
Launches of the kernels of `micro.cu` on a GPU, with the clocks, times and rates that they measure.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from gpu_checks.device import Device

SOURCE = Path(__file__).with_name("micro.cu")

REPEATS = 16
"""Number of timed repeats, as in `micro.cu`; one more repeat precedes them."""
_ROUNDS = 5
_PASSES = 20
"""
Number of launches of a kernel, which take some milliseconds: then the GPU's clock frequency has
risen.
"""
_LAUNCHES = 200
_MEBI = 1 << 20
_LINE = 128
"""Size of a cache line in bytes."""


class Launched:
    """Kernel with its three arguments, ready to be launched any number of times."""

    def __init__(
        self,
        device: Device,
        kernel: str,
        tensors: Sequence[Any],
        grid: int,
        block: int,
        cluster: int = 1,
    ):
        import numpy as np

        from tilewright.codegen.launch_plan import ArrayType, Launch
        from tilewright.codegen.runtime.driver import Arguments, Memory

        self._kept = tensors
        self._driver = device.backend().driver
        type = ArrayType((1,), np.dtype(np.float32))
        given, *rest = [Memory(tensor.data_ptr(), type) for tensor in tensors]
        function = self._driver.load(SOURCE.read_text(), device.target).function(kernel, 0)
        launch = Launch(kernel, grid, block, 0, (0,), (1, 2), cluster=cluster)
        self._bound = function.bind(launch, Arguments((), (given,), tuple(rest)))

    def queue(self, times: int = 1) -> None:
        """Queue launches on PyTorch's current stream."""
        from tilewright.codegen.runtime.tensors import current_stream

        stream = current_stream(self._driver.device).handle
        self._driver.enter()
        try:
            for _ in range(times):
                self._bound(stream)
        finally:
            self._driver.leave()


def clocks(
    device: Device,
    kernel: str,
    warps: int,
    at: Sequence[int] = (0,) * 32,
    cluster: int = 1,
    rounds: int = _ROUNDS,
) -> float:
    """
    Return the fewest clocks that a kernel measured in `rounds` launches of one block or cluster.
    """
    import torch

    lanes = torch.tensor(at, dtype=torch.int32, device=device.place)
    out = torch.zeros(2, dtype=torch.int64, device=device.place)
    sink = torch.zeros(64, device=device.place)
    launched = Launched(device, kernel, (lanes, out, sink), cluster, 32 * warps, cluster)
    return min(_written(launched, out) for _ in range(rounds))


def _written(launched: Launched, out: Any) -> float:
    launched.queue()
    return float(out[0].item())


def chased(device: Device, mebibytes: int, links: int, warms: bool) -> float:
    """
    Return the clocks that each link of a pointer chase takes. It leads through all cache lines of a
    buffer in random order.
    """
    import torch

    lines = mebibytes * _MEBI // _LINE
    order = torch.randperm(lines, generator=torch.Generator().manual_seed(0)) * (_LINE // 4)
    following = torch.zeros(lines * _LINE // 4, dtype=torch.int32)
    following[order] = order.roll(-1).int()
    counts = torch.tensor([links, lines if warms else 0], dtype=torch.int32)
    out = torch.zeros(2, dtype=torch.int64, device=device.place)
    given = (following.to(device.place), out, counts.to(device.place))
    launched = Launched(device, "chase", given, 1, 1)
    torch.zeros(128 * _MEBI, device=device.place).amax()  # evicts the buffer from L2
    return _written(launched, out) / links


def bandwidth(device: Device, depth: int, warps: int) -> float:
    """Return the bandwidth in TB/s of reads that miss L2, with one block on each SM."""
    import torch

    count = 64 * _MEBI  # vectors of 16 bytes: 1 GiB
    read = torch.zeros(4 * count, device=device.place)
    vectors = torch.tensor([count], dtype=torch.int64, device=device.place)
    sink = torch.zeros(1, device=device.place)
    pytorch: Any = torch
    sms = int(pytorch.cuda.get_device_properties(0).multi_processor_count)
    launched = Launched(device, f"flight_{depth}", (read, vectors, sink), sms, 32 * warps)
    return 16 * count / min(_seconds(launched.queue) for _ in range(_PASSES)) / 1e12


def _seconds(action: Callable[[], Any]) -> float:
    """Return the GPU's time, in seconds, for the work that an action queues."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    action()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def _nothing(device: Device) -> Launched:
    import torch

    tensors = [torch.zeros(1, device=device.place) for _ in range(3)]
    return Launched(device, "nothing", tensors, 1, 32)


def replayed(device: Device) -> float:
    """
    Return the time in microseconds from the start of one kernel to that of the next in a CUDA
    graph, for empty kernels.
    """
    import torch

    launched = _nothing(device)
    launched.queue()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launched.queue(_LAUNCHES)
    graph.replay()
    return 1e6 * min(_seconds(graph.replay) for _ in range(_PASSES)) / _LAUNCHES


def queued(device: Device) -> float:
    """Return the time in microseconds that the host takes to queue a launch."""
    import torch

    launched = _nothing(device)
    launched.queue(_LAUNCHES)
    torch.cuda.synchronize()
    begin = perf_counter()
    launched.queue(_LAUNCHES)
    seconds = perf_counter() - begin
    torch.cuda.synchronize()
    return 1e6 * seconds / _LAUNCHES
