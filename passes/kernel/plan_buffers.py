# SPDX-License-Identifier: Apache-2.0
"""
Places the intermediate buffers of `@main` in one slab of memory; buffers that are not alive at the
same time may share a place.

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

A buffer is alive from the first launch that uses it to the last. Results outlive the plan and keep
memory of their own, as inputs do.

A launch may write a buffer in the place of another that it is the last to read. Its kernel must
read each element only before writing it (`in_place.py`). The memory is shared in this way only if
the slab becomes smaller. Memory that is written in place cannot be read through the read-only
cache, nor ahead of the writes. The kernel then states which of its arguments may be one buffer:

    kernel.func ... @twice(%x: memref<64xf32>)
        -> (%out: memref<64xf32> {plan.in_place = array<i64: 0>}) {
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass

from tilewright.dialects import kernel, loop
from tilewright.dialects.buffer_plan import aligned, bytes_of_type, clear, set_offset, set_totals
from tilewright.dialects.types import memref_type
from tilewright.passes.kernel.slots import (
    Lifetime,
    assign_offsets,
    assign_shared,
    lifetimes,
    peak,
)
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("k", 5, "plan_buffers")

_KNOWN = (memref.AllocOp, memref.DeallocOp, loop.LaunchOp, func.ReturnOp)


Kernels = Mapping[str, kernel.FuncOp]


def reason_against(main: func.FuncOp) -> str | None:
    """Reason why the buffers of a function cannot be planned, or None."""
    for op in main.body.block.ops:
        if not isinstance(op, _KNOWN):
            return f"'{op.name}' may use buffers in ways that are not known"
    return None


def intermediates(main: func.FuncOp, kernels: Kernels) -> set[SSAValue]:
    """
    Return the buffers that the function allocates, passes to launches, and does not return. Buffers
    that must keep their contents from one launch of a kernel to the next are excluded: they share
    no memory.
    """
    returned = main.body.block.last_op
    kept = set(returned.operands) if returned is not None else set[SSAValue]()
    kept |= {buffer for launch in _launches(main) for buffer in _kept_by(launch, kernels)}
    allocs = [op.memref for op in main.body.block.ops if isinstance(op, memref.AllocOp)]
    return {buffer for buffer in allocs if buffer not in kept and _is_launched_on(buffer)}


def _launches(main: func.FuncOp) -> list[loop.LaunchOp]:
    return [op for op in main.body.block.ops if isinstance(op, loop.LaunchOp)]


def _kept_by(launch: loop.LaunchOp, kernels: Kernels) -> Iterator[SSAValue]:
    function = kernels.get(launch.kernel.string_value())
    if function is not None:
        pairs = zip(launch.outputs, function.outputs, strict=True)
        yield from (buffer for buffer, output in pairs if function.is_kept(output))


def _is_launched_on(buffer: SSAValue) -> bool:
    return any(isinstance(use.operation, loop.LaunchOp) for use in buffer.uses)


class Reuse(NamedTuple):
    """Output of a launch that may use the memory of an input."""

    launch: loop.LaunchOp
    output: SSAValue
    read: SSAValue

    @property
    def inputs(self) -> list[int]:
        """Positions of the reused buffer among the launch's inputs."""
        return [n for n, value in enumerate(self.launch.inputs) if value is self.read]

    def arguments(self, function: kernel.FuncOp) -> tuple[BlockArgument, list[BlockArgument]]:
        """Return the kernel's argument for the output, and its arguments for the input."""
        output = function.outputs[[*self.launch.outputs].index(self.output)]
        return output, [function.inputs[n] for n in self.inputs]


def plan(main: func.FuncOp, buffers: set[SSAValue], kernels: Kernels) -> None:
    """Set the offsets of `buffers`, and the size of the slab with and without sharing."""
    for op in [op for op in main.body.block.ops if isinstance(op, memref.DeallocOp)]:
        if op.memref in buffers:  # the slab is freed as a whole
            op.detach()
            op.erase()
    launches = _launches(main)
    alive = lifetimes([v for v in op.operands if v in buffers] for op in launches)
    sizes = {buffer: bytes_of_type(memref_type(buffer)) for buffer in alive}
    offsets = assign_offsets(alive, sizes)
    reused = [*_reuses(main, launches, alive, kernels)]
    shared = assign_shared(alive, sizes, {reuse.output: reuse.read for reuse in reused})
    if peak(shared, sizes) < peak(offsets, sizes):
        offsets = shared
        _allow(reused, kernels)
    elif reused:
        skipped(RULE, main, "nothing is written in place: the slab would be no smaller")
    for buffer, offset in offsets.items():
        assert isinstance(buffer.owner, memref.AllocOp)
        set_offset(buffer.owner, offset)
    set_totals(main, peak(offsets, sizes), sum(map(aligned, sizes.values())))


def _reuses(
    main: func.FuncOp,
    launches: Sequence[loop.LaunchOp],
    alive: Mapping[SSAValue, Lifetime],
    kernels: Kernels,
) -> Iterator[Reuse]:
    """
    Yield, for each output that may use the memory of an input, the first input for which that is
    legal. For other outputs, report the reason against each input in the trace.
    """
    names = _names(main)
    for step, launch in enumerate(launches):
        ending = [v for v in dict.fromkeys(launch.inputs) if v in alive and alive[v].last == step]
        for output in launch.outputs:
            if output not in alive or alive[output].first != step:
                continue
            tried = [Reuse(launch, output, v) for v in ending if v.type == output.type]
            reasons = [_reason_against_reuse(reuse, kernels) for reuse in tried]
            if None in reasons:
                reuse = tried[reasons.index(None)]
                ending.remove(reuse.read)
                yield reuse
                continue
            for reuse, reason in zip(tried, reasons, strict=True):
                text = f"{names[output]} is not written in the place of {names[reuse.read]}"
                skipped(RULE, main, f"{text}: in {launch.kernel.string_value()} {reason}")


def _reason_against_reuse(reuse: Reuse, kernels: Kernels) -> str | None:
    """Reason why the kernel cannot write the output in the place of the input, or None."""
    function = kernels.get(reuse.launch.kernel.string_value())
    if function is None:
        return "it is not known which thread reads which element (convert-tile-to-kernel)"
    output, inputs = reuse.arguments(function)
    if function.initial(output) is not None:
        return "it is filled before the launch"
    if function.is_updated(output):
        return "only a part of it is written"
    from tilewright.passes.kernel.in_place import reason_not_in_place

    reasons = (reason_not_in_place(function, argument, output) for argument in inputs)
    return next((reason for reason in reasons if reason is not None), None)


def _allow(reused: Sequence[Reuse], kernels: Kernels) -> None:
    """
    Record on the kernels which arguments may be one buffer. The permission holds for all launches
    of a kernel.
    """
    for reuse in reused:
        function = kernels[reuse.launch.kernel.string_value()]
        output, _ = reuse.arguments(function)
        function.set_in_place(output, sorted({*function.in_place(output), *reuse.inputs}))


def _names(main: func.FuncOp) -> dict[SSAValue, str]:
    """Return the printed names of arguments and buffers, made unique by numbers."""
    block, names, taken = main.body.block, dict[SSAValue, str](), Counter[str]()
    for value in (*block.args, *(result for op in block.ops for result in op.results)):
        stem = value.name_hint or "memref"
        names[value] = f"%{stem}_{taken[stem]}" if taken[stem] else f"%{stem}"
        taken[stem] += 1
    return names


class PlanBuffersPass(ModulePass):
    """Place the intermediate buffers of `@main` in one slab."""

    name = "plan-buffers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Plan `@main` anew, replacing any earlier plan; a function without intermediates needs none.
        """
        main = next((f for f in op.ops if _is_main(f)), None)
        if not isinstance(main, func.FuncOp) or len(main.body.blocks) != 1:
            return
        with rewriting(RULE, main, whole_module=True):
            clear(main)
            kernels = {f.sym_name.data: f for f in op.ops if isinstance(f, kernel.FuncOp)}
            for function in kernels.values():
                for output in function.outputs:
                    function.set_in_place(output, ())
            if not (buffers := intermediates(main, kernels)):
                return
            if (reason := reason_against(main)) is not None:
                skipped(RULE, main, reason)
                return
            plan(main, buffers, kernels)


def _is_main(op: object) -> bool:
    return isinstance(op, func.FuncOp) and op.sym_name.data == "main"
