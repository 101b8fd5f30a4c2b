# SPDX-License-Identifier: Apache-2.0
"""
Moves loop-invariant ops out of loops.

    loop.for %i in 32 {
      %sum = loop.reduce %k in 512 with add { ... }
      loop.for %j in 512 {
        %0 = loop.load %x[%i, %j] ...
        %1 = math.rsqrt %sum : f32
        %2 = arith.mulf %0, %1 : f32

becomes

    loop.for %i in 32 {
      %sum = loop.reduce %k in 512 with add { ... }
      %1 = math.rsqrt %sum : f32
      loop.for %j in 512 {
        %0 = loop.load %x[%i, %j] ...
        %2 = arith.mulf %0, %1 : f32

Scalar ops, loads and whole reductions move out of reductions, scans and inner nests. Nothing moves
out of the outermost nest, whose steps are distributed over threads. Ops behind a loop in the same
body stay there: hoisted, as with the bias of a matrix product, they would occupy registers while
that loop runs. Constants stay at their uses, unless a hoisted op needs them.
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.effects import is_pure
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("f", 9, "hoist_invariants")


def reason_against(kernel: loop.KernelOp) -> str | None:
    """Reason why the kernel is skipped, or None."""
    if isinstance(kernel.body.block.last_op, tile.LaunchOp):
        return "it is scheduled already"
    return None


def apply(kernel: loop.KernelOp) -> None:
    """
    Move loop-invariant ops out of every loop of `kernel` except its outermost nest, innermost loops
    first.
    """
    outermost = nest_block(kernel).parent_op()
    for op in reversed(ops_in(kernel)):
        # a loop without steps does not compute the ops of its body
        if isinstance(op, loop.AnyLoop) and op is not outermost and 0 not in op.axis_extents():
            _hoist_from(op)


def _hoist_from(nest: loop.AnyLoop) -> None:
    for op in tuple(nest.body.block.ops):
        if isinstance(op, arith.ConstantOp):
            continue
        if _varies(op, nest.body.block):
            if op.regions:
                return
            continue
        for moved in (*_constants(op, nest.body.block), op):
            _move_before(moved, nest)


def _varies(op: Operation, body: Block) -> bool:
    """True if `op` in `body` depends on the step, has side effects, or must stay in its body."""
    if op.has_trait(IsTerminator) or isinstance(op, loop.PrefixOp) or not is_pure(op):
        return True
    return any(_stays(value, body) for value in _used(op))


def _stays(value: SSAValue, body: Block) -> bool:
    if isinstance(value.owner, arith.ConstantOp):
        return False
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    return block is body


def _used(op: Operation) -> Sequence[SSAValue]:
    return [value for inner in ops_in(op) for value in inner.operands]


def _constants(op: Operation, body: Block) -> list[Operation]:
    """Return the constants in `body` that `op` uses, which must move with it."""
    owners = dict.fromkeys(value.owner for value in _used(op))
    return [o for o in owners if isinstance(o, arith.ConstantOp) and o.parent is body]


def _move_before(op: Operation, nest: loop.AnyLoop) -> None:
    assert nest.parent is not None
    op.detach()
    nest.parent.insert_op_before(op, nest)


class HoistInvariantsPass(ModulePass):
    """Move loop-invariant ops out of loops."""

    name = "hoist-invariants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Hoist invariants in each kernel of the module."""
        for kernel in [inner for inner in op.ops if isinstance(inner, loop.KernelOp)]:
            if (reason := reason_against(kernel)) is not None:
                skipped(RULE, kernel, reason)
                continue
            with rewriting(RULE, kernel):
                apply(kernel)
