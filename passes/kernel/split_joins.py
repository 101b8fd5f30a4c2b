# SPDX-License-Identifier: Apache-2.0
"""
Splits a kernel whose blocks join through a workspace into two kernels. The first stores the values
of each block; the second joins them and does all that follows.

    loop.kernel @k(%x, %bias) -> (%out) {
      tile.launch (%s = block 4, %b = block 8, %t = thread 32) {
        %p = ... %x ...
        %a = tile.combine %p across %s with add join(workspace) : f32
        ... %a ... %bias ... %out
      }
    }

becomes

    loop.kernel @k_partials(%x) -> (%partials: memref<4x8x32xf32>) {
      tile.launch (%s = block 4, %b = block 8, %t = thread 32) {
        %p = ... %x ...
        loop.store %p, %partials[%s, %b, %t]
      }
    }
    loop.kernel @k_join(%bias, %partials: memref<4x8x32xf32>) -> (%out) {
      tile.launch (%b = block 8, %t = thread 32) {
        %a = loop.reduce %r in 4 with add { loop.yield %partials[%r, %b, %t] }
        ... %a ... %bias ... %out
      }
    }

Each launch of the kernel becomes a launch of both. A kernel without launches becomes a function
that launches both.
"""

import sys
from collections.abc import Container

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects import loop, tile
from tilewright.dialects.tile import Join
from tilewright.passes.facts.block_joins import block_joins
from tilewright.passes.kernel.convert_tile_to_kernel import allocated, launches_of, replace_launch
from tilewright.passes.kernel.kernel_halves import erase, first_half, second_half
from tilewright.passes.reporting.refusal import refused
from tilewright.passes.reporting.trace import Rule, rewriting
from tilewright.passes.rewriting.launching import launching

RULE = Rule("k", 9, "split_joins")


def _split(source: loop.KernelOp, module: ModuleOp) -> None:
    """Replace a kernel by its two halves, and each launch of it by two launches."""
    name = source.sym_name.data
    taken = {op.sym_name.data for op in module.ops if isinstance(op, loop.KernelOp | func.FuncOp)}
    halves = [
        first_half(source, _free(f"{name}_partials", taken)),
        second_half(source, _free(f"{name}_join", taken)),
    ]
    twice = {half.given[a] for half in halves[:1] for a in half.kernel.outputs if a in half.given}
    for output in halves[1].kernel.outputs:
        if halves[1].given[output] in twice:
            reason = f"stores to %{output.name_hint} before and after its blocks join"
            raise refused(source, f"@{name} {reason}; use join(last_block)")
    for half in halves:
        module.body.block.insert_op_before(half.kernel, source)
    launches = launches_of(module, name) or [_called(source, module)]
    for launch in launches:
        rooms = [allocated(launch, room) for room in halves[0].rooms]
        replace_launch(launch, [half.launch_like(launch, rooms) for half in halves])
    erase([source])


def _free(name: str, taken: Container[str]) -> str:
    names = (f"{name}_{count}" if count else name for count in range(sys.maxsize))
    return next(free for free in names if free not in taken)


def _called(source: loop.KernelOp, module: ModuleOp) -> loop.LaunchOp:
    """Return a launch of `source` in a new function, which takes the kernel's name."""
    function, launch = launching(source, source.sym_name.data)
    module.body.block.insert_op_before(function, source)
    return launch


def _is_split(source: loop.KernelOp) -> bool:
    launch = source.body.block.last_op
    if not isinstance(launch, tile.LaunchOp):
        return False
    combines = (op for op in launch.walk() if isinstance(op, tile.CombineOp))
    if not any(op.join is not None and op.join.data is Join.WORKSPACE for op in combines):
        return False
    joins = block_joins(launch)
    return joins is not None and joins.kind is Join.WORKSPACE


class SplitJoinsPass(ModulePass):
    """Split each kernel with `join(workspace)` into two kernels."""

    name = "split-joins"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split each kernel of the module whose blocks join through a workspace."""
        for source in [k for k in op.ops if isinstance(k, loop.KernelOp) and _is_split(k)]:
            with rewriting(RULE, source, whole_module=True):
                _split(source, op)
