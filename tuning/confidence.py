# SPDX-License-Identifier: Apache-2.0
"""
Confidence in the schedule that a model ranks first: how much slower than the truly fastest one it
may be.

    worst_regret([50.0, 51.0, 80.0], MODEL_SPREAD)  # 0.13: at most 13 % slower, with 90 %

A model errs. Its mean error for a kernel changes no ranking, so only the spread of its errors
between schedules of one kernel counts. Logarithms of modelled over true times are taken as
independent and normal with this spread. The regret of the first choice is at most
exp(x * spread) - 1 with the probability

    integral over z of phi(z) * product over the other schedules j of Phi(d_j + x - z)

where phi is the density of the normal distribution, and Phi its integral. Each d_j is the logarithm
of the time of j over that of the first choice, divided by the spread.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from functools import cache
from math import expm1, log, prod
from statistics import NormalDist

CONFIDENCE = 0.9
"""Probability with which the regret is at most the one returned."""

MODEL_SPREAD = 0.076
"""
Standard deviation of the logarithm of modelled over measured times between schedules of one kernel,
for `evaluators/model.py`. `benchmarks/model_spread.py` computes it from 99 schedules of two float32
products on an H200.
"""

_NORMAL = NormalDist()

_PER_UNIT = 16
"""Number of points of all grids for a distance of one spread."""
_REACH = 6 * _PER_UNIT
"""Number of points from 0 after which the density is negligible."""


def worst_regret(times: Iterable[float], spread: float) -> float:
    """
    Return the share by which the schedule with the shortest modelled time is slower at most than
    the truly fastest one, with probability `CONFIDENCE`. Times are positive.
    """
    first, *others = sorted(times)
    distances = Counter(log(time / first) / spread for time in others)
    near = {d: count for d, count in distances.items() if d < 3 * _REACH / _PER_UNIT}

    @cache
    def none_faster(point: int) -> float:
        """Return the probability that no other schedule is below a point of the grid."""
        return prod(_NORMAL.cdf(d + point / _PER_UNIT) ** count for d, count in near.items())

    @cache
    def probability(point: int) -> float:
        """Return the probability that the regret is at most the one at a point of the grid."""
        return sum(_WEIGHTS[z] * none_faster(point - z) for z in _WEIGHTS)

    above = bisect_left(range(3 * _REACH), CONFIDENCE, key=probability)
    if above == 0:
        return 0.0
    low, high = probability(above - 1), probability(above)
    point = above - (high - CONFIDENCE) / (high - low)
    return expm1(spread * point / _PER_UNIT)


_WEIGHTS = {z: _NORMAL.pdf(z / _PER_UNIT) / _PER_UNIT for z in range(-_REACH, _REACH + 1)}
"""Weights of the trapezoidal rule for an integral over the normal density, by point."""
