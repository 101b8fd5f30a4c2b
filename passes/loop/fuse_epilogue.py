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

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import loop
from tilewright.passes.loop.naming import joined_name
from tilewright.passes.loop.nest import FlatNest, Subscript, common_subscript, flat_nest
from tilewright.passes.loop.plan import (
    KernelArguments,
    erase_kernel,
    is_temporary,
    kernel_of,
    loads_of,
    readers,
)
from tilewright.passes.substitution import Substitution
from tilewright.passes.trace import Rule, TracedPattern

RULE = Rule("f", 2, "fuse_epilogue")


class FuseEpilogue(RewritePattern):
    """Move the body of the only reader of a buffer to where the buffer is stored."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Match the producer's launch."""
        producer = kernel_of(op)
        if producer is None or len(op.outputs) != 1 or not is_temporary(op.outputs[0]):
            return
        buffer = op.outputs[0]
        consumers = readers(buffer)
        if len(consumers) != 1 or (consumer := kernel_of(consumers[0])) is None:
            return
        epilogue = flat_nest(consumer)
        if epilogue is None or epilogue.reduces:
            return
        subscript = common_subscript(loads_of(consumer, consumers[0], buffer))
        if subscript is None or (order := _permutation(subscript, epilogue)) is None:
            return
        if any(store.mask is not None for store in _stores(producer)):
            return
        _fuse(rewriter, op, producer, consumers[0], consumer, epilogue, order)


def _permutation(subscript: Subscript, epilogue: FlatNest) -> list[int] | None:
    """For each axis of the epilogue the subscript that it is alone in, if every axis has one."""
    axes: list[SSAValue] = []
    for expr in subscript.map.results:
        if not isinstance(expr, AffineDimExpr):
            return None
        axes.append(subscript.indices[expr.position])
    if len(axes) != len(epilogue.axes) or set(axes) != set(epilogue.axes):
        return None
    return [axes.index(axis) for axis in epilogue.axes]


def _stores(kernel: loop.KernelOp) -> list[loop.StoreOp]:
    return [op for op in kernel.walk() if isinstance(op, loop.StoreOp)]


def _fuse(
    rewriter: PatternRewriter,
    launch: loop.LaunchOp,
    producer: loop.KernelOp,
    consumer_launch: loop.LaunchOp,
    consumer: loop.KernelOp,
    epilogue: FlatNest,
    order: list[int],
) -> None:
    buffer = launch.outputs[0]
    loads = set(loads_of(consumer, consumer_launch, buffer))
    arguments = KernelArguments(producer, launch)
    values: dict[SSAValue, SSAValue] = {
        theirs: arguments.argument(read)
        for theirs, read in zip(consumer.inputs, consumer_launch.inputs, strict=True)
        if read is not buffer
    }
    output = _retyped(rewriter, producer.outputs[0], consumer.outputs[0].type)
    values[consumer.outputs[0]] = output
    for store in _stores(producer):
        axes: dict[SSAValue, tuple[AffineExpr, Sequence[SSAValue]]] = {
            axis: (store.map.data.results[position], store.indices)
            for axis, position in zip(epilogue.axes, order, strict=True)
        }
        substitution = Substitution(
            {**values, **{load.result: store.value for load in loads}}, axes
        )
        rest = [op for op in epilogue.body if op not in loads]
        rewriter.replace(store, [substitution.clone(op) for op in (*rest, epilogue.store)], [])
    arguments.relaunch(rewriter, joined_name(consumer, producer), instead_of=consumer_launch)
    erase_kernel(rewriter, consumer, buffer)


def _retyped(rewriter: PatternRewriter, value: BlockArgument, type: Attribute) -> SSAValue:
    return value if value.type == type else rewriter.replace_value_with_new_type(value, type)


class FuseEpiloguePass(ModulePass):
    """Compute elementwise consumers in the kernels that produce what they read."""

    name = "fuse-epilogue"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Until no producer has such a consumer."""
        PatternRewriteWalker(TracedPattern(RULE, FuseEpilogue())).rewrite_module(op)
