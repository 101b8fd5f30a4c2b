# SPDX-License-Identifier: Apache-2.0
"""
Constants of the planner's time models: latencies, in round figures, and the bucket in which two
times count as equal. The models rank schedules; they do not predict times.
"""

from math import log

from tilewright.dialects.tile import Join

MEMORY = 0.45e-6
"""
Seconds from a request to device memory to its answer, under load from other requests. Measured on
an H100 with 4 to 16 KiB in flight per SM (`benchmarks/gpu_check.py`, `micro flight`).
"""

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
