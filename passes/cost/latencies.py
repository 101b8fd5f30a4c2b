# SPDX-License-Identifier: Apache-2.0
"""Latencies of the models of time, in round figures: they rank schedules, and do not predict."""

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
