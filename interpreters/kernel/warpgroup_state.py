# SPDX-License-Identifier: Apache-2.0
"""State of the warpgroups of some blocks: multiplications under way, commits and fences."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tilewright.dialects.kernel.warpgroup import GroupFactor, GroupMultiplyOp
from tilewright.dialects.matrix_instruction import GROUP_THREADS
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.types import Array


class FactorElements(NamedTuple):
    """Elements of a factor that a multiplication reads, by (..., block, warpgroup, row, k)."""

    factor: GroupFactor
    buffer: Buffer
    offsets: Array
    values: Array


@dataclass
class Multiplication:
    """A multiplication that some warpgroups have started and not waited for."""

    op: GroupMultiplyOp
    factors: list[FactorElements]
    sums: tuple[Buffer, Array]
    """Register array, and the offsets in it by (..., block, warpgroup, row, column)."""
    running: Array
    """Mask of the warpgroups, by (block, warpgroup), that have not waited for it."""
    group: Array
    """Number of the group that each warpgroup commits it with."""


class Warpgroups:
    """State of all warpgroups of a machine."""

    def __init__(self, blocks: int, threads: int):
        shape = blocks, threads // GROUP_THREADS
        self.started: list[Multiplication] = []
        self.committed = np.zeros(shape, int)
        self.fenced = np.zeros(shape, bool)
        """Mask of the warpgroups that have passed a fence since their last wait."""
        self.proxied = np.zeros((blocks, 1), int)
        """Time at the last proxy fence of each block: earlier writes can be read by the engine."""
