# SPDX-License-Identifier: Apache-2.0
"""
Constants of the planner's models of time: latencies, in round figures, and the bucket in which two
times count as equal. The models rank schedules, and do not predict.
"""

from math import log

from tilewright.dialects.tile import Join

MEMORY = 0.45e-6
"""
Seconds from a request to device memory to its answer, while others ask too: by what an H100 moved
with 4 to 16 KiB of each SM on the way (`benchmarks/gpu_check.py`, `micro flight`).
"""

JOIN = {Join.CLUSTER: 0.8e-6, Join.LAST_BLOCK: 2.5e-6}
"""
Seconds until blocks have found each other. That of clusters is two barriers of an H100 (`micro
cluster`); nobody has measured the other.
"""


def time_bucket(seconds: float, within: float) -> int:
    """
    Bucket `seconds` on a log scale; times within about `within` of each other share a bucket. What
    else is better decides among those.
    """
    return round(log(seconds) / within)
