# SPDX-License-Identifier: Apache-2.0
"""What a simulation finds wrong with a kernel, and the errors that stop one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from tilewright.errors import TilewrightError


class SimulatorError(TilewrightError):
    """The simulator cannot run this PTX or this launch."""


class SimulationTooLarge(SimulatorError):
    """
    The launch needs more thread-instructions than its budget; `needed` estimates how many, where
    blocks have ended that tell.
    """

    def __init__(self, kernel: str, budget: int, needed: int | None):
        self.budget = budget
        self.needed = needed
        takes = f"more than the {budget:.2e} thread-instructions allowed"
        if needed is not None:
            takes = f"about {needed:.2e} thread-instructions, more than the {budget:.2e} allowed"
        super().__init__(f"simulating {kernel} takes {takes}", remedy="use smaller sizes or a GPU")


class Kind(StrEnum):
    """The kinds of findings."""

    RACE = "race"
    """Two threads touch one place, one of them writes, and nothing orders them."""
    ASYNC_RACE = "async-race"
    """A place is touched while an asynchronous copy is still writing it."""
    UNAWAITED = "unawaited"
    """A thread exits with asynchronous copies that nobody has waited for."""
    PROXY = "proxy"
    """What threads wrote is copied in bulk, with no `fence.proxy.async` between."""
    MBARRIER = "mbarrier"
    """An mbarrier gets more arrivals or bytes than it counts, or is used before it is made."""
    TENSOR_MAP = "tensor-map"
    """A bulk copy that its tensor map, or the hardware, does not allow."""
    OUT_OF_BOUNDS = "out-of-bounds"
    MISALIGNED = "misaligned"
    READ_ONLY = "read-only"
    """A store to an argument that the launch declared read-only, or to constant memory."""
    NON_COHERENT = "non-coherent"
    """A load by a path that does not see what the kernel has written, of what it has written."""
    UNINITIALISED = "uninitialised"
    """A read of shared memory that no thread wrote, or of local memory that its own did not."""
    DIVERGENCE = "divergence"
    """A barrier that other threads reach than it counts."""
    DEADLOCK = "deadlock"
    """Threads that wait for what never comes."""
    UNSTARTED = "unstarted"
    """A block's shared memory is used by others of its cluster when it may not have started."""
    EXITED = "exited"
    """A block's shared memory is used by others of its cluster when it may have exited."""
    MASK = "mask"
    """A warp collective whose member mask is not the set of lanes that execute it."""
    SHUFFLE = "shuffle"
    """A shuffle that reads from a lane that takes no part in it."""
    TRAP = "trap"


@dataclass(frozen=True)
class Finding:
    """
    One thing wrong; `line` is a line of the CUDA text, 0 where the PTX names none.

    `note` says what the line comes from, where the launch was told: an operation of Tile IR.
    """

    kind: Kind
    line: int
    message: str
    note: str = ""

    def __str__(self) -> str:
        note = f" ({self.note})" if self.note else ""
        return f"line {self.line}: {self.kind}: {self.message}{note}"


class Findings:
    """Collects the first finding of each kind on each line."""

    def __init__(self) -> None:
        self._found: dict[tuple[Kind, int], Finding] = {}

    def add(self, kind: Kind, line: int, message: str) -> None:
        self._found.setdefault((kind, line), Finding(kind, line, message))

    def sorted(self, notes: Mapping[int, str]) -> list[Finding]:
        """Return all findings by line, then kind; `notes` has what lines come from."""
        found = sorted(self._found.values(), key=lambda found: (found.line, found.kind))
        return [replace(each, note=notes.get(each.line, "")) for each in found]
