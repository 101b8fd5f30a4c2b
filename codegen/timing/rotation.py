# SPDX-License-Identifier: Apache-2.0
"""
Rotation of a measurement through copies of its buffers, so that it does not measure the cache.

A CUDA graph holds one call for each copy. Between two calls on the same copy, all other copies go
through the L2 cache; together they are several times as large. Each call therefore reads its inputs
from memory, and its writes push out as many bytes of earlier writes. Neither reads nor writes look
too fast. The calls of a graph share the cost of its launch.

Small buffers would need too many calls. In that case the cache is flushed before each graph.
"""

from typing import NamedTuple

BEYOND = 4
"""Minimum size of all copies of the buffers together, as a multiple of the L2 cache."""
MOST = 32
"""Maximum number of copies of the buffers."""
MEMORY = 8 * 2**30
"""Maximum number of bytes of all copies of the inputs."""
LEAST = 2
"""
Minimum number of copies of the buffers: with one, the next call would find the end of its inputs in
the cache.
"""


class Rotation(NamedTuple):
    """
    Number of copies that the calls of a measurement use in turn, and whether the cache is also
    flushed.
    """

    copies: int
    needs_flush: bool
    """True if all copies together are less than `BEYOND` times as large as the cache."""


def rotation(bytes: int, held: int, l2_bytes: int) -> Rotation:
    """
    Return the rotation for calls that read and write `bytes` bytes, with `held` bytes of inputs.
    """
    enough = -(-BEYOND * l2_bytes // max(bytes, 1))
    copies = max(LEAST, min(enough, MOST, MEMORY // max(held, 1)))
    return Rotation(copies, copies < enough)
