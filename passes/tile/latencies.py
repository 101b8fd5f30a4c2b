# SPDX-License-Identifier: Apache-2.0
"""
What the planner's models of time know of waiting: round figures for GPUs since sm_80, from
published microbenchmarks. They rank schedules; they do not predict.
"""

from tilewright.dialects.tile import Join

MEMORY = 0.7e-6
"""Seconds from a request to device memory to its answer; L2 answers in less than half of that."""

JOIN = {Join.CLUSTER: 1.0e-6, Join.LAST_BLOCK: 2.5e-6}
"""Seconds until blocks have found each other."""
