# SPDX-License-Identifier: Apache-2.0
"""
Constants of the planner's time models: latencies, in round figures, and the bucket in which two
times count as equal. The models rank schedules; they do not predict times.
"""

from math import exp, log

from tilewright.dialects.target import Target
from tilewright.dialects.tile import Join

MEMORY = 0.45e-6
"""
Seconds from a request to device memory to its answer, under load from other requests. Measured on
an H100 with 4 to 16 KiB in flight per SM (`benchmarks/gpu_check.py`, `micro flight`).
"""

ALONE = 0.354e-6
"""
Seconds from a request to device memory to its answer without other requests, measured on an H100
(`micro latency.memory`).
"""

_BEST = 0.9
"""Share of the data sheet's bandwidth that an H100 reaches at most (`micro flight`)."""

JOIN = {Join.CLUSTER: 0.8e-6, Join.LAST_BLOCK: 2.5e-6}
"""
Seconds until blocks have synchronised. The value for `cluster` was measured as two barriers on an
H100 (`micro cluster`). The value for `last_block` is not measured.
"""


def time_bucket(seconds: float, within: float) -> int:
    """
    Bucket `seconds` on a log scale; times within about `within` of each other share a bucket.
    Callers decide between equal buckets by other criteria.
    """
    return round(log(seconds) / within)


def reached_bandwidth(in_flight: float, target: Target) -> float:
    """
    Return the share of the bandwidth that is reached if each SM has `in_flight` bytes on the way.

    By Little's law, few bytes in flight leave memory idle. On an H100 the share is within 10 % of
    the one that was measured with 4 to 128 KiB (`micro flight`), where 128 KiB reach all.
    """
    enough = _BEST * target.bandwidth * ALONE / target.sms
    return 1 - exp(-in_flight / enough)
