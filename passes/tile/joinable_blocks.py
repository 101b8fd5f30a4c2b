# SPDX-License-Identifier: Apache-2.0
"""
Reasons why blocks that split the work of a launch cannot join: limits of the target, and of the
lowering.
"""

from collections.abc import Callable

from tilewright.dialects import tile
from tilewright.dialects.kernel_like import MAX_CLUSTER
from tilewright.dialects.target import target as target_named
from tilewright.dialects.tile import Join
from tilewright.passes.facts.block_joins import RefusedJoinError, block_joins


def reason_against_join(join: str | None, blocks: int, target: str) -> str | None:
    """Reason why the target cannot join so many blocks this way, or None; users write `join`."""
    if join not in list(Join):
        return f"blocks cannot join by '{join}'; join is {', '.join(Join)}"
    if join != Join.CLUSTER:
        return None
    if not target_named(target).has_clusters:
        return f"{target} has no clusters; take join=last_block"
    if blocks > MAX_CLUSTER:
        return f"a cluster has at most {MAX_CLUSTER} blocks; take join=last_block"
    return None


def reason_not_lowered(
    launch: tile.LaunchOp, split: Callable[[tile.LaunchOp], object]
) -> str | None:
    """Reason why what `split` makes of the launch could not be lowered, or None."""
    tried = launch.kernel.clone()
    copy = tried.body.block.last_op
    assert isinstance(copy, tile.LaunchOp)
    split(copy)
    whole = tried.body.block.last_op
    assert isinstance(whole, tile.LaunchOp)
    try:
        block_joins(whole)
    except RefusedJoinError as err:
        return err.with_options
    return None
