# SPDX-License-Identifier: Apache-2.0
"""Writes to arrays in shared memory that overlap other arrays, whose contents are lost."""

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.target import WARP_SIZE
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.race import Accessors
from tilewright.interpreters.types import Array


def overwrite_neighbours(
    op: Operation, buffer: Buffer, elements: Array, accessors: Accessors
) -> None:
    """
    Mark all elements of the neighbours of `buffer` as unwritten, in each block where the threads
    `accessors` write to `elements`.

    One thread of each warp stands for all of its lanes. Raises `InterpreterError` if a thread may
    still use a neighbour, or a copy to it is under way.
    """
    if not buffer.neighbours or not elements.size:
        return
    rows, ids = (
        elements // buffer.size,
        [np.broadcast_to(field, elements.shape) for field in accessors],
    )
    _, first = np.unique([rows, ids[0] // WARP_SIZE], axis=1, return_index=True)
    for other in buffer.neighbours:
        lost = rows[first, None] * other.size + np.arange(other.size)
        if other.is_under_way(lost).any():
            raise fail(
                op,
                f"writes to %{buffer.name} while a copy to %{other.name} in the same memory is "
                "under way",
                remedy="wait for its fill with kernel.ring_wait",
            )
        assert other.accesses is not None
        *warps, _ = np.broadcast_arrays(*(field[first, None] for field in ids), lost)
        if other.accesses.races_with_update(lost, Accessors(*warps)).any():
            raise fail(
                op,
                f"writes to %{buffer.name} while another thread may use %{other.name} in the same "
                "memory",
                remedy="put a kernel.barrier between them",
            )
        other.set_unwritten(lost)
        other.overwritten_by = buffer.name
