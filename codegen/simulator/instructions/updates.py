# SPDX-License-Identifier: Apache-2.0
"""Updates of memory by many lanes: lanes that share a place act one after the other."""

from typing import Any

import numpy as np

from tilewright.codegen.simulator.instructions.elementwise import Function
from tilewright.codegen.simulator.memory import Place
from tilewright.codegen.simulator.registers import Values


def one_after_the_other(items: Values, place: Place, update: Function, values: list[Any]) -> Values:
    """
    Replace items by `update(item, *values)`, and return their old values. Lanes that share a place
    act one after the other.
    """
    cells = place.offsets // items.itemsize
    old = np.empty(len(cells), items.dtype)
    waiting = np.arange(len(cells))
    while len(waiting):
        turn = waiting[np.unique(cells[waiting], return_index=True)[1]]
        where = cells[turn]
        old[turn] = items[where]
        items[where] = update(old[turn], *(value[turn] for value in values))
        waiting = np.setdiff1d(waiting, turn, assume_unique=True)
    return old
