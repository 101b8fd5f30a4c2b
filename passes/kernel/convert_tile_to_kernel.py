# SPDX-License-Identifier: Apache-2.0
"""
Lowering of Tile IR to Kernel IR: the work of a launch becomes the program of one thread.

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

Block and thread axes become ids, and indices computed from the ids. Ops that depend on register
axes go into unrolled nests over these axes. Values that are used outside of their nest are kept in
arrays of registers. The mask of a load or store stays on it; a mask that guards a value becomes a
select.
"""

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.types import memref_type
from tilewright.passes.kernel.lower_launch import LaunchLowering
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import Rule, rewriting


def pass_scratch(module: ModuleOp, function: kernel.FuncOp) -> None:
    """
    Allocate the scratch outputs of a kernel ahead of each of its launches, and pass them last.
    """
    added = [output for output in function.outputs if function.is_scratch(output)]
    if not added:
        return
    for launch in launches_of(module, function.sym_name.data):
        buffers = [allocated(launch, output) for output in added]
        outputs = [*launch.outputs, *buffers]
        replacement = loop.LaunchOp(function.sym_name.data, launch.inputs, outputs)
        replace_launch(launch, [replacement])


def launches_of(module: ModuleOp, name: str) -> list[loop.LaunchOp]:
    """Return the launches of kernel `name` in the module."""
    launches = (op for op in module.walk() if isinstance(op, loop.LaunchOp))
    return [op for op in launches if op.kernel.string_value() == name]


def allocated(launch: loop.LaunchOp, like: SSAValue) -> SSAValue:
    """
    Return a new buffer with the type of the kernel argument `like`, allocated ahead of `launch`.
    """
    type = memref_type(like)
    alloc = memref.AllocOp.get(type.element_type, shape=type.get_shape())
    alloc.memref.name_hint = like.name_hint
    assert launch.parent is not None
    launch.parent.insert_op_before(alloc, launch)
    return alloc.memref


def replace_launch(launch: loop.LaunchOp, others: list[loop.LaunchOp]) -> None:
    """Replace `launch` by the launches `others`, in their order."""
    assert launch.parent is not None
    for other in others:
        other.location = launch.location
        launch.parent.insert_op_before(other, launch)
    launch.detach()
    launch.erase()


RULE = Rule("k", 1, "convert_tile_to_kernel")

_MAX_GRID = 2**31 - 1
"""
Largest number of blocks in a grid along x (CUDA C++ Programming Guide, technical specifications).
"""


def reason_against(source: loop.KernelOp) -> str | None:
    """Reason why the kernel cannot be lowered, or None."""
    launch = source.body.block.last_op
    if not isinstance(launch, tile.LaunchOp):
        return "it is not a single tile.launch; run to-tile first"
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
        """Lower each kernel of the module; raise an error for a kernel that cannot be lowered."""
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
