# SPDX-License-Identifier: Apache-2.0
"""
Tile IR: a kernel scheduled on the GPU.

A `tile.launch` binds axes to levels of the machine; its body is Loop IR over those axes.
`tile.combine` combines values across axes. `tile.stage` is a slab of a block's data on chip, and
`tile.share` a slab of values that its threads computed. Register axes stay axes: Tile IR does not
unroll them.

The ops of each kind are in one module, and all of them can be imported from here.
"""

from xdsl.ir import Dialect

from tilewright.dialects.matrix_instruction import MatrixInstructionAttr
from tilewright.dialects.tile.attributes import (
    AxisAttr,
    LevelAttr,
    RingAttr,
    Transport,
    TransportAttr,
)
from tilewright.dialects.tile.combine import CombineOp, Join, JoinAttr
from tilewright.dialects.tile.launch import LaunchOp, MeetingOp, launch_of, launches_of, level_of
from tilewright.dialects.tile.layout import SlabLayoutAttr, layout_of
from tilewright.dialects.tile.share import ShareOp
from tilewright.dialects.tile.stage import (
    SHARED,
    StageOp,
    stages_of,
    value_varies_along,
    varies_along,
)

__all__ = [
    "SHARED",
    "CombineOp",
    "Join",
    "JoinAttr",
    "LaunchOp",
    "MeetingOp",
    "RingAttr",
    "ShareOp",
    "SlabLayoutAttr",
    "StageOp",
    "Tile",
    "Transport",
    "TransportAttr",
    "launch_of",
    "launches_of",
    "layout_of",
    "level_of",
    "stages_of",
    "value_varies_along",
    "varies_along",
]


Tile = Dialect(
    "tile",
    [LaunchOp, CombineOp, StageOp, ShareOp],
    [
        AxisAttr,
        LevelAttr,
        JoinAttr,
        MatrixInstructionAttr,
        RingAttr,
        SlabLayoutAttr,
        TransportAttr,
    ],
)
