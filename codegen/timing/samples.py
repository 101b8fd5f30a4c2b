# SPDX-License-Identifier: Apache-2.0
"""What the samples of one contestant say."""

from collections.abc import Sequence
from statistics import median, quantiles
from typing import NamedTuple


class Timing(NamedTuple):
    """Microseconds of one call."""

    us: float
    """The median."""
    iqr_us: float
    """From the lower quartile to the upper one."""
    aa_us: float
    """How far the medians of two recordings of the same calls are apart: what noise amounts to."""
    samples: int


def timing(recordings: Sequence[Sequence[float]], calls: int) -> Timing:
    """Of the samples of each recording, which are of so many calls each."""
    each = [[sample / calls for sample in samples] for samples in recordings]
    together = [sample for samples in each for sample in samples]
    lower, _, upper = quantiles(together, n=4, method="inclusive")
    medians = [median(samples) for samples in each]
    return Timing(median(together), upper - lower, max(medians) - min(medians), len(together))
