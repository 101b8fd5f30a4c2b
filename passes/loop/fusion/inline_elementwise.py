# SPDX-License-Identifier: Apache-2.0
"""
Computes an elementwise producer in its readers, so that its buffer is never written.

    loop.kernel @add(%x, %bias) -> (%out) {
      loop.for %i in 16, %j in 64 {
        %0 = loop.load %x[%i, %j] ...   %1 = loop.load %bias[%j] ...
        %2 = arith.addf %0, %1 : f32
        loop.store %2, %out[%i, %j] ...
      }
    }
    loop.kernel @relu(%add) -> (%out) {
      loop.for %i in 16, %j in 64 {
        %0 = loop.load %add[%i, %j] ...
        %1 = arith.maximumf %0, %zero : f32
        ...

becomes one kernel that loads `%x` and `%bias` and computes both.

The pass first inlines each producer whose single reader reads each element once, since nothing is
computed twice. Thus the products of a matrix product become part of its sum before anything else is
weighed. Next, the pass inlines producers whose readers compute elements several times but take less
time than separate kernels (`fusion_cost`). A producer is inlined into all of its readers or none.

If a reader masks its load, the inlined ops mask their own loads, and their result is 0 outside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.utils.hints import isa

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.target import Target
from tilewright.dialects.types import memref_type
from tilewright.passes.loop.fusion.fusion_decisions import accepted
from tilewright.passes.loop.fusion.inline_cost import inline_decision, place_of
from tilewright.passes.loop.fusion.kernel_arguments import KernelArguments
from tilewright.passes.loop.fusion.kernel_room import reason_not_fitting
from tilewright.passes.loop.launch_graph import (
    erase_kernel,
    evaluations,
    is_temporary,
    loads_of,
    readers,
    reason_against_fusion,
)
from tilewright.passes.loop.name_kernels import join_names
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex
from tilewright.passes.loop.scalar_function import constant_of
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 1, "inline_elementwise")


@dataclass
class InlineElementwise(RewritePattern):
    """Pattern that computes an elementwise kernel in all launches that read its output."""

    plan: PlanIndex
    target: Target
    once: bool
    """True to inline only where one launch reads each element once."""
    always: bool

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """
        Inline the kernel that `op` launches into all readers of its output, if that is legal and
        pays.
        """
        buffer = op.outputs[0]
        if not is_temporary(buffer) or not (consumers := readers(buffer)):
            return
        if (inlined := self.plan.flat_launch(op, reduces=False)) is None:
            return
        if self.once and not _reads_once(self.plan, consumers, buffer):
            return
        reason = reason_against_fusion(op, consumers, self.plan)
        reason = reason or reason_not_fitting(op, consumers, self.plan, self.target)
        if reason is not None:
            skipped(RULE, inlined.kernel, reason)
            return
        if not self.once and not self._pays(inlined, consumers):
            return
        with rewriting(RULE, inlined.kernel, whole_module=True):
            inline_into(rewriter, self.plan, inlined, consumers)

    def _pays(self, inlined: FlatLaunch, consumers: list[loop.LaunchOp]) -> bool:
        decision = inline_decision(self.plan, inlined, consumers, self.target)
        if self.always:
            decision = decision._replace(pays=True)
        return accepted(RULE, inlined.kernel, self.plan.kernels_of(consumers), decision)


def _reads_once(plan: PlanIndex, consumers: list[loop.LaunchOp], buffer: SSAValue) -> bool:
    if len(consumers) > 1 or (reader := plan.kernel_of(consumers[0])) is None:
        return False
    loads = {place_of(load): load for load in loads_of(reader, consumers[0], buffer)}
    times = sum(evaluations(load) for load in loads.values())
    return times <= prod(memref_type(buffer).get_shape())


def inline_into(
    rewriter: PatternRewriter,
    plan: PlanIndex,
    inlined: FlatLaunch,
    consumers: Sequence[loop.LaunchOp],
) -> None:
    """
    Compute the elements of the inlined launch's buffer in each of `consumers`, and erase the kernel
    that wrote them.
    """
    for consumer in consumers:
        _inline_into_one(rewriter, plan, inlined, consumer)
    rewriter.erase(inlined.launch)
    erase_kernel(rewriter, inlined.kernel, inlined.buffer)


def _inline_into_one(
    rewriter: PatternRewriter, plan: PlanIndex, inlined: FlatLaunch, consumer: loop.LaunchOp
) -> None:
    (launch, kernel, nest), reader = inlined, plan.kernel_of(consumer)
    assert reader is not None
    loads = loads_of(reader, consumer, inlined.buffer)
    arguments = KernelArguments(reader, consumer)
    values = arguments.arguments_like(kernel, launch)
    computed: dict[tuple[object, ...], SSAValue] = {}
    for load in loads:
        if (place := place_of(load)) in computed:
            rewriter.replace(load, [], [computed[place]])
            continue
        axes = nest.axes_at(load.map.data.results, load.indices)
        substitution = Substitution(dict(values), axes, where=load.where)
        clones = [substitution.clone(op) for op in nest.body]
        value = substitution.value(nest.store.value)
        if load.selection() is None and (masking := _zero_outside(load.where, value)):
            clones, value = [*clones, *masking], masking[-1].results[0]
        computed[place] = value
        rewriter.replace(load, clones, [value])
    join_names(plan, reader, [reader, kernel])
    arguments.relaunch(rewriter)


def _zero_outside(where: Access | None, value: SSAValue) -> list[Operation]:
    """
    Return ops that give `value` where the mask of the replaced load holds, else 0. Return none if
    there is no mask, or if `value` is a load, which has the mask itself.
    """
    if where is None or isinstance(value.owner, loop.LoadOp):  # a load applies the mask itself
        return []
    ops: list[Operation] = [loop.PredicateOp(where)]

    def add(op: Operation) -> SSAValue:
        ops.append(op)
        return op.results[0]

    zero = constant_of(_zero(value.type), add)
    add(arith.SelectOp(ops[0].results[0], value, zero))
    return ops


def _zero(type: Attribute) -> FloatAttr | IntegerAttr:
    if isinstance(type, AnyFloat):
        return FloatAttr(0.0, type)
    assert isa(type, IntegerType)
    return IntegerAttr(0, type)


@dataclass(frozen=True)
class InlineElementwisePass(TargetedPass):
    """Inline elementwise kernels into the kernels that read them."""

    name = "inline-elementwise"

    always: bool = False
    """Inline wherever it is legal, whatever it costs."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Inline until there is no producer for which inlining pays."""
        plan, target = PlanIndex(op), self.gpu
        once = InlineElementwise(plan, target, once=True, always=False)
        plan.rewrite(once, last_first=True)  # clone each before others are inlined into it
        plan.rewrite(InlineElementwise(plan, target, once=False, always=self.always))
