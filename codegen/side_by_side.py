# SPDX-License-Identifier: Apache-2.0
"""Work that does not hold Python's lock, as that of NVRTC and of other programs, on all cores."""

import os
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)
Result = TypeVar("Result")


def side_by_side(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Apply `function` to items in threads, to equal ones once; raise what the first one raises."""
    distinct = [*dict.fromkeys(items)]
    if len(distinct) < 2:
        return [*map(function, items)]
    with ThreadPoolExecutor(min(len(distinct), len(os.sched_getaffinity(0)))) as pool:
        made = dict(zip(distinct, pool.map(function, distinct), strict=True))
    return [made[item] for item in items]
