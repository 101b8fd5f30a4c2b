# SPDX-License-Identifier: Apache-2.0
"""
Address spaces: from the addresses of a group of lanes to bytes of NumPy arrays.

Each space checks bounds and alignment, tells its race detector, and hands back *places*: arrays of
bytes with an offset per lane. An access that is not allowed is reported and has no place.
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
"""One access's bytes as one NumPy item, so that a vector access is one gather."""

SHARED_WINDOW = 1 << 60
LOCAL_WINDOW = 1 << 61
PARAMETER_WINDOW = 3 << 60
"""Where generic addresses of these spaces start; below are global addresses."""


class Mode(Enum):
    """What an access does."""

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
    One instruction's way to touch memory: what it does, bytes per lane, its source line.

    `strong` is the scope of an access that may meet others of its kind: `cta`, `gpu`... A load that
    is not `coherent` may not see what the kernel has written. An update `observes` those before it
    if its result decides what its thread does.
    """

    mode: Mode
    size: int
    line: int
    strong: str | None = None
    coherent: bool = True
    observes: bool = False
    data: bool = False
    """True for a volatile load of what is no flag: `lockstep.py`."""
    vector: int = 1
    """Elements of `size / vector` bytes are accessed one by one."""

    @property
    def element(self) -> int:
        """Bytes of what is accessed at once."""
        return self.size // self.vector


class Block:
    """Some bytes, seen as items of any access size."""

    def __init__(self, data: NDArray[np.uint8]):
        self.data = data
        self._views = {
            size: data[: len(data) // size * size].view(item) for size, item in _ITEMS.items()
        }

    def items(self, size: int) -> NDArray[Any]:
        return self._views[size]


@dataclass(frozen=True, slots=True)
class Place:
    """Where some lanes access: `offsets` are bytes from the start of `block`."""

    lanes: Lanes
    block: Block
    offsets: Integers


class Space(Protocol):
    """A state space of PTX."""

    def places(self, lanes: Lanes, addresses: Integers, access: Access) -> Iterator[Place]:
        """Yield the allowed part of an access; what is not allowed is reported."""
        ...


class Complaints:
    """Words findings about addresses."""

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
    """Return the chosen lanes, at least one."""
    return lanes if chosen.all() else compact(lanes.numbers()[chosen])


class GenericSpace:
    """Addresses that may lie in any space, told apart by their window."""

    def __init__(self, windows: dict[int, Space]):
        self._windows = windows

    def places(self, lanes: Lanes, addresses: Integers, access: Access) -> Iterator[Place]:
        which = addresses >> 60
        for number in np.unique(which).tolist():
            chosen = which == number
            start = number << 60 if number in self._windows else 0
            space = self._windows.get(number, self._windows[0])
            yield from space.places(choose(lanes, chosen), addresses[chosen] - start, access)
