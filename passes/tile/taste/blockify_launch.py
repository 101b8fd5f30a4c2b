# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `blockify-launch`: blocks of 256 elements, wide along n, where memory is
contiguous. Launches whose rows threads share are left to `cooperative-reduce`.
"""

from collections.abc import Sequence

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.dialects.target import WARP_SIZE
from tilewright.passes.tile.blockify_launch import (
    BlockifyLaunchPass,
    axes_to_split,
    extent_along,
    is_rectangular,
)
from tilewright.passes.tile.rebind import next_power_of_two, total_extent
from tilewright.passes.tile.row_facts import rows_are_cooperative
from tilewright.passes.tile.usual_sizes import USUAL_THREADS

_SIDES = (8, 16, 32, 64, 128, 256)
_LINES = (32, 64, 128, 256, 512, 1024, 2048, 4096)


def prefer(step: BlockifyLaunchPass, launch: tile.LaunchOp) -> Sequence[BlockifyLaunchPass]:
    """Return the possible choices: a full block that is wide along n, then all other sizes."""
    if not is_rectangular(launch):
        line = max(WARP_SIZE, next_power_of_two(total_extent(axes_to_split(launch))))
        lines = dict.fromkeys([min(USUAL_THREADS, line), *_sizes_up_to(_LINES, line)])
        return [BlockifyLaunchPass(step.target, n=n) for n in lines]
    rows, columns = (next_power_of_two(extent_along(launch, role)) for role in (Role.M, Role.N))
    n = min(WARP_SIZE, columns)
    m = max(min(USUAL_THREADS // n, rows), WARP_SIZE // n)
    sides = [(a, b) for a in _sizes_up_to(_SIDES, rows) for b in _sizes_up_to(_SIDES, columns)]
    return [BlockifyLaunchPass(step.target, m=a, n=b) for a, b in dict.fromkeys([(m, n), *sides])]


def reason_to_skip(step: BlockifyLaunchPass, launch: tile.LaunchOp) -> str | None:
    """Reason why the launch is better left unchanged, or None."""
    return "threads share its rows (cooperative-reduce)" if rows_are_cooperative(launch) else None


def _sizes_up_to(sizes: Sequence[int], most: int) -> list[int]:
    """Return the sizes no longer than the launch; at least the smallest size."""
    return [size for size in sizes if size <= max(most, sizes[0])]
