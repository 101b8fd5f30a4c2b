# SPDX-License-Identifier: Apache-2.0
"""Parallel execution in threads, for work that releases Python's lock: NVRTC and other programs."""

import os
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)
Result = TypeVar("Result")


def side_by_side(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """
    Return the results of `function` for the items, computed in parallel threads, once for equal
    items.

    If calls raise exceptions, that of the first such item is raised.
    """
    distinct = [*dict.fromkeys(items)]
    if len(distinct) < 2:
        return [*map(function, items)]
    with ThreadPoolExecutor(min(len(distinct), len(os.sched_getaffinity(0)))) as pool:
        made = dict(zip(distinct, pool.map(function, distinct), strict=True))
    return [made[item] for item in items]
