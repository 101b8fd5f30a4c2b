# SPDX-License-Identifier: Apache-2.0
"""
Gives the intermediate buffers of `@main` places in one slab of memory, and the same place to
buffers that are not needed at the same time.

    %a = memref.alloc() : memref<64xf32>
    loop.launch @first(%x) -> (%a)
    %b = memref.alloc() : memref<64xf32>
    loop.launch @second(%a) -> (%b)
    %c = memref.alloc() : memref<64xf32>
    loop.launch @third(%b) -> (%c)
    %d = memref.alloc() : memref<64xf32>
    loop.launch @fourth(%c) -> (%d)
    func.return %d

becomes

    %a = memref.alloc() {plan.offset = 0 : i64} : memref<64xf32>
    loop.launch @first(%x) -> (%a)
    %b = memref.alloc() {plan.offset = 256 : i64} : memref<64xf32>
    loop.launch @second(%a) -> (%b)
    %c = memref.alloc() {plan.offset = 0 : i64} : memref<64xf32>
    loop.launch @third(%b) -> (%c)
    %d = memref.alloc() : memref<64xf32>
    loop.launch @fourth(%c) -> (%d)
    func.return %d

A buffer is needed from the first launch that uses it to the last. Results outlive the plan and keep
memory of their own, as inputs do. A launch never writes where it reads: that a kernel reads each
element only where and before it writes it is not known at this level.
"""

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.dialects.buffer_plan import aligned, bytes_of_type, clear, set_offset, set_totals
from tilewright.dialects.types import memref_type
from tilewright.passes.kernel.slots import Lifetime, assign_offsets, lifetimes
from tilewright.passes.trace import Rule, rewriting, skipped

RULE = Rule("k", 3, "plan_buffers")

_KNOWN = (memref.AllocOp, memref.DeallocOp, loop.LaunchOp, func.ReturnOp)


def obstacle(main: func.FuncOp) -> str | None:
    """Why the buffers of a function cannot be planned, or None."""
    for op in main.body.block.ops:
        if not isinstance(op, _KNOWN):
            return f"'{op.name}' may use buffers in ways that are not known"
    return None


def intermediates(main: func.FuncOp) -> set[SSAValue]:
    """The buffers that launches use and that the function allocates and does not return."""
    returned = main.body.block.last_op
    kept = set(returned.operands) if returned is not None else set[SSAValue]()
    allocs = [op.memref for op in main.body.block.ops if isinstance(op, memref.AllocOp)]
    return {buffer for buffer in allocs if buffer not in kept and _is_launched_on(buffer)}


def _is_launched_on(buffer: SSAValue) -> bool:
    return any(isinstance(use.operation, loop.LaunchOp) for use in buffer.uses)


def plan(main: func.FuncOp, buffers: set[SSAValue]) -> None:
    """Set the offsets of `buffers`, and what the slab comes to."""
    for op in [op for op in main.body.block.ops if isinstance(op, memref.DeallocOp)]:
        if op.memref in buffers:  # the slab is freed as a whole
            op.detach()
            op.erase()
    launches = [op for op in main.body.block.ops if isinstance(op, loop.LaunchOp)]
    alive = lifetimes([v for v in op.operands if v in buffers] for op in launches)
    for step, launch in enumerate(launches):
        _remark_on_place(main, launch, step, alive)
    sizes = {buffer: bytes_of_type(memref_type(buffer)) for buffer in alive}
    offsets = assign_offsets(alive, sizes)
    for buffer, offset in offsets.items():
        assert isinstance(buffer.owner, memref.AllocOp)
        set_offset(buffer.owner, offset)
    peak = max(offset + aligned(sizes[buffer]) for buffer, offset in offsets.items())
    set_totals(main, peak, sum(map(aligned, sizes.values())))


def _remark_on_place(
    main: func.FuncOp, launch: loop.LaunchOp, step: int, alive: Mapping[SSAValue, Lifetime]
) -> None:
    """Say which output could have had the place of an input that nobody reads any more."""
    for output in (value for value in launch.outputs if value in alive):
        for read in launch.inputs:
            if read in alive and alive[read].last == step and read.type == output.type:
                skipped(
                    RULE,
                    main,
                    f"{_name(output)} is not written in the place of {_name(read)}: not "
                    f"known whether {launch.kernel.string_value()} reads elements only where it "
                    "writes them",
                )


def _name(buffer: SSAValue) -> str:
    return f"%{buffer.name_hint or 'memref'}"


class PlanBuffersPass(ModulePass):
    """Plan the intermediate buffers of `@main`."""

    name = "plan-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Anew, whatever was planned before; a function without intermediates needs no plan."""
        main = next((f for f in op.ops if _is_main(f)), None)
        if not isinstance(main, func.FuncOp):
            return
        with rewriting(RULE, main):
            clear(main)
            if not (buffers := intermediates(main)):
                return
            if (reason := obstacle(main)) is not None:
                skipped(RULE, main, reason)
                return
            plan(main, buffers)


def _is_main(op: object) -> bool:
    return isinstance(op, func.FuncOp) and op.sym_name.data == "main"
