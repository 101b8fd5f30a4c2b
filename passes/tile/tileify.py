# SPDX-License-Identifier: Apache-2.0
"""
Lifts the outermost free loops of a kernel into a launch: every step becomes the work of a block.

    loop.for %i in 32 {
      %s = loop.reduce %k in 2048 with add { ... }
      loop.for %j in 2048 { ... }
    }

becomes

    tile.launch (%i = block 32 row) {
      %s = loop.reduce %k in 2048 with add { ... }
      loop.for %j in 2048 { ... }
    }

The axes of the launch have roles: `m`, `n` and `batch` in a contraction, `row` if the body reduces
otherwise. A contraction with one row has an `m` axis of one step: attention of a single query.

With `columns=true`, a loop beside the reductions of a row is lifted too, if its steps contract the
row with columns. The loop over the values of attention is an example:

    loop.for %i in 8, %j in 128 {
      %m = loop.reduce %k in 128 with max { ... }
      loop.for %l in 64 {
        %s = loop.reduce %k in 128 with add { ... %x[%i, %j, %k] ... %v[%i, %k, %l] ... }
        loop.store %s, %out[%i, %j, %l]
      }
    }

becomes

    tile.launch (%i = block 8 batch, %j = block 128 m, %l = block 64 n) {
      %m = loop.reduce %k in 128 with max { ... }
      %s = loop.reduce %k in 128 with add { ... %x[%i, %j, %k] ... %v[%i, %k, %l] ... }
      loop.store %s, %out[%i, %j, %l]
    }

Ops beside the loop, such as the maximum of the row, are then repeated for every column, until
`cooperative-reduce` shares them among threads. Stores beside the loop are done by the first column.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, IndexType, ModuleOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.tile.attributes import AxisAttr, Level
from tilewright.passes.driver.pipeline_string import configure
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.facts.roles import axis_roles, roles_in, single_row_roles
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.rewriting.substitution import masked_store
from tilewright.passes.tile.kernel_schedule import record, take_planned

RULE = Rule("t", 1, "tileify")


def reason_against(kernel: loop.KernelOp) -> str | None:
    """Reason why the kernel cannot be lifted into a launch, or None."""
    if isinstance(kernel.body.block.last_op, tile.LaunchOp):
        return "it is a launch already"
    return None


def apply(kernel: loop.KernelOp, rewriter: PatternRewriter | None = None) -> tile.LaunchOp:
    """
    Replace the outermost nest by a launch, or the whole body if there is no nest, and return the
    launch. A copy that is only examined needs no `rewriter`.
    """
    whole, block = kernel.body.block, nest_block(kernel)
    rewriter = rewriter or PatternRewriter(InsertPoint.at_end(whole))
    nest, roles = block.parent_op(), axis_roles(block)
    if Role.N not in roles and isinstance(nest, loop.ForOp):
        roles = single_row_roles(block) or roles
    extents = nest.axis_extents() if isinstance(nest, loop.ForOp) else ()
    if 0 in extents:
        block, extents, roles = Block(), (), ()  # a launch has a step: this one does nothing
    axes = [
        AxisAttr.get(Level.BLOCK, extent, role) for extent, role in zip(extents, roles, strict=True)
    ]
    body = Block(arg_types=[IndexType()] * len(axes))
    lifted = list(body.args)
    for old, new in zip(block.args, lifted, strict=False):
        new.name_hint = old.name_hint
    if Role.N in roles and Role.M not in roles:
        at = roles.index(Role.N)
        axes.insert(at, AxisAttr.get(Level.BLOCK, 1, Role.M))
        rewriter.insert_block_argument(body, at, IndexType()).name_hint = "m"
    if block is whole and whole.first_op is not None:
        block = whole.split_before(whole.first_op)
    launch = tile.LaunchOp(axes, Region(body))
    launch.location = nest.location if isinstance(nest, loop.ForOp) else kernel.location
    rewriter.insert(launch, InsertPoint.at_end(whole))
    if block is not whole:
        rewriter.inline_block(block, InsertPoint.at_end(body), lifted)
    if isinstance(nest, loop.ForOp):
        rewriter.erase(nest)
    return launch


def lift_columns(launch: tile.LaunchOp, rewriter: PatternRewriter | None = None) -> None:
    """
    Lift the loop over the columns, if it is the only `loop.for` or scan in the launch. A copy of a
    kernel that is only examined needs no `rewriter`.
    """
    rewriter = rewriter or PatternRewriter(launch)
    loops = [op for op in launch.body.block.ops if isinstance(op, loop.ForOp | loop.ScanOp)]
    if len(loops) != 1 or not isinstance(columns := loops[0], loop.ForOp):
        return
    block = launch.body.block
    roles = roles_in(columns.body.block, [*block.args, *columns.body.block.args])
    extents = [*launch.axis_extents(), *columns.axis_extents()]
    if Role.N not in roles or 0 in extents:
        return
    beside = [op for op in block.ops if isinstance(op, loop.StoreOp)]
    axes: list[SSAValue] = []
    for old in columns.body.block.args:
        axes.append(rewriter.insert_block_argument(block, len(block.args), old.type))
        axes[-1].name_hint = old.name_hint
    launch.axes = ArrayAttr(
        AxisAttr.get(Level.BLOCK, extent, role) for extent, role in zip(extents, roles, strict=True)
    )
    rewriter.notify_op_modified(launch)
    rewriter.inline_block(columns.body.block, InsertPoint.before(columns), axes)
    rewriter.erase(columns)
    for store in beside:
        first = [AffineExpr.dimension(d) * -1 for d in range(len(axes))]
        rewriter.replace(store, masked_store(store, (first, axes)))


@dataclass(frozen=True)
class TileifyPass(ModulePass):
    """Turn every loop nest into a launch."""

    name = "tileify"

    columns: bool = False
    """True to also lift a loop over the columns that a row is contracted with."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Lift the nest of each kernel of the module."""
        rewrite_each(op, _LiftNest(self), loop.KernelOp)


class _LiftNest(RewritePattern):
    """Pattern that lifts the outermost nest of a kernel."""

    def __init__(self, step: TileifyPass):
        self.step = step

    @op_type_rewrite_pattern
    def match_and_rewrite(self, kernel: loop.KernelOp, rewriter: PatternRewriter) -> None:
        if (reason := reason_against(kernel)) is not None:
            skipped(RULE, kernel, reason)
            return
        step = self._planned(kernel)
        with rewriting(RULE, kernel):
            launch = apply(kernel, rewriter)
            if step.columns:
                lift_columns(launch, rewriter)
        record(kernel, str(step), rewriter)

    def _planned(self, kernel: loop.KernelOp) -> TileifyPass:
        """
        Return the pass with the options of the planned step, unless it has options of its own.
        """
        planned = take_planned(kernel, self.step.name)
        if planned is None or self.step.columns:
            return self.step
        return configure(TileifyPass, planned, "pass")
