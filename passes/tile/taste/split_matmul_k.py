# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `split-matmul-k`: if the blocks do not fill the GPU, split so that they do, as
long as each block has enough steps.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.passes.facts.block_joins import reason_against_join
from tilewright.passes.tile.contracting_reductions import chunks_of, contracting_reductions
from tilewright.passes.tile.rebind import total_extent
from tilewright.passes.tile.split_matmul_k import SplitMatmulKPass
from tilewright.passes.tile.usual_sizes import SHORTEST_SPLIT

_TILE = 128
"""Rows and columns that a block will have, assumed while they are not bound yet."""


def prefer(step: SplitMatmulKPass, launch: tile.LaunchOp) -> Sequence[SplitMatmulKPass]:
    """Return the choices, first about as many blocks as fill the GPU."""
    questions = step.questions(launch)
    possible = [factor for factor in questions["factor"] if isinstance(factor, int)]
    long = [factor for factor in possible if factor * SHORTEST_SPLIT <= _steps(launch)]
    filling = -(-step.gpu.sms // _blocks(launch))
    factors = sorted(long or possible, key=lambda factor: abs(factor - filling))
    return [
        SplitMatmulKPass(step.target, factor=factor, join=join)
        for factor, join in product(factors, map(str, questions["join"]))
        if reason_against_join(join, factor, step.target) is None
    ]


def reason_to_skip(step: SplitMatmulKPass, launch: tile.LaunchOp) -> str | None:
    """Reason why the launch is better not split, or None."""
    sms, blocks = step.gpu.sms, _blocks(launch)
    if blocks >= sms:
        return f"{blocks} blocks fill the {sms} multiprocessors of {step.target}"
    if _steps(launch) < 2 * SHORTEST_SPLIT:
        return f"a K of {_steps(launch)} is short: each part should have {SHORTEST_SPLIT} steps"
    return None


def _steps(launch: tile.LaunchOp) -> int:
    """Return the number of steps of the longest contraction."""
    contractions = [chunks_of(op) for op in contracting_reductions(launch)]
    return max(prod(op.axis_extents()[0] for op in nest) for nest in contractions)


def _blocks(launch: tile.LaunchOp) -> int:
    """
    Return the number of blocks that the launch has, or will have once its rows and columns are
    split.
    """
    if launch.thread_axes():
        return launch.num_blocks
    axes = launch.bound_axes()
    rows, columns = (total_extent(a for a in axes if a.role is role) for role in (Role.M, Role.N))
    others = total_extent(axis for axis in axes if axis.role not in (Role.M, Role.N))
    return others * -(-rows // _TILE) * -(-columns // _TILE)
