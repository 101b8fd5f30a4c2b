# SPDX-License-Identifier: Apache-2.0
"""Which loads read the same element, when some values of one body stand for those of another."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects import loop


class Reading(NamedTuple):
    """What a load reads, and where it does; equal for loads that read the same."""

    memref: SSAValue
    map: AffineMap
    indices: tuple[SSAValue, ...]
    mask: AffineMap | None
    mask_operands: tuple[SSAValue, ...]


def reading(load: loop.LoadOp, same: Mapping[SSAValue, SSAValue]) -> Reading:
    """What `load` reads; `same` says what stands for its buffer and its indices."""
    return Reading(
        same.get(load.memref, load.memref),
        load.map.data,
        tuple(same.get(index, index) for index in load.indices),
        None if load.mask is None else load.mask.data,
        tuple(same.get(index, index) for index in load.mask_operands),
    )


def distinct(loads: Iterable[loop.LoadOp]) -> Iterable[loop.LoadOp]:
    """One of the loads of one kernel for each element that they read, as `readings` finds them."""
    return {(tuple(load.operands), load.map, load.mask): load for load in loads}.values()


def readings(
    loads: Iterable[loop.LoadOp], same: Mapping[SSAValue, SSAValue]
) -> dict[Reading, loop.LoadOp]:
    """Return the loads by what they read, the first of each."""
    found: dict[Reading, loop.LoadOp] = {}
    for load in loads:
        found.setdefault(reading(load, same), load)
    return found
