# SPDX-License-Identifier: Apache-2.0
"""
How many copies of its buffers a measurement rotates through, so that it does not measure the cache.

A CUDA graph holds one call for each copy. Between two calls on the same copy all others have gone
through the L2 cache, several times what it holds: each call reads its inputs from memory, and what
it writes pushes out as much of what others have written. So no time is flattered, neither that of
reads nor that of writes; and the cost of launching a graph is shared by its calls.

Of small buffers that would take too many calls. There the cache is flushed before each graph.
"""

from typing import NamedTuple

BEYOND = 4
"""How many times the L2 cache all copies together are as large at least."""
MOST = 32
"""The most copies."""
MEMORY = 8 * 2**30
"""Bytes that all copies of the inputs take at most."""
LEAST = 2
"""The fewest: of one copy, the next call would find the end of its inputs in the cache."""


class Rotation(NamedTuple):
    """The copies of a measurement."""

    copies: int
    needs_flush: bool
    """True if all copies together are not much larger than the cache."""


def rotation(bytes: int, held: int, l2_bytes: int) -> Rotation:
    """For calls that read and write so many bytes, of inputs that take `held` bytes."""
    enough = -(-BEYOND * l2_bytes // max(bytes, 1))
    copies = max(LEAST, min(enough, MOST, MEMORY // max(held, 1)))
    return Rotation(copies, copies < enough)
