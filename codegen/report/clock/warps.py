# SPDX-License-Identifier: Apache-2.0
"""State of the warps and blocks that an SM runs."""

from collections.abc import Sequence
from math import inf

from tilewright.codegen.report.clock.steps import Step
from tilewright.codegen.report.clock.waits import Wait
from tilewright.codegen.report.control_code import SCOREBOARDS


class Warp:
    """A warp: its next instruction, and the results that it may wait for."""

    __slots__ = (
        "at",
        "base",
        "block",
        "boards",
        "causes",
        "copies",
        "fills",
        "groups",
        "open_copies",
        "ready",
        "route",
        "scheduler",
        "step",
        "visited",
        "why",
    )

    def __init__(
        self,
        block: "BlockState",
        route: Sequence[Step],
        scheduler: int,
        now: float,
    ):
        self.block = block
        self.route = route
        self.scheduler = scheduler
        self.at = 0
        """Index in `route` of the next instruction."""
        self.step = route[0]
        """The next instruction."""
        self.base = now
        """Time from which the next instruction issues if nothing is waited for."""
        self.ready = now
        """Time at which the next instruction can issue; infinite at a barrier."""
        self.why = Wait.ISSUE
        """Reason for the time from `base` to `ready`."""
        self.boards = [0.0] * SCOREBOARDS
        """Time at which each scoreboard is clear."""
        self.causes = [Wait.ISSUE] * SCOREBOARDS
        self.open_copies = 0.0
        """Time at which the asynchronous copies that are in no group yet are done."""
        self.copies: list[float] = []
        """Times at which the groups of asynchronous copies are done."""
        self.groups: list[float] = []
        """Times at which the `wgmma` are done."""
        self.fills = 0
        """Filled slots that the warp has waited for."""
        self.visited: dict[int, tuple[int, float]] = {}
        """Visits of the start of each loop since the loop was entered, and the latest visit."""

    def stop(self) -> None:
        """Block the warp until `resume`."""
        self.ready = inf

    def resume(self, now: float, why: Wait) -> None:
        """
        Make the warp issue its next instruction after `now`, for which it waits by the reason
        `why`, and after the scoreboards of the instruction are clear.
        """
        ready = self.base
        if now > ready:
            ready = now
            self.why = why
        for board in self.step.waits:
            if self.boards[board] > ready:
                ready = self.boards[board]
                self.why = self.causes[board]
        self.ready = ready


class BlockState:
    """A resident block: its barriers and the slots of its TMA ring."""

    __slots__ = (
        "arrived",
        "boxes_left",
        "filled",
        "fills",
        "freed",
        "left",
        "needed",
        "number",
        "requests",
        "slots",
        "waiting",
        "waiting_to_fill",
        "warps",
    )

    def __init__(self, number: int, slots: int):
        self.number = number
        self.slots = slots
        self.warps: list[Warp] = []
        self.left = 0
        """Number of warps that have not ended."""
        self.arrived: list[Warp] = []
        """Warps at the block's barrier."""
        self.fills = 0
        """Groups of TMA copies that have begun."""
        self.boxes_left: list[int] = []
        """Copies of each group that have not begun."""
        self.filled: list[float] = []
        """Time at which each group's copies are done, as far as they have begun."""
        self.waiting: list[tuple[int, Warp]] = []
        """Warps that wait for a group whose copies have not begun, with the group's number."""
        self.requests = 0
        """Free slots that the producer has waited for."""
        self.freed = 0
        """Releases of slots by warps."""
        self.needed = 0
        """Releases that the producer waits for."""
        self.waiting_to_fill: Warp | None = None

    def begin_fill(self, boxes: int, now: float) -> list[Warp]:
        """Open a group of `boxes` TMA copies; return the warps that this resumes."""
        self.boxes_left.append(boxes)
        self.filled.append(now)
        self.fills += 1
        return [] if boxes else self._resumed()

    def add_box(self, done: float) -> list[Warp]:
        """
        Add a copy, done at the time `done`, to the latest group; return the warps that this
        resumes.
        """
        if not self.fills:
            return []  # a copy that no mbarrier counts
        self.filled[-1] = max(self.filled[-1], done)
        self.boxes_left[-1] -= 1
        return [] if self.boxes_left[-1] else self._resumed()

    def wait_full(self, warp: Warp) -> float | None:
        """
        Return the time at which the next slot for `warp` is full; None if that is not known yet,
        and the warp is blocked.
        """
        number, warp.fills = warp.fills, warp.fills + 1
        if number < self.fills and self.boxes_left[number] <= 0:
            return self.filled[number]
        self.waiting.append((number, warp))
        warp.stop()
        return None

    def wait_empty(self, producer: Warp) -> bool:
        """True if a slot is free for the next group; otherwise `producer` is blocked."""
        self.requests += 1
        self.needed = (self.requests - self.slots) * len(self.warps)
        if self.freed >= self.needed:
            return True
        self.waiting_to_fill = producer
        producer.stop()
        return False

    def release(self, now: float) -> list[Warp]:
        """Release a warp's part of a slot; return the producer if this resumes it."""
        self.freed += 1
        producer = self.waiting_to_fill
        if producer is None or self.freed < self.needed:
            return []
        self.waiting_to_fill = None
        producer.resume(now, Wait.BARRIER)
        return [producer]

    def arrive(self, warp: Warp, release: float) -> list[Warp]:
        """
        Block `warp` at the block's barrier. The last warp releases all at the time `release`;
        return them then.
        """
        self.arrived.append(warp)
        warp.stop()
        return self.released(release)

    def released(self, release: float) -> list[Warp]:
        """Return the warps at the barrier, resumed, if no other warp is missing."""
        if len(self.arrived) < self.left:
            return []
        resumed, self.arrived = self.arrived, []
        for warp in resumed:
            warp.resume(release, Wait.BARRIER)
        return resumed

    def forget_waits(self) -> None:
        """Forget all blocked warps, which the caller resumes."""
        self.arrived.clear()
        self.waiting.clear()
        self.waiting_to_fill = None

    def _resumed(self) -> list[Warp]:
        """Resume and return the warps that wait for a group whose copies have begun."""
        resumed = [(number, warp) for number, warp in self.waiting if number < self.fills]
        self.waiting = [(number, warp) for number, warp in self.waiting if number >= self.fills]
        for number, warp in resumed:
            warp.resume(self.filled[number], Wait.MEMORY)
        return [warp for _, warp in resumed]
