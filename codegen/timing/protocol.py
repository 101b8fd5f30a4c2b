# SPDX-License-Identifier: Apache-2.0
"""
In which order contestants are measured, and how often.

A round measures everyone once. The rounds follow each other, so that a GPU that grows warm, or slow
for another reason, does so for all. Every second round begins with the next contestant, and those
between go backwards: nobody always comes first, or after the same one.

Every contestant takes part twice, as two recordings of the same calls. How far these are apart
(A/A) is what a difference between two contestants has to exceed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.codegen.timing.timer import Replay, Timer

Samples = dict[str, list[list[float]]]
"""By contestant and recording: microseconds of each replay."""


@dataclass(frozen=True)
class Protocol:
    """How often. Microseconds are those measured, of all contestants together."""

    warm_up_us: float = 100e3
    """Until the clocks of the GPU are up; these samples do not count."""
    measured_us: float = 400e3
    least_rounds: int = 10
    most_rounds: int = 100
    most_warm_ups: int = 1000
    """Rounds to warm up: more than the shortest calls take for that."""

    def measure(self, contestants: Mapping[str, Sequence[Replay]], timer: Timer) -> Samples:
        """Measure everyone; a contestant is a list of recordings."""
        entries = [(name, n) for name, copies in contestants.items() for n in range(len(copies))]
        replays = [contestants[name][n] for name, n in entries]
        spent, number = 0.0, 0
        while spent < self.warm_up_us and number < self.most_warm_ups:
            spent += sum(timer.times(replays))
            number += 1
        samples: Samples = {name: [[] for _ in copies] for name, copies in contestants.items()}
        spent, number = 0.0, 0
        while number < self.least_rounds or (
            spent < self.measured_us and number < self.most_rounds
        ):
            order = order_of_round(len(entries), number)
            times = timer.times([replays[position] for position in order])
            for position, time in zip(order, times, strict=True):
                name, copy = entries[position]
                samples[name][copy].append(time)
            spent += sum(times)
            number += 1
        return samples


def order_of_round(count: int, number: int) -> list[int]:
    """In which order a round measures."""
    start = number // 2 % count if count else 0
    order = [*range(start, count), *range(start)]
    return order[::-1] if number % 2 else order
