# SPDX-License-Identifier: Apache-2.0
"""
Computes an elementwise consumer at the stores of its producer, so that the buffer between them is
never written.

    loop.kernel @matmul(%x, %w) -> (%out) {
      loop.for %i in 16, %j in 16 {
        %0 = loop.reduce ...
        loop.store %0, %out[%i, %j] ...
      }
    }
    loop.kernel @relu(%matmul) -> (%out) {
      loop.for %i in 16, %j in 16 {
        %0 = loop.load %matmul[%i, %j] ...
        %1 = arith.maximumf %0, %zero : f32
        loop.store %1, %out[%i, %j] ...

becomes the first kernel with `%1` computed from the reduction's result. Each element is computed
once, as before; the consumer may read a transpose of the stored value. Fusion pays unless the first
kernel has too few steps to keep the GPU busy (`fusion_cost`).

With `keep`, the first kernel still stores a buffer that has other readers or is a result of the
function. The fused kernel then has one more output.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.axes import Access, extent_of, range_of_value
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import Range, range_of
from tilewright.dialects.target import Target
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.nest import (
    FlatNest,
    common_subscript,
    is_in_bounds,
    nest_block,
    reads_each_once,
    steps_of,
)
from tilewright.passes.loop.fusion.fusion_cost import (
    MOST_OUTPUTS,
    Decision,
    decide,
    fused,
    surely_pays,
    work_of,
)
from tilewright.passes.loop.fusion.fusion_decisions import accepted
from tilewright.passes.loop.fusion.inline_cost import costliest
from tilewright.passes.loop.fusion.inverse_subscripts import steps_by_element
from tilewright.passes.loop.fusion.kernel_arguments import KernelArguments
from tilewright.passes.loop.fusion.kernel_room import reason_not_fitting
from tilewright.passes.loop.launch_graph import (
    erase_kernel,
    holds_one_value,
    inputs_of,
    is_returned,
    loads_of,
    merge_point,
    readers,
    reason_against_fusion,
)
from tilewright.passes.loop.name_kernels import join_names
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.reporting.trace import Rule, is_listening, rewriting, skipped
from tilewright.passes.rewriting.substitution import (
    Substitution,
    conjunction,
    masked_load,
    masked_store,
)
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 2, "fuse_epilogue")


class Epilogue(NamedTuple):
    """
    An elementwise launch that reads a buffer which another launch writes, and its loads of the
    buffer.
    """

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    nest: FlatNest
    buffer: SSAValue
    loads: Sequence[loop.LoadOp]
    place: loop.LaunchOp
    """One of the two launches, at whose place a single launch can do the work of both."""
    kept: bool
    """True if the fused kernel must still write the buffer, because others read or return it."""

    @property
    def steps(self) -> Mapping[SSAValue, AffineExpr] | None:
        """
        Axes of the nest as expressions of the element that it reads; None if it reads an element
        twice, or at several subscripts.
        """
        subscript = common_subscript(self.loads)
        return None if subscript is None else steps_by_element(subscript, self.nest.axes)

    @property
    def reads_all(self) -> bool:
        """True if the nest reads all elements of the buffer."""
        subscript = common_subscript(self.loads)
        return subscript is not None and reads_each_once(subscript, self.nest.axes)


@dataclass
class FuseEpilogue(RewritePattern):
    """
    Pattern that computes an elementwise reader of a buffer where another kernel stores the buffer.
    """

    plan: PlanIndex
    target: Target
    keep: bool

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Fuse the first epilogue for which that pays into the kernel that `op` launches."""
        producer = self.plan.kernel_of(op)
        if producer is None:
            return
        buffers = filter(holds_one_value, op.outputs)
        for epilogue in (e for buffer in buffers for e in self._epilogues(op, buffer)):
            reason = _reason_against(producer, op, epilogue, self.plan, self.target)
            if reason is not None:
                skipped(RULE, producer, reason)
                continue
            decision = _decision(producer, op, epilogue, self.target)
            if not accepted(RULE, producer, [epilogue.kernel], decision):
                continue
            with rewriting(RULE, producer, whole_module=True):
                _fuse(rewriter, self.plan, op, producer, epilogue)
            return

    def _epilogues(self, op: loop.LaunchOp, buffer: SSAValue) -> Iterator[Epilogue]:
        """Yield the elementwise readers of `buffer` that can be launched where it is written."""
        consumers = readers(buffer)
        kept = is_returned(buffer) or len(consumers) > 1
        for launch in consumers if self.keep or not kept else ():
            if (reader := self.plan.flat_launch(launch, reduces=False)) is None:
                continue
            used = [value for value in (*launch.inputs, *launch.outputs) if value is not buffer]
            if any(value in op.outputs for value in used):
                continue
            if (place := merge_point(op, launch)) is not None:
                loads = loads_of(reader.kernel, launch, buffer)
                yield Epilogue(*reader, buffer, loads, place, kept)


def _reason_against(
    producer: loop.KernelOp,
    launch: loop.LaunchOp,
    epilogue: Epilogue,
    plan: PlanIndex,
    target: Target,
) -> str | None:
    """Reason why the epilogue cannot be computed in the kernel `producer`, or None."""
    reader = epilogue.kernel.sym_name.data
    if epilogue.steps is None:
        return f"{reader} does not read each of its elements once"
    if (reason := _reason_against_mask(producer, launch, epilogue)) is not None:
        return reason
    if epilogue.kept and len(launch.outputs) >= MOST_OUTPUTS:
        return f"with the output of {reader} it would have more than {MOST_OUTPUTS} outputs"
    consumers = [epilogue.launch]
    reason = reason_against_fusion(launch, consumers, plan)
    return reason or reason_not_fitting(launch, consumers, plan, target)


def _reason_against_mask(
    producer: loop.KernelOp, launch: loop.LaunchOp, epilogue: Epilogue
) -> str | None:
    """Reason why the epilogue cannot be computed where only some steps store, or None."""
    reader = epilogue.kernel.sym_name.data
    stores = _stores(producer, launch, epilogue.buffer)
    if not epilogue.reads_all and epilogue.kept:
        return f"{reader} reads some elements of a buffer that is kept"
    if epilogue.reads_all and all(store.mask is None for store in stores):
        return None
    if any(isinstance(op, loop.ToIndexOp) for op in epilogue.nest.body):
        return f"{reader} has values as indices, and its input is stored under a mask"
    return None


def _stores(kernel: loop.KernelOp, launch: loop.LaunchOp, buffer: SSAValue) -> list[loop.StoreOp]:
    """Return the stores to `buffer` in `kernel`, in order."""
    output = kernel.outputs[list(launch.outputs).index(buffer)]
    users = {use.operation for use in output.uses}
    if len(users) > 1:
        users = [op for op in ops_in(kernel) if op in users]
    return [op for op in users if isinstance(op, loop.StoreOp) and op.memref is output]


def _decision(
    kernel: loop.KernelOp, launch: loop.LaunchOp, epilogue: Epilogue, target: Target
) -> Decision:
    """
    Return the decision whether the producer computes the epilogue, with as many steps as the
    producer has now.
    """
    made, read = (steps_of(nest_block(one).args) for one in (kernel, epilogue.kernel))
    if not is_listening() and surely_pays(made, read, target):
        return Decision(True, "nothing is done twice")
    producer, reader = work_of(kernel, launch), work_of(epilogue.kernel, epilogue.launch)
    buffer = epilogue.buffer
    together = fused(producer, reader, buffer, steps=producer.steps, kept=epilogue.kept)
    elements = prod(memref_type(buffer).get_shape())
    what = f"compute {costliest(epilogue.nest)} where {elements} elements are stored"
    return decide(what, [producer, reader], [together], target)


def _fuse(
    rewriter: PatternRewriter,
    plan: PlanIndex,
    launch: loop.LaunchOp,
    producer: loop.KernelOp,
    epilogue: Epilogue,
) -> None:
    buffer, (output,) = epilogue.buffer, epilogue.launch.outputs
    stores = _stores(producer, launch, buffer)  # before the argument changes its buffer
    arguments = KernelArguments(producer, launch)
    values: dict[SSAValue, SSAValue] = {
        theirs: arguments.argument(read)
        for theirs, read in inputs_of(epilogue.kernel, epilogue.launch).items()
        if read is not buffer
    }
    written = (
        arguments.add_output(output)
        if epilogue.kept
        else arguments.change_output(rewriter, buffer, output)
    )
    values[epilogue.kernel.outputs[0]] = written
    for store in stores:
        rewriter.insert(_at_store(epilogue, store, values), InsertPoint.after(store))
        if not epilogue.kept:
            rewriter.erase(store)
    join_names(plan, producer, [epilogue.kernel, producer], gone=[epilogue.kernel])
    arguments.relaunch(rewriter, at=epilogue.place)
    rewriter.erase(epilogue.launch)
    erase_kernel(rewriter, epilogue.kernel, buffer)


def _at_store(
    epilogue: Epilogue, store: loop.StoreOp, values: Mapping[SSAValue, SSAValue]
) -> list[Operation]:
    """
    Return the ops of the epilogue for the element that `store` stores. `values` maps arguments of
    the epilogue's kernel to the producer's.
    """
    by_element = epilogue.steps
    assert by_element is not None
    stored = {load.result: store.value for load in epilogue.loads}
    element, indices = store.map.data.results, store.indices
    steps = {a: e.replace_dims_and_symbols(element, ()) for a, e in by_element.items()}
    substitution = Substitution({**values, **stored}, {a: (e, indices) for a, e in steps.items()})
    where = conjunction([store.where, _within(steps, indices)])
    rest = [op for op in epilogue.nest.body if op not in epilogue.loads]
    ops: list[Operation] = []
    for op in (*rest, epilogue.nest.store):
        ops.append(new := _masked(substitution.clone(op), where))
        substitution.values.update(zip(op.results, new.results, strict=True))
    return ops


def _masked(op: Operation, where: Access | None) -> Operation:
    """Return an op that runs where `where` holds: `op` itself if it may run anywhere."""
    if where is None or not isinstance(op, loop.LoadOp | loop.StoreOp):
        return op
    if isinstance(op, loop.LoadOp) and is_in_bounds(op):
        return op
    masked = masked_load(op, where) if isinstance(op, loop.LoadOp) else masked_store(op, where)
    op.erase()
    return masked


def _within(steps: Mapping[SSAValue, AffineExpr], indices: Sequence[SSAValue]) -> Access | None:
    """Return the condition that `steps` are steps of their axes; None if it always holds."""
    ranges = [range_of_value(index) for index in indices]
    exprs: list[AffineExpr] = []
    for axis, step in steps.items():
        last, found = (extent_of(axis) or 1) - 1, range_of(step, ranges)
        if found is None or found not in Range(0, last):
            exprs += [step, step * -1 + last]
    return (exprs, indices) if exprs else None


@dataclass(frozen=True)
class FuseEpiloguePass(TargetedPass):
    """Compute elementwise consumers in the kernels that produce their input."""

    name = "fuse-epilogue"

    keep: bool = False
    """
    True to fuse even if the consumer's input has other uses; the fused kernel then writes the input
    too.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuse until no producer has a consumer for which fusion pays."""
        plan = PlanIndex(op)
        plan.rewrite(FuseEpilogue(plan, self.gpu, self.keep))
