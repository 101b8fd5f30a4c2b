# SPDX-License-Identifier: Apache-2.0
"""Device for contests without a GPU: calls run on the CPU, and a script sets the times."""

from collections.abc import Callable, Sequence
from typing import Any

from tilewright.codegen.timing.device import Call, Recording
from tilewright.codegen.timing.roofline import Peaks
from tilewright.codegen.timing.timer import Replay

PEAKS = Peaks(flops=1e12, bandwidth=1e12, tensor_flops=4e12)


class ScriptedTimer:
    """Timer that takes the time of the n-th replay from the script."""

    def __init__(self, script: Callable[[int], float]):
        self.script = script
        self.asked: list[Replay] = []

    def times(self, replays: Sequence[Replay]) -> list[float]:
        start = len(self.asked)
        self.asked += replays
        return [self.script(start + n) for n in range(len(replays))]


class ScriptedDevice:
    """CPU on which every call takes the time that a script sets."""

    name = "scripted"
    torch_device = "cpu"
    peaks = PEAKS

    def __init__(self, script: Callable[[int], float] = lambda n: 100.0, l2_bytes: int = 1024):
        self.clock = ScriptedTimer(script)
        self.l2_bytes = l2_bytes
        self.flushes: list[bool] = []
        self.replays = 0

    def record(self, calls: Sequence[Call]) -> Recording:
        """
        Run the calls, and return a recording whose replays write to the first results, as a CUDA
        graph does.
        """
        outputs = [call() for call in calls]

        def replay() -> None:
            self.replays += 1
            for call, into in zip(calls, outputs, strict=True):
                for old, new in zip(into, call(), strict=True):
                    old.copy_(new)

        return Recording(replay, outputs)

    def timer(self, flush: bool) -> ScriptedTimer:
        self.flushes.append(flush)
        return self.clock

    def state(self) -> dict[str, Any]:
        return {"sm_mhz": 1000}

    def wait(self) -> None:
        """Do nothing: calls have finished when they return."""
