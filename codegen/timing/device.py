# SPDX-License-Identifier: Apache-2.0
"""Interface of a device on which calls are measured."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from tilewright.codegen.timing.roofline import Peaks
from tilewright.codegen.timing.timer import Replay, Timer

Call = Callable[[], list[Any]]
"""Function without arguments whose calls are measured; each call returns new tensors."""


class Recording(NamedTuple):
    """Recorded calls, which can be queued repeatedly over the same memory."""

    replay: Replay
    outputs: list[list[Any]]
    """Tensors that each of the calls writes; every replay overwrites them."""


class Device(Protocol):
    """Device on which calls are measured."""

    @property
    def name(self) -> str:
        """Name of the product."""
        ...

    @property
    def torch_device(self) -> str:
        """Device of the memory, as PyTorch names it: `cuda:0`."""
        ...

    @property
    def l2_bytes(self) -> int:
        """Bytes that the L2 cache holds."""
        ...

    @property
    def peaks(self) -> Peaks:
        """Peak rates: operations and bytes per second."""
        ...

    def record(self, calls: Sequence[Call]) -> Recording:
        """
        Return the calls recorded as one CUDA graph. Each call also runs before the recording, which
        completes its set-up.
        """
        ...

    def timer(self, flush: bool) -> Timer:
        """
        Return a timer; if `flush` is true, it empties the L2 cache before each replay, outside of
        the measured time.
        """
        ...

    def state(self) -> dict[str, Any]:
        """Return the present clocks and power, as JSON; empty if they are unknown."""
        ...

    def wait(self) -> None:
        """Wait until all queued work is done. Raises errors that occurred in it."""
        ...
