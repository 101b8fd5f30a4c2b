# SPDX-License-Identifier: Apache-2.0
"""
Loads that read the same element, where some values of one body correspond to values of another.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects import loop


class Reading(NamedTuple):
    """
    Buffer, subscripts and mask of a load; two loads with equal readings read the same element.
    """

    memref: SSAValue
    map: AffineMap
    indices: tuple[SSAValue, ...]
    mask: AffineMap | None
    mask_operands: tuple[SSAValue, ...]


def reading(load: loop.LoadOp, same: Mapping[SSAValue, SSAValue]) -> Reading:
    """Return the reading of `load`, with its buffer and indices replaced as `same` maps them."""
    return Reading(
        same.get(load.memref, load.memref),
        load.map.data,
        tuple(same.get(index, index) for index in load.indices),
        None if load.mask is None else load.mask.data,
        tuple(same.get(index, index) for index in load.mask_operands),
    )


def distinct(loads: Iterable[loop.LoadOp]) -> Iterable[loop.LoadOp]:
    """
    Return one load for each different element that `loads`, all of one kernel, read under one mask.
    """
    return {(tuple(load.operands), load.map, load.mask): load for load in loads}.values()


def readings(
    loads: Iterable[loop.LoadOp], same: Mapping[SSAValue, SSAValue]
) -> dict[Reading, loop.LoadOp]:
    """
    Return the first load of each reading; `same` replaces buffers and indices as in `reading`.
    """
    found: dict[Reading, loop.LoadOp] = {}
    for load in loads:
        found.setdefault(reading(load, same), load)
    return found
