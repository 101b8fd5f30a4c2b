# SPDX-License-Identifier: Apache-2.0
"""Statistics of the samples of one contestant."""

from collections.abc import Sequence
from statistics import median, quantiles
from typing import NamedTuple


class Timing(NamedTuple):
    """Time of one call in microseconds, and its noise."""

    us: float
    """Median of all samples."""
    iqr_us: float
    """Interquartile range of all samples."""
    aa_us: float
    """
    Difference between the largest and the smallest median of recordings of the same calls, which is
    noise.
    """
    samples: int


def timing(recordings: Sequence[Sequence[float]], calls: int) -> Timing:
    """
    Return the time of one call, from the samples of each recording; a recording holds `calls`
    calls.
    """
    each = [[sample / calls for sample in samples] for samples in recordings]
    together = [sample for samples in each for sample in samples]
    lower, _, upper = quantiles(together, n=4, method="inclusive")
    medians = [median(samples) for samples in each]
    return Timing(median(together), upper - lower, max(medians) - min(medians), len(together))
