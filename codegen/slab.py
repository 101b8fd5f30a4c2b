# SPDX-License-Identifier: Apache-2.0
"""
The slab of a launch plan: memory in which buffers share bytes if they are not needed at the same
time.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from tilewright.dialects.buffer_plan import aligned, overlap
from tilewright.errors import UsageError, counted
from tilewright.passes.kernel.slots import lifetimes


class InPlace(NamedTuple):
    """A launch that writes a buffer exactly in the place of a buffer that it reads."""

    launch: int
    output: int
    read: int


@dataclass(frozen=True)
class Slab:
    """The slab: the byte range of each buffer in it, by the buffer's number in the plan."""

    slots: Mapping[int, range] = field(default_factory=dict[int, range], hash=False)

    def __repr__(self) -> str:
        return f"<Slab: {counted(len(self.slots), 'buffer')} in {self.peak_bytes} B>"

    @property
    def peak_bytes(self) -> int:
        """Size of the slab in bytes."""
        return max((aligned(slot.stop) for slot in self.slots.values()), default=0)

    @property
    def sum_bytes(self) -> int:
        """Bytes that the slab's buffers would take if none shared bytes."""
        return sum(aligned(len(slot)) for slot in self.slots.values())

    def check(
        self,
        steps: Iterable[Iterable[int]],
        names: Sequence[str],
        in_place: Collection[InPlace] = (),
    ) -> None:
        """
        Raise `UsageError` if buffers overlap in the slab while both are alive.

        `steps` are the buffers that each launch uses. A buffer may take the place of another if its
        first use is in the launch of the other's last use, and `in_place` contains the pair.
        """
        alive = lifetimes(steps)
        takes = {(step.output, step.read): step.launch for step in in_place}
        used = [number for number in self.slots if number in alive]
        for one, other in combinations(used, 2):
            before, after = (one, other) if alive[one] < alive[other] else (other, one)
            if takes.get((after, before)) == alive[before].last == alive[after].first:
                continue
            if alive[one].meets(alive[other]) and overlap(self.slots[one], self.slots[other]):
                raise UsageError(
                    f"%{names[one]} and %{names[other]} share memory, but are needed at the same "
                    "time",
                    remedy="plan the buffers again: plan-buffers",
                )
