# SPDX-License-Identifier: Apache-2.0
"""
Fills rings by `cp.async`, which copies from global to shared memory while the threads go on.

    %as = tile.stage (%i, %k) in [128, 16] ring(depth 2) { ... } : memref<128x16xf32, 3 : i64>

becomes

    %as = tile.stage (%i, %k) in [128, 16] ring(depth 2) transport(cp_async) { ... } : ...

A slab is copied if its body only loads from global memory, in rows of at least 4 bytes. All other
slabs are filled through registers. The
lowering copies 16 bytes at a time if it can prove them aligned, else 8 or 4. Masked elements are
filled with zeros.
"""

from dataclasses import dataclass
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import tile
from tilewright.dialects.target import VECTOR_BYTES
from tilewright.dialects.tile import Transport, TransportAttr
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.named_slabs import stages_of
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.tile.scheduling_pass import SchedulingPass

_LEAST_BYTES = min(VECTOR_BYTES)
"""Fewest bytes that one `cp.async` copies (PTX ISA, cp.async)."""


@dataclass(frozen=True)
class AsyncCopyPass(SchedulingPass, RewritePattern):
    """Fill rings by asynchronous copies instead of loads and stores of the threads."""

    name = "async-copy"
    RULE: ClassVar[Rule] = Rule("t", 13, "async_copy")

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if not any(stage.ring is not None for stage in stages_of(launch)):
            return "no slab has a ring"
        if not any(map(_is_copied, stages_of(launch))):
            return "every ring is filled by TMA, or with values that threads compute"
        return None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, stage: tile.StageOp, rewriter: PatternRewriter) -> None:
        if _is_copied(stage):
            stage.transport = TransportAttr(Transport.CP_ASYNC)
            rewriter.notify_op_modified(stage)


def _is_copied(stage: tile.StageOp) -> bool:
    """
    True if threads fill a ring with plain copies from global memory, in rows of 4 bytes or more.
    """
    if stage.ring is None or stage.transport_kind is not Transport.SYNC:
        return False
    load = stage.copied_load()
    if load is None or memref_type(load.memref).memory_space == tile.SHARED:
        return False
    row = memref_type(stage.slab).get_shape()[-1] * size_of(load.result.type)
    return row >= _LEAST_BYTES
