# SPDX-License-Identifier: Apache-2.0
"""
Address spaces: from the addresses of a group of lanes to bytes of NumPy arrays.

Each space checks bounds and alignment, records the access in its race detector, and returns
*places*: blocks of bytes with an offset per lane. An invalid access is reported and has no place.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.lanes import Integers, Lanes, compact

_ITEMS = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}
"""NumPy item of an access, by its bytes; a vector access is then one gather."""

SHARED_WINDOW = 1 << 60
LOCAL_WINDOW = 1 << 61
PARAMETER_WINDOW = 3 << 60
"""First generic addresses of the shared, local and parameter spaces; lower addresses are global."""


class Mode(Enum):
    """Kind of an access; the value is its verb in findings."""

    LOAD = "reads"
    STORE = "writes"
    ATOMIC = "updates"
    COPY = "fills by cp.async"
    BULK = "fills by a bulk copy"
    PULL = "reads by cp.async"
    SOURCE = "reads by a bulk copy"
    MAKE = "initialises an mbarrier in"
    OBJECT = "uses an mbarrier in"


@dataclass(frozen=True, slots=True)
class Access:
    """
    Properties of the memory access of one instruction; `size` is in bytes per lane.

    `strong` is the scope of a strong access (`cta`, `gpu`...), None for a weak one. A load that is
    not `coherent` may miss writes of the kernel. An access `observes` earlier updates of its place
    if its value decides what its thread does.
    """

    mode: Mode
    size: int
    line: int
    strong: str | None = None
    coherent: bool = True
    observes: bool = False
    data: bool = False
    """True for a volatile load whose value is data rather than a flag: `lockstep.py`."""
    vector: int = 1
    """Number of elements, of `size / vector` bytes each, that are accessed one by one."""
    dropped: tuple[int, ...] = ()
    """
    Numbers of the loaded elements that no instruction reads: compilers load them to fill a vector.
    """

    @property
    def element(self) -> int:
        """Bytes of one element."""
        return self.size // self.vector


class Block:
    """Bytes that can be viewed as items of any access size."""

    def __init__(self, data: NDArray[np.uint8]):
        self.data = data
        self._views = {
            size: data[: len(data) // size * size].view(item) for size, item in _ITEMS.items()
        }

    def items(self, size: int) -> NDArray[Any]:
        return self._views[size]


@dataclass(frozen=True, slots=True)
class Place:
    """Block of bytes and the `offsets` in it that some lanes access, in bytes."""

    lanes: Lanes
    block: Block
    offsets: Integers


class Space(Protocol):
    """State space of PTX."""

    def places(self, lanes: Lanes, addresses: Integers, access: Access) -> Iterator[Place]:
        """Yield the places of the valid accesses of the lanes; report the invalid accesses."""
        ...


class AddressReports:
    """Reporter of wrong addresses: each method adds one kind of finding."""

    def __init__(self, findings: Findings, geometry: Geometry):
        self._findings = findings
        self._geometry = geometry

    def misaligned(self, lane: int, address: int, access: Access, what: str) -> None:
        self._findings.add(
            Kind.MISALIGNED,
            access.line,
            f"{self._geometry.name(lane)} {access.mode.value} {access.size} bytes of {what} "
            f"at byte {address}, no multiple of {access.size}",
        )

    def out_of_bounds(self, lane: int, offset: int, access: Access, what: str, size: int) -> None:
        self._findings.add(
            Kind.OUT_OF_BOUNDS,
            access.line,
            f"{self._geometry.name(lane)} {access.mode.value} {access.size} bytes at byte {offset} "
            f"of {what}, which has {size}",
        )

    def wild(self, lane: int, address: int, access: Access) -> None:
        self._findings.add(
            Kind.OUT_OF_BOUNDS,
            access.line,
            f"{self._geometry.name(lane)} {access.mode.value} {access.size} bytes at address "
            f"{address:#x}, where there is no memory",
        )

    def read_only(self, lane: int, access: Access, what: str) -> None:
        self._findings.add(
            Kind.READ_ONLY,
            access.line,
            f"{self._geometry.name(lane)} {access.mode.value} {what}, which is read-only",
        )


def aligned(addresses: Integers, size: int) -> bool:
    """True if all addresses are multiples of `size`, a power of two."""
    return size == 1 or not int(np.bitwise_or.reduce(addresses)) & (size - 1)


def choose(lanes: Lanes, chosen: NDArray[np.bool_]) -> Lanes:
    """Return the lanes for which `chosen` is true; it must be true for at least one."""
    return lanes if chosen.all() else compact(lanes.numbers()[chosen])


class GenericSpace:
    """Generic addresses: the upper bits select the space."""

    def __init__(self, windows: dict[int, Space]):
        self._windows = windows

    def places(self, lanes: Lanes, addresses: Integers, access: Access) -> Iterator[Place]:
        which = addresses >> 60
        for number in np.unique(which).tolist():
            chosen = which == number
            start = number << 60 if number in self._windows else 0
            space = self._windows.get(number, self._windows[0])
            yield from space.places(choose(lanes, chosen), addresses[chosen] - start, access)
