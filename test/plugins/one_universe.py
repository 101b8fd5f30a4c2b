# SPDX-License-Identifier: Apache-2.0
"""Keeps what xDSL finds installed: tests run a thousand tools, and each would look anew."""

from functools import cache

from xdsl.universe import Universe


def use_one_universe() -> None:
    """In this process. What our own package offers is not kept: tools add it as it is."""
    Universe.get_multiverse = staticmethod(cache(Universe.get_multiverse))
