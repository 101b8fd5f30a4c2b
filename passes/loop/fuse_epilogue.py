# SPDX-License-Identifier: Apache-2.0
"""
Computes an elementwise consumer where its producer stores, so that the buffer between them is
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

becomes the first kernel with `%1` computed from the reduction's result. Always worth it: each
element is computed once, as before. The consumer may read a transpose of what is stored.
"""

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import loop
from tilewright.dialects.types import memref_type
from tilewright.passes.loop.naming import joined_name
from tilewright.passes.loop.nest import (
    FlatNest,
    Subscript,
    common_subscript,
    flat_nest,
    subscripted_dims,
)
from tilewright.passes.loop.plan import (
    KernelArguments,
    erase_kernel,
    is_temporary,
    loads_of,
    obstacle,
    readers,
)
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.substitution import Substitution
from tilewright.passes.trace import Rule, rewriting, skipped

RULE = Rule("f", 2, "fuse_epilogue")


@dataclass
class FuseEpilogue(RewritePattern):
    """Move the body of the only reader of a buffer to where the buffer is stored."""

    plan: PlanIndex

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Match the producer's launch."""
        producer = self.plan.kernel_of(op)
        if producer is None or len(op.outputs) != 1 or not is_temporary(op.outputs[0]):
            return
        buffer = op.outputs[0]
        consumers = readers(buffer)
        if len(consumers) != 1 or (consumer := self.plan.kernel_of(consumers[0])) is None:
            return
        epilogue = flat_nest(consumer)
        if epilogue is None or epilogue.reduces:
            return
        subscript = common_subscript(loads_of(consumer, consumers[0], buffer))
        if subscript is None or not _reads_each_once(subscript, epilogue):
            return
        if any(store.mask is not None for store in _stores(producer)):
            return
        if (reason := obstacle(op, consumers, self.plan)) is not None:
            skipped(RULE, producer, reason)
            return
        with rewriting(RULE, producer, whole_module=True):
            _fuse(rewriter, op, producer, consumers[0], consumer, epilogue)


def _reads_each_once(subscript: Subscript, epilogue: FlatNest) -> bool:
    """Whether each step of the epilogue reads an element of its own, and all are read."""
    read = subscripted_dims(subscript.map.results, subscript.indices)
    buffer, output = subscript.shape, memref_type(epilogue.store.memref).get_shape()
    return read.keys() == epilogue.axes.keys() and prod(buffer) == prod(output)


def _stores(kernel: loop.KernelOp) -> list[loop.StoreOp]:
    return [op for op in kernel.walk() if isinstance(op, loop.StoreOp)]


def _fuse(
    rewriter: PatternRewriter,
    launch: loop.LaunchOp,
    producer: loop.KernelOp,
    consumer_launch: loop.LaunchOp,
    consumer: loop.KernelOp,
    epilogue: FlatNest,
) -> None:
    buffer = launch.outputs[0]
    loads = loads_of(consumer, consumer_launch, buffer)
    arguments = KernelArguments(producer, launch)
    values: dict[SSAValue, SSAValue] = {
        theirs: arguments.argument(read)
        for theirs, read in zip(consumer.inputs, consumer_launch.inputs, strict=True)
        if read is not buffer
    }
    output = _retyped(rewriter, producer.outputs[0], consumer.outputs[0].type)
    values[consumer.outputs[0]] = output
    read = subscripted_dims(loads[0].map.data.results, loads[0].indices)
    for store in _stores(producer):
        stored = {load.result: store.value for load in loads}
        at_store = {
            axis: (store.map.data.results[dim], store.indices) for axis, dim in read.items()
        }
        substitution = Substitution({**values, **stored}, dict(at_store))
        rest = [op for op in epilogue.body if op not in loads]
        rewriter.replace(store, [substitution.clone(op) for op in (*rest, epilogue.store)], [])
    arguments.relaunch(
        rewriter, joined_name(consumer, [producer], gone=[producer]), instead_of=consumer_launch
    )
    erase_kernel(rewriter, consumer, buffer)


def _retyped(rewriter: PatternRewriter, value: BlockArgument, type: Attribute) -> SSAValue:
    return value if value.type == type else rewriter.replace_value_with_new_type(value, type)


class FuseEpiloguePass(ModulePass):
    """Compute elementwise consumers in the kernels that produce what they read."""

    name = "fuse-epilogue"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Until no producer has such a consumer."""
        plan = PlanIndex(op)
        plan.rewrite(FuseEpilogue(plan))
