# SPDX-License-Identifier: Apache-2.0
"""
What the models of time know of waiting and of multiply-adds: round figures, measured on an H100 by
`benchmarks/gpu_check.py`, stage `micro`. They rank schedules; they do not predict.
"""

from tilewright.dialects.tile import Join

MEMORY = 0.45e-6
"""Seconds from a request to device memory to its answer; L2 answers in less than half of that."""

JOIN = {Join.CLUSTER: 0.8e-6, Join.LAST_BLOCK: 2.5e-6}
"""Seconds until blocks have found each other."""

FFMA_CLOCKS = 1.2
"""
Clocks of a scheduler for a multiply-add of an outer product: two of three registers are often of
one bank, which is read twice.
"""
