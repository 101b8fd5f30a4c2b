# SPDX-License-Identifier: Apache-2.0
"""What a device has to do for a measurement."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from tilewright.codegen.timing.roofline import Peaks
from tilewright.codegen.timing.timer import Replay, Timer

Call = Callable[[], list[Any]]
"""Computes new tensors."""


class Recording(NamedTuple):
    """Calls that can be queued again and again, over the same memory."""

    replay: Replay
    outputs: list[list[Any]]
    """The tensors that each call writes, at every replay."""


class Device(Protocol):
    """Where calls are measured."""

    @property
    def name(self) -> str:
        """The product."""
        ...

    @property
    def torch_device(self) -> str:
        """Where its memory lies, as PyTorch says it: `cuda:0`."""
        ...

    @property
    def l2_bytes(self) -> int:
        """What its L2 cache holds."""
        ...

    @property
    def peaks(self) -> Peaks:
        """What it does in a second."""
        ...

    def record(self, calls: Sequence[Call]) -> Recording:
        """
        Return the calls as one CUDA graph. All are made before, so that nothing is left to set up.
        """
        ...

    def timer(self, flush: bool) -> Timer:
        """
        Return a clock; with `flush` the cache is emptied before each replay, outside of its time.
        """
        ...

    def state(self) -> dict[str, Any]:
        """Return its clocks and power now, as JSON; empty where it does not tell."""
        ...

    def wait(self) -> None:
        """Until all that is queued is done. Raises what has gone wrong there."""
        ...
