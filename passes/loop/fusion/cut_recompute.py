# SPDX-License-Identifier: Apache-2.0
"""
Moves a value that a kernel computes repeatedly into a kernel of its own: the inverse of fusion.

    loop.kernel @scaled(%x, %v) -> (%out) {
      loop.for %i in 8192, %j in 4096 {
        %0 = loop.load %x[%i, %j] ...
        %1 = loop.load %v[%j] ...
        %2 = math.powf %1, %1 : f32            // the same in all 8192 rows
        %3 = arith.mulf %0, %2 : f32

becomes, where the powers take longer than a launch,

    loop.kernel @scaled_part(%v) -> (%out) {
      loop.for %j in 4096 {
        %0 = loop.load %v[%j] ...
        %1 = math.powf %0, %0 : f32
        loop.store %1, %out[%j] ...

and a kernel that loads the power. A value can be cut out if it does not vary with all axes around
it. The value may depend on loads, scalars and whole reductions only. Casts of half types to wider
types are never cut out: readers load the half type. The cost model is that of fusion
(`fusion_cost`). A cut must be faster by a margin, so that fused kernels are not cut again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.transforms.dead_code_elimination import region_dce

from tilewright.dialects import loop
from tilewright.dialects.axes import extent_of
from tilewright.dialects.faster_xdsl.walk import nests_in, ops_in
from tilewright.dialects.target import Target
from tilewright.passes.facts.footprint import size_of
from tilewright.passes.loop.fusion.fusion_cost import (
    Decision,
    Work,
    decide,
    often,
    work_of,
)
from tilewright.passes.loop.fusion.fusion_decisions import settled
from tilewright.passes.loop.fusion.kernel_arguments import KernelArguments
from tilewright.passes.loop.fusion.op_counts import counted, matrix_ops, runs
from tilewright.passes.loop.fusion.recomputed import Part, parts
from tilewright.passes.loop.kernel_builder import nest_over
from tilewright.passes.loop.launch_graph import inputs_of
from tilewright.passes.loop.name_kernels import KernelNames
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.reporting.trace import Rule, decided, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 10, "cut_recompute")

MARGIN = 1.05
"""Ratio of a kernel's time to the time of its two parts above which it is cut."""


@dataclass
class CutRecompute(RewritePattern):
    """
    Pattern that moves a value into a kernel of its own: the first value of a kernel for which the
    move pays.
    """

    plan: PlanIndex
    target: Target

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """
        Cut the kernel that `op` launches, unless other launches use it too or it is in Tile IR.
        """
        kernel = self.plan.kernel_of(op)
        if kernel is None or self.plan.times_launched(kernel) > 1 or not _is_loop_ir(kernel):
            return
        times = runs(kernel)
        if not (found := list(parts(kernel, times))):
            return
        whole = work_of(kernel, op)
        for part in found:
            decision = _decision(kernel, op, part, whole, times, self.target)
            decision = settled(RULE, kernel, [part.title], decision)
            if decision.pays:
                skipped(RULE, kernel, decision.reason)
                continue
            decided(RULE, kernel, decision.reason)
            with rewriting(RULE, kernel, whole_module=True):
                _cut(rewriter, self.plan.module, kernel, op, part)
            return


def _is_loop_ir(kernel: loop.KernelOp) -> bool:
    return not any(nest.name.startswith("tile.") for nest in nests_in(kernel))


def _decision(
    kernel: loop.KernelOp,
    launch: loop.LaunchOp,
    part: Part,
    whole: Work,
    times: Mapping[Operation, float],
    target: Target,
) -> Decision:
    """Return the decision whether the part stays in the kernel, by the times of both forms."""
    again = often(part.runs / max(part.elements, 1))
    what = f"recompute {again} of {part.costliest} over {part.elements} elements"
    apart = _apart(kernel, launch, part, whole, times)
    return decide(what, apart, [whole], target, margin=MARGIN)


def _apart(
    kernel: loop.KernelOp,
    launch: loop.LaunchOp,
    part: Part,
    whole: Work,
    times: Mapping[Operation, float],
) -> tuple[Work, Work]:
    """
    Return the work of a kernel that computes the part only, and the work of the kernel without the
    part.
    """
    gone = {inner for op in _dead_without(part) for inner in ops_in(op)}
    matrix = matrix_ops(kernel)
    saved = counted(gone, times, matrix)
    buffers = inputs_of(kernel, launch)
    of_part = {inner for op in part.ops for inner in ops_in(op)}
    reads = {buffers[op.memref] for op in of_part if isinstance(op, loop.LoadOp)}
    kept = {
        buffers[op.memref]
        for op in times
        if isinstance(op, loop.LoadOp) and op not in gone and op.memref in buffers
    }
    bytes = part.elements * size_of(part.value.type)
    alone, share = counted(of_part, times, matrix), part.elements / max(part.runs, 1)
    cut = Work(
        {read: whole.reads[read] for read in reads},
        {part.value: bytes},
        alone.instructions * share,
        part.elements,
        products=alone.products * share,
    )
    rest = Work(
        {**{read: n for read, n in whole.reads.items() if read in kept}, part.value: bytes},
        whole.writes,
        whole.instructions - saved.instructions + part.runs,
        whole.steps,
        products=whole.products - saved.products,
    )
    return cut, rest


def _dead_without(part: Part) -> set[Operation]:
    """Return the ops of the part that only the part uses."""
    dead = {part.ops[-1]}
    for op in reversed(part.ops):
        users = {use.operation for result in op.results for use in result.uses}
        if all(any(one is user or one.is_ancestor(user) for one in dead) for user in users):
            dead.add(op)
    return dead


def _cut(
    rewriter: PatternRewriter,
    module: ModuleOp,
    kernel: loop.KernelOp,
    launch: loop.LaunchOp,
    part: Part,
) -> None:
    shape = [extent_of(axis) or 1 for axis in part.axes]
    alloc = memref.AllocOp([], [], MemRefType(part.value.type, shape))
    buffer = alloc.memref
    buffer.name_hint = part.value.name_hint or "part"
    name = KernelNames(module).unique(f"{kernel.sym_name.data}_part")
    own, inputs = _kernel_of_part(name, kernel, launch, part, buffer)
    rewriter.insert([alloc, loop.LaunchOp(name, inputs, [buffer])], InsertPoint.before(launch))
    rewriter.insert(own, InsertPoint.before(kernel))
    arguments = KernelArguments(kernel, launch)
    where = ([AffineExpr.dimension(d) for d in range(len(shape))], part.axes)
    rewriter.replace(part.ops[-1], loop.LoadOp(arguments.argument(buffer), where))
    region_dce(kernel.body, rewriter)  # the rewriter drops erased ops from its worklist
    arguments.relaunch(rewriter)


def _kernel_of_part(
    name: str, kernel: loop.KernelOp, launch: loop.LaunchOp, part: Part, buffer: SSAValue
) -> tuple[loop.KernelOp, list[SSAValue]]:
    """Return a kernel that computes the part for all its axes, and the buffers that it reads."""
    loads = [op for o in part.ops for op in ops_in(o) if isinstance(op, loop.LoadOp)]
    read = list(dict.fromkeys(load.memref for load in loads))
    body = Block(arg_types=[*(memref.type for memref in read), buffer.type])
    nest = Block(arg_types=[axis.type for axis in part.axes])
    values = dict(zip([*read, *part.axes], [*body.args[:-1], *nest.args], strict=True))
    for old, new in values.items():
        new.name_hint = old.name_hint
    body.args[-1].name_hint = "out"
    substitution = Substitution(dict(values))
    nest.add_ops([substitution.clone(op) for op in part.ops])
    where = ([AffineExpr.dimension(d) for d in range(len(part.axes))], nest.args)
    nest.add_op(loop.StoreOp(substitution.value(part.value), body.args[-1], where))
    extents = [extent_of(axis) or 1 for axis in part.axes]
    body.add_ops(nest_over(extents, nest))
    buffers = inputs_of(kernel, launch)
    return loop.KernelOp(name, Region(body), 1), [buffers[memref] for memref in read]


@dataclass(frozen=True)
class CutRecomputePass(TargetedPass):
    """Cut values that a kernel computes too often out of it."""

    name = "cut-recompute"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Cut values out of kernels until no cut pays."""
        plan = PlanIndex(op)
        plan.rewrite(CutRecompute(plan, self.gpu))
