# SPDX-License-Identifier: Apache-2.0
"""The slabs of a launch by name, as options name them: a second `%as` is `as-1`."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import tile
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.dialects.tile.layout import with_layout
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.memoised import memoised

stages_of = memoised(tile.stages_of)
"""Stages of the slabs in the blocks of a launch, in order."""


@memoised
def named_slabs(launch: tile.LaunchOp) -> dict[str, tile.StageOp]:
    """Return the stages of a launch by the names of their slabs, in order."""
    found: dict[str, tile.StageOp] = {}
    for stage in stages_of(launch):
        name = stage.slab.name_hint or "slab"
        names = (name if not number else f"{name}-{number}" for number in count())
        found[next(name for name in names if name not in found)] = stage
    return found


def chosen_stages(launch: tile.LaunchOp, names: Iterable[str] | None) -> frozenset[tile.StageOp]:
    """Return the stages whose slabs have the given names, all of which must exist."""
    stages = named_slabs(launch)
    return frozenset(stages[name] for name in names or ())


def reason_against_names(names: Sequence[str], known: Mapping[str, tile.StageOp]) -> str | None:
    """Reason why `names` cannot name slabs, or None."""
    for name in names:
        if name not in known:
            return f"it has no slab '{name}'; it has {', '.join(known)}"
    return None if names else "name at least one slab"


def set_layout(stage: tile.StageOp, layout: SlabLayoutAttr, rewriter: PatternRewriter) -> None:
    """Change the layout of the slab, for all its users."""
    rewriter.replace_value_with_new_type(stage.slab, with_layout(memref_type(stage.slab), layout))
    rewriter.notify_op_modified(stage)
