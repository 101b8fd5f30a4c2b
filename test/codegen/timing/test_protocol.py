# SPDX-License-Identifier: Apache-2.0
"""Order and number of measurements of contestants, with a clock that follows a script."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import pytest
from scripted_device import ScriptedTimer

from tilewright.codegen.timing.protocol import Protocol, order_of_round
from tilewright.codegen.timing.samples import timing
from tilewright.codegen.timing.timer import Replay

LIMITS = Protocol(warm_up_us=100, measured_us=1000, least_rounds=3, most_rounds=20)


def nothing() -> Replay:
    """Return a distinct recording that does nothing."""
    return lambda: None


def test_each_contestant_is_first_and_last_equally_often() -> None:
    rounds = [order_of_round(4, number) for number in range(8)]
    assert rounds[:3] == [[0, 1, 2, 3], [3, 2, 1, 0], [1, 2, 3, 0]]
    assert all(sorted(order) == [0, 1, 2, 3] for order in rounds)
    assert Counter(order[0] for order in rounds) == dict.fromkeys(range(4), 2)
    assert Counter(order[-1] for order in rounds) == dict.fromkeys(range(4), 2)
    followed = {pair for order in rounds for pair in pairwise(order)}
    assert {(0, 1), (1, 0), (0, 3), (3, 0)} <= followed
    assert order_of_round(0, 3) == []


def test_samples_are_kept_apart_and_warm_up_is_not_counted() -> None:
    a, again, b = nothing(), nothing(), nothing()
    durations = {a: 10.0, again: 11.0, b: 20.0}

    class Clock(ScriptedTimer):
        def times(self, replays: Sequence[Replay]) -> list[float]:
            super().times(replays)
            return [durations[replay] for replay in replays]

    clock = Clock(lambda n: 0.0)
    samples = LIMITS.measure({"ours": [a, again], "other": [b]}, clock)
    warm_up, measured = 3, 20  # rounds of 41 us: 100 us, and 1000 us but at most 20
    assert samples == {"ours": [[10.0] * measured, [11.0] * measured], "other": [[20.0] * measured]}
    assert clock.asked[:9] == [a, again, b] * warm_up
    assert len(clock.asked) == 3 * (warm_up + measured)
    assert timing(samples["ours"], calls=2) == (5.25, 0.5, 0.5, 40)


@pytest.mark.parametrize(
    ("each", "rounds"),
    [(0.0, 20), (10.0, 20), (100.0, 5), (1e6, 3)],
    ids=["free", "short", "medium", "long"],
)
def test_long_calls_are_measured_less_often(each: float, rounds: int) -> None:
    clock = ScriptedTimer(lambda n: each)
    samples = LIMITS.measure({"ours": [nothing(), nothing()]}, clock)
    assert [len(copy) for copy in samples["ours"]] == [rounds, rounds]


def test_short_calls_warm_up_as_long() -> None:
    clock = ScriptedTimer(lambda n: 1.0)
    samples = LIMITS.measure({"ours": [nothing(), nothing()]}, clock)
    warm_up, measured = 50, 20  # rounds of 2 us
    assert len(samples["ours"][0]) == measured
    assert len(clock.asked) == 2 * (warm_up + measured)


def test_without_contestants_nothing_is_measured() -> None:
    assert LIMITS.measure({}, ScriptedTimer(lambda n: 1.0)) == {}


def test_a_slow_drift_is_shared() -> None:
    # The GPU becomes slower by a tenth: each replay takes longer than the one before.
    clock = ScriptedTimer(lambda n: 100.0 + 0.1 * n)
    protocol = Protocol(warm_up_us=0, measured_us=1e9, least_rounds=20, most_rounds=20)
    samples = protocol.measure({"a": [nothing(), nothing()], "b": [nothing(), nothing()]}, clock)
    a, b = timing(samples["a"], 1), timing(samples["b"], 1)
    assert abs(a.us - b.us) < 0.3


def test_an_outlier_moves_nothing() -> None:
    quiet = [10.0, 10.0, 10.0, 10.0, 10.0]
    assert timing([quiet, [*quiet[:4], 500.0]], 1) == (10.0, 0.0, 0.0, 10)
