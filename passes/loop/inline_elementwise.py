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

It pays when computing an element again costs less than the memory traffic it saves. Where the
reader masks its load, what is computed instead masks its own loads, and is 0 outside.
"""

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
from tilewright.passes.instruction_costs import instructions
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
)
from tilewright.passes.loop.scalar_function import constant_of
from tilewright.passes.substitution import Substitution
from tilewright.passes.trace import Rule, rewriting, skipped

RULE = Rule("f", 1, "inline_elementwise")

# A GPU does about 20 flops in the time that it moves one byte (H100: 66.9 TFLOP/s, 3.35 TB/s), and
# an element that is not inlined is written and read again: 8 bytes.
_WORTH = 160


def cost_per_element(nest: FlatNest) -> int:
    """Instructions that compute one element, loads included."""
    return sum(instructions(op) for op in nest.body)


class InlineElementwise(RewritePattern):
    """Inline the kernel of a launch into all launches that read its output."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Match the producer's launch."""
        kernel = kernel_of(op)
        if kernel is None or (nest := flat_nest(kernel)) is None or nest.reduces:
            return
        buffer = op.outputs[0]
        if not is_temporary(buffer) or not (consumers := readers(buffer)):
            return
        reason = obstacle(op, consumers) or _not_worth(nest, kernel, consumers, buffer)
        if reason is not None:
            skipped(RULE, kernel, reason)
            return
        with rewriting(RULE, kernel, whole_module=True):
            for consumer in consumers:
                _inline(rewriter, op, kernel, nest, consumer, buffer)
            rewriter.erase(op)
            erase_kernel(rewriter, kernel, buffer)


def _not_worth(
    nest: FlatNest, kernel: loop.KernelOp, consumers: list[loop.LaunchOp], buffer: SSAValue
) -> str | None:
    """Why inlining would be slower."""
    computed = 0
    for consumer in consumers:
        reader = kernel_of(consumer)
        assert reader is not None
        computed += sum(evaluations(load) for load in loads_of(reader, consumer, buffer))
    elements = evaluations(nest.store)
    again = (computed - elements) * cost_per_element(nest)
    if again <= _WORTH * elements:
        return None
    return f"recompute {computed // elements}x of {cost_per_element(nest)} instructions"


def _inline(
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
    for load in loads:
        axes = nest.axes_at(load.map.data.results, load.indices)
        where = None if load.mask is None else (load.mask.data.results, load.mask_operands)
        substitution = Substitution(dict(values), axes, where=where)
        clones = [substitution.clone(op) for op in nest.body]
        value = substitution.value(nest.store.value)
        if masking := _zero_outside(where, value):
            clones, value = [*clones, *masking], masking[-1].results[0]
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


class InlineElementwisePass(ModulePass):
    """Inline elementwise kernels into the kernels that read them."""

    name = "inline-elementwise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Until none is left that pays."""
        PatternRewriteWalker(InlineElementwise()).rewrite_module(op)
