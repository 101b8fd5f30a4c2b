# SPDX-License-Identifier: Apache-2.0
"""
Cache of the packages that xDSL finds installed: tests run a thousand tools, and each would search
again.
"""

from functools import cache

from xdsl.universe import Universe


def use_one_universe() -> None:
    """
    Make xDSL search for installed packages only once in this process. Tools add this package's own
    dialects and passes without that search.
    """
    Universe.get_multiverse = staticmethod(cache(Universe.get_multiverse))
