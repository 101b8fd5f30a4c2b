# SPDX-License-Identifier: Apache-2.0
"""
Computes an elementwise producer where it is read, so that its buffer is never written.

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

First go the producers of which one reader reads each element once, for nothing is computed twice:
so the products of a matrix product are part of its sum before anything else is weighed. Then those
whose readers, although they compute elements several times, take less time together than the
kernels apart (`fusion_cost`). What its readers cannot all do for less is written once.

Where a reader masks its load, what is computed instead masks its own loads, and is 0 outside.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.utils.hints import isa

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.target import DEFAULT_TARGET, Target
from tilewright.dialects.target import target as target_named
from tilewright.dialects.types import memref_type
from tilewright.passes.instruction_costs import instructions
from tilewright.passes.loop.fusion_cost import (
    MOST_INSTRUCTIONS,
    Decision,
    Work,
    decide,
    fused,
    runs,
    work_of,
)
from tilewright.passes.loop.naming import joined_name
from tilewright.passes.loop.nest import FlatNest, flat_nest
from tilewright.passes.loop.plan import (
    KernelArguments,
    erase_kernel,
    evaluations,
    is_temporary,
    kernel_of,
    loads_of,
    obstacle,
    readers,
    writer,
)
from tilewright.passes.loop.scalar_function import constant_of
from tilewright.passes.substitution import Substitution
from tilewright.passes.trace import Rule, decided, rewriting, skipped

RULE = Rule("f", 1, "inline_elementwise")


def cost_per_element(nest: FlatNest) -> int:
    """Instructions that compute one element, loads included."""
    return sum(instructions(op) for op in nest.body)


@dataclass
class InlineElementwise(RewritePattern):
    """Inline the kernel of a launch into all launches that read its output."""

    target: Target
    once: bool
    """Only where one launch reads each element once."""
    always: bool

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Match the producer's launch."""
        kernel = kernel_of(op)
        if kernel is None or (nest := flat_nest(kernel)) is None or nest.reduces:
            return
        buffer = op.outputs[0]
        if not is_temporary(buffer) or not (consumers := readers(buffer)):
            return
        if self.once and not _reads_once(consumers, buffer):
            return
        if (reason := obstacle(op, consumers)) is not None:
            skipped(RULE, kernel, reason)
            return
        if not self.once:
            decision = _decision(op, kernel, nest, consumers, self.target)
            if not (decision.pays or self.always):
                skipped(RULE, kernel, decision.reason)
                return
            decided(RULE, kernel, decision.reason)
        with rewriting(RULE, kernel, whole_module=True):
            for consumer in consumers:
                inline_into(rewriter, op, kernel, nest, consumer, buffer)
            rewriter.erase(op)
            erase_kernel(rewriter, kernel, buffer)


def _reads_once(consumers: list[loop.LaunchOp], buffer: SSAValue) -> bool:
    if len(consumers) > 1 or (reader := kernel_of(consumers[0])) is None:
        return False
    loads = {_place(load): load for load in loads_of(reader, consumers[0], buffer)}
    times = sum(evaluations(load) for load in loads.values())
    return times <= prod(memref_type(buffer).get_shape())


def _decision(
    launch: loop.LaunchOp,
    kernel: loop.KernelOp,
    nest: FlatNest,
    consumers: list[loop.LaunchOp],
    target: Target,
) -> Decision:
    """Whether its readers should compute what `kernel` does."""
    buffer, producer = launch.outputs[0], work_of(kernel, launch)
    elements = max(prod(memref_type(buffer).get_shape()), 1)
    apart, together = [_work_apart(launch, producer)], list[Work]()
    computed = 0.0
    for consumer in consumers:
        reader = kernel_of(consumer)
        assert reader is not None
        steps, loads = runs(reader), loads_of(reader, consumer, buffer)
        if cost_per_element(nest) * _most_in_a_body(loads) + len(steps) > MOST_INSTRUCTIONS:
            long = f"{reader.sym_name.data} would have more than {MOST_INSTRUCTIONS} instructions"
            return Decision(False, long)
        evaluations = sum({_place(load): steps[load] for load in loads}.values())
        apart.append(work := work_of(reader, consumer))
        together.append(fused(producer, work, buffer, times=evaluations / elements))
        computed += evaluations
    often = f"{computed / elements:.1f}".removesuffix(".0")
    what = f"recompute {often}x of {_costliest(nest)} over {elements} elements"
    return decide(what, apart, together, target)


def _work_apart(launch: loop.LaunchOp, work: Work) -> Work:
    """
    What the producer adds when it is not inlined: if it reads what nobody else does of a reduction
    (the statistics of a row), it joins the reduction's kernel, which reads the row anyway.
    """
    for buffer in launch.inputs:
        host = writer(buffer)
        if host is None or not is_temporary(buffer) or readers(buffer) != [launch]:
            continue
        kernel = kernel_of(host)
        if kernel is not None and (nest := flat_nest(kernel)) is not None and nest.reduces:
            known = {buffer, *host.inputs}
            reads = {read: bytes for read, bytes in work.reads.items() if read not in known}
            return replace(work, reads=reads, launches=0)
    return work


def _costliest(nest: FlatNest) -> str:
    """The instructions of an element, by the name of the op that needs the most."""
    op = max(nest.body, key=instructions, default=nest.store)
    return f"{op.name.partition('.')[2]} ({cost_per_element(nest)} instructions)"


def _place(load: loop.LoadOp) -> tuple[object, ...]:
    """Equal for loads of one body that read the same element."""
    return load.parent, load.map, *load.indices, load.mask, *load.mask_operands


def _most_in_a_body(loads: Sequence[loop.LoadOp]) -> int:
    """How many different elements one body reads at most."""
    bodies = Counter(load.parent for load in {_place(load): load for load in loads}.values())
    return max(bodies.values(), default=0)


def inline_into(
    rewriter: PatternRewriter,
    launch: loop.LaunchOp,
    kernel: loop.KernelOp,
    nest: FlatNest,
    consumer: loop.LaunchOp,
    buffer: SSAValue,
) -> None:
    reader = kernel_of(consumer)
    assert reader is not None
    loads = loads_of(reader, consumer, buffer)
    arguments = KernelArguments(reader, consumer)
    values = arguments.arguments_like(kernel, launch)
    computed: dict[tuple[object, ...], SSAValue] = {}
    for load in loads:
        if (place := _place(load)) in computed:
            rewriter.replace(load, [], [computed[place]])
            continue
        axes = nest.axes_at(load.map.data.results, load.indices)
        where = None if load.mask is None else (load.mask.data.results, load.mask_operands)
        substitution = Substitution(dict(values), axes, where=where)
        clones = [substitution.clone(op) for op in nest.body]
        value = substitution.value(nest.store.value)
        if masking := _zero_outside(where, value):
            clones, value = [*clones, *masking], masking[-1].results[0]
        computed[place] = value
        rewriter.replace(load, clones, [value])
    arguments.relaunch(rewriter, joined_name(reader, [kernel]))


def _zero_outside(where: Access | None, value: SSAValue) -> list[Operation]:
    """Ops that give `value` where the mask of the replaced load holds, else 0."""
    if where is None or isinstance(value.owner, loop.LoadOp):  # a load has the mask itself
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
class InlineElementwisePass(ModulePass):
    """Inline elementwise kernels into the kernels that read them."""

    name = "inline-elementwise"

    target: str = DEFAULT_TARGET
    """The GPU whose times are compared."""
    always: bool = False
    """Inline all that can be, whatever it costs."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Until none is left that pays."""
        target = target_named(self.target)
        # the last first: each is cloned before others are inlined into it
        once = InlineElementwise(target, once=True, always=False)
        PatternRewriteWalker(once, walk_reverse=True).rewrite_module(op)
        weighed = InlineElementwise(target, once=False, always=self.always)
        PatternRewriteWalker(weighed).rewrite_module(op)
