# SPDX-License-Identifier: Apache-2.0
"""Usual sizes of blocks and of their parts, which the planner and the taste of passes assume."""

USUAL_THREADS = 256
"""Usual threads of a block with independent elements, or with several rows."""

USUAL_ELEMENTS = 8
"""
Usual elements of a row for each thread: enough loads are in flight, and enough warps hide them.
"""

SHORTEST_SPLIT = 128
"""Fewest steps of K in a block if K is split; joining takes as long as a few steps."""
