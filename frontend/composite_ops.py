# SPDX-License-Identifier: Apache-2.0
"""
PyTorch lists its composite operators once for a program, not once for each namespace.

`run_decompositions` of PyTorch 2.13 asks the dispatcher for all of them some fifty times, which
takes as long as all else that it does. What one program needs does not change between two of them.
"""

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache


@contextmanager
def listed_once() -> Generator[None]:
    """Within, PyTorch lists its composite operators only once, if it has that function."""
    from torch._export import utils

    name = "_materialize_cpp_cia_ops"
    listing = getattr(utils, name, None)
    if listing is None:
        yield
        return
    setattr(utils, name, cache(listing))
    try:
        yield
    finally:
        setattr(utils, name, listing)
