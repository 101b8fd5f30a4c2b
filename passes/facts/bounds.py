# SPDX-License-Identifier: Apache-2.0
"""Loads that are in bounds in all steps of the loops around them, whatever their masks."""

from tilewright.dialects import loop
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.index import Range, range_of
from tilewright.dialects.types import memref_type


def is_in_bounds(load: loop.LoadOp) -> bool:
    """True if a load is known to be in bounds without its mask."""
    extents = memref_type(load.memref).get_shape()
    ranges = [range_of_value(index) for index in load.indices]
    return all(
        (found := range_of(expr, ranges)) is not None and found in Range.extent(extent)
        for expr, extent in zip(load.map.data.results, extents, strict=True)
    )
