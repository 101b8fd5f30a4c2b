# SPDX-License-Identifier: Apache-2.0
"""
Order and number of measurements of several contestants.

A round measures every recording once. Rounds follow each other, so a GPU that slows down, by heat
or for another reason, slows down all contestants. The order is shifted by one after every two
rounds, and the second of the two runs backwards. No recording is always first, or always after the
same one.

Every contestant takes part twice, as two recordings of the same calls. The difference between the
two (A/A) is noise: a difference between two contestants must exceed it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tilewright.codegen.timing.timer import Replay, Timer

Samples = dict[str, list[list[float]]]
"""Microseconds of each replay, by contestant and recording."""


@dataclass(frozen=True)
class Protocol:
    """
    Limits of a measurement: numbers of rounds, and measured microseconds summed over all
    contestants.
    """

    warm_up_us: float = 100e3
    """
    Measured time of the warm-up, after which the clocks of the GPU are up; its samples do not
    count.
    """
    measured_us: float = 400e3
    least_rounds: int = 10
    most_rounds: int = 100
    most_warm_ups: int = 1000
    """Maximum number of rounds of the warm-up; even the shortest calls need fewer."""

    def measure(self, contestants: Mapping[str, Sequence[Replay]], timer: Timer) -> Samples:
        """
        Warm up, measure all contestants in rounds, and return their samples. A contestant is a list
        of recordings.
        """
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
    """
    Return the positions of `count` recordings in the order in which round `number` measures them.
    """
    start = number // 2 % count if count else 0
    order = [*range(start, count), *range(start)]
    return order[::-1] if number % 2 else order
