# SPDX-License-Identifier: Apache-2.0
"""Heuristics (taste) of `mark-unroll`: the limit that the cost models assume."""

from collections.abc import Iterator
from dataclasses import replace

from tilewright.dialects import tile
from tilewright.passes.cost.slab_conflicts import USUAL_UNROLL_LIMIT
from tilewright.passes.facts.register_axes import register_axes
from tilewright.passes.tile.mark_unroll import MarkUnrollPass, small_loops

_LIMITS = (8, 4, 32, 1)


def prefer(step: MarkUnrollPass, launch: tile.LaunchOp) -> Iterator[MarkUnrollPass]:
    """Yield the usual limit, then the limits with which other loops are unrolled."""
    yield replace(step, limit=USUAL_UNROLL_LIMIT)
    registers = register_axes(launch)
    known = [small_loops(launch, USUAL_UNROLL_LIMIT, registers)]
    for limit in _LIMITS:
        if (found := small_loops(launch, limit, registers)) not in known:
            known.append(found)
            yield replace(step, limit=limit)
