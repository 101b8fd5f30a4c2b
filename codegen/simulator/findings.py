# SPDX-License-Identifier: Apache-2.0
"""Findings of a simulation about a kernel, and errors that stop a simulation."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from tilewright.errors import TilewrightError


class SimulatorError(TilewrightError):
    """Error for PTX or a launch that the simulator cannot run."""

    def at_line(self, line: int) -> "SimulatorError":
        """Return this error with a line as its place, unless it has a place or the line is 0."""
        if self.where or not line:
            return self
        return SimulatorError(self.message, where=f"line {line}", remedy=self.remedy)


class SimulationTooLarge(SimulatorError):
    """
    Error for a launch that needs more thread-instructions than its budget.

    `needed` estimates the number it needs; None if no block has ended that shows it.
    """

    def __init__(self, kernel: str, budget: int, needed: int | None):
        self.budget = budget
        self.needed = needed
        takes = f"more than the {budget:.2e} thread-instructions allowed"
        if needed is not None:
            takes = f"about {needed:.2e} thread-instructions, more than the {budget:.2e} allowed"
        super().__init__(f"simulating {kernel} takes {takes}", remedy="use smaller sizes or a GPU")


class Kind(StrEnum):
    """Kinds of findings."""

    RACE = "race"
    """Two accesses to one place by different threads, of which one writes, without order."""
    ASYNC_RACE = "async-race"
    """An access to a place that an asynchronous copy is still using."""
    UNAWAITED = "unawaited"
    """A thread or block that ends with asynchronous copies that no thread has waited for."""
    PROXY = "proxy"
    """
    A bulk copy that uses memory or an mbarrier that threads wrote, with no proxy fence between.
    """
    MBARRIER = "mbarrier"
    """
    A wrong use of an mbarrier: too many arrivals or bytes, no initialisation, or a plain access.
    """
    TENSOR_MAP = "tensor-map"
    """A bulk copy that its tensor map, or the hardware, does not allow."""
    DESCRIPTOR = "descriptor"
    """A descriptor of a matrix that no swizzled matrix has, or that differs within a warpgroup."""
    OUT_OF_BOUNDS = "out-of-bounds"
    MISALIGNED = "misaligned"
    READ_ONLY = "read-only"
    """A store to an argument that the launch declared read-only, or to constant memory."""
    NON_COHERENT = "non-coherent"
    """A non-coherent load of memory that the kernel has written."""
    UNINITIALISED = "uninitialised"
    """
    A read of shared memory that no thread wrote, or of local memory that its own thread did not.
    """
    DIVERGENCE = "divergence"
    """A barrier at which threads diverge, or whose thread count or use is wrong."""
    DEADLOCK = "deadlock"
    """Threads that wait for an event that never happens."""
    UNSTARTED = "unstarted"
    """An access to the shared memory of another block of the cluster that may not have started."""
    EXITED = "exited"
    """An access to the shared memory of another block of the cluster that may have exited."""
    MASK = "mask"
    """A warp collective whose member mask is not the set of lanes that execute it."""
    SHUFFLE = "shuffle"
    """A shuffle that reads from a lane that does not take part in it."""
    TRAP = "trap"


@dataclass(frozen=True)
class Finding:
    """
    One error in a kernel; `line` is a line of the CUDA text, 0 where the PTX names none.

    `note` names the origin of the line, an operation of Tile IR, if the launch has a note for it.
    """

    kind: Kind
    line: int
    message: str
    note: str = ""

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return f"line {self.line}: {self.kind}: {self.message}{note}"


class Findings:
    """Collection of the first finding of each kind on each line."""

    def __init__(self) -> None:
        self._found: dict[tuple[Kind, int], Finding] = {}

    def add(self, kind: Kind, line: int, message: str) -> None:
        self._found.setdefault((kind, line), Finding(kind, line, message))

    def sorted(self, notes: Mapping[int, str]) -> list[Finding]:
        """Return all findings by line, then by kind; `notes` maps lines to their origin."""
        found = sorted(self._found.values(), key=lambda found: (found.line, found.kind))
        return [replace(each, note=notes.get(each.line, "")) for each in found]
