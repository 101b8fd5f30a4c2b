# SPDX-License-Identifier: Apache-2.0
"""Launches that work on rows: how long a row is, and who does it, one thread or many."""

from math import prod

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role

SHORT_ROW = 32
"""A row shorter than a warp is done by one thread."""


def is_contraction(launch: tile.LaunchOp) -> bool:
    """Whether the launch has rows and columns, each element a reduction of its own."""
    return any(axis.role is Role.N for axis in launch.bound_axes())


def row_length(launch: tile.LaunchOp) -> int:
    """The longest loop that the body of the launch runs for one row; 0 if it runs none."""
    loops = [op for op in launch.body.block.ops if isinstance(op, loop.ReduceOp | loop.ForOp)]
    return max((prod(op.axis_extents()) for op in loops), default=0)


def shares_rows(launch: tile.LaunchOp) -> bool:
    """Whether threads share each row, rather than each doing elements or rows of its own."""
    return not is_contraction(launch) and row_length(launch) >= SHORT_ROW
