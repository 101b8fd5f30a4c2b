# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `permute-register-tile`: keep the arrangement if slabs are read without bank
conflicts. Otherwise take one without conflicts. If there is none, take the one whose accesses take
a block the fewest clocks (`access_clocks`).
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.passes.cost.slab_conflicts import SlabConflicts, conflicts_of
from tilewright.passes.tile.access_clocks import access_clocks, reads_without_conflicts
from tilewright.passes.tile.permute_register_tile import PermuteRegisterTilePass, arranged
from tilewright.passes.tile.register_tile_sides import (
    height_in_order,
    side_by_side,
    sides_of,
    warp_heights,
)
from tilewright.passes.tile.rows_to_piles import layouts_in_piles

_MOST_CHOICES = 40
_COMPARED = 4
"""
Number of arrangements that are compared: the present one, strips of one, and strips of one along m
or n.
"""


class _Cost(NamedTuple):
    """Cost of an arrangement; conflicts count before clocks."""

    has_conflicts: bool
    clocks: float

    @staticmethod
    def of(conflicts: SlabConflicts) -> "_Cost":
        """
        Return the cost of a launch. Slabs that are read faster with their rows dealt out to piles
        are assumed to be stored this way.
        """
        layouts = layouts_in_piles(conflicts)
        return _Cost(
            not reads_without_conflicts(conflicts, layouts), access_clocks(conflicts, layouts)
        )


def prefer(
    step: PermuteRegisterTilePass, launch: tile.LaunchOp
) -> Sequence[PermuteRegisterTilePass]:
    """
    Return at most 40 choices, the best first; the others vary the strips and the shape of a warp.
    """
    m, n = sides_of(launch)
    lanes = height_in_order(m, n, Role.N)
    usual = [replace(step, vm=a, vn=b, lanes_m=lanes, fastest="n") for a, b in side_by_side(m, n)]
    order = [(high, along) for along in ("n", "m") for high in warp_heights(m, n)]
    best = usual[0]

    @cache
    def cost(choice: PermuteRegisterTilePass) -> _Cost:
        with arranged(choice, launch) as conflicts:
            return _Cost.of(conflicts)

    is_as_before = launch.thread_axes()[-1] == n.thread  # then it need not be tried
    if not (is_as_before and reads_without_conflicts(conflicts_of(launch), {})):
        best = min(usual[:_COMPARED], key=cost)
        if cost(best).has_conflicts and not (m.joined or n.joined):
            warps = [replace(best, lanes_m=high, fastest=along) for high, along in order]
            best = min([best, *warps], key=cost)
    warps = [replace(best, lanes_m=high, fastest=along) for high, along in order]
    return list(dict.fromkeys([best, *usual, *warps]))[:_MOST_CHOICES]
