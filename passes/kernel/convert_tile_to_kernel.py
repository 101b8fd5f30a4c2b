# SPDX-License-Identifier: Apache-2.0
"""
Tile IR to Kernel IR: what a launch does becomes what one thread does.

    tile.launch (%rb = block 8 row, %t = thread 32 k) {
      %p = loop.reduce %k in 4 with add { ... loop.yield %0 where [99 - %k * 32 - %t] : f32 } : f32
      %s = tile.combine %p across %t with add : f32
      ...

becomes

    kernel.func grid 8 block 32 @sum(...) -> (...) {
      %rb = kernel.block_id
      %t = kernel.thread_id
      %p = scf.for %k = ... iter_args(%acc = %zero) { ... arith.select ... arith.addf ... }
      %1 = kernel.shuffle xor %p, 16 width 32 : f32
      ...

Block and thread axes become ids and indices made of them. What depends on register axes is done in
unrolled nests over them, and kept in arrays of registers as far as others need it. A mask stays on
its load or store; where it guards a value it becomes a select.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects import loop, tile
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.passes.kernel.lower_launch import LaunchLowering
from tilewright.passes.kernel.scratch import pass_scratch
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import Rule, rewriting

RULE = Rule("k", 1, "convert_tile_to_kernel")

_MAX_GRID = 2**31 - 1
"""Blocks in a grid along x (CUDA C++ Programming Guide, technical specifications)."""


def reason_against(source: loop.KernelOp) -> str | None:
    """Reason why the kernel cannot be lowered, or None."""
    launch = source.body.block.last_op
    if not isinstance(launch, tile.LaunchOp):
        return "it is not one tile.launch; run to-tile first"
    if launch.num_blocks > _MAX_GRID:
        return f"{launch.num_blocks} blocks; a grid has at most {_MAX_GRID}"
    if launch.num_threads > MAX_THREADS:
        return (
            f"{launch.num_threads} threads a block; a block has at most {MAX_THREADS}: give "
            "each several elements (register-tile)"
        )
    return None


class ConvertTileToKernelPass(ModulePass):
    """Turn every launch into a kernel function."""

    name = "convert-tile-to-kernel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each kernel of the module."""
        for source in [k for k in op.ops if isinstance(k, loop.KernelOp)]:
            if (reason := reason_against(source)) is not None:
                raise refused(source, f"cannot lower @{source.sym_name.data}: {reason}")
            launch = source.body.block.last_op
            assert isinstance(launch, tile.LaunchOp)
            with rewriting(RULE, source, whole_module=True):
                function = LaunchLowering(source, launch).run()
                pass_scratch(op, function)
                op.body.block.insert_op_before(function, source)
                source.detach()
                source.erase()
