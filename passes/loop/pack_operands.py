# SPDX-License-Identifier: Apache-2.0
"""
Lets a convolution sum over its input channels last, and packs its weight in that order.

    func.func @main(%w : memref<64x32x5x9xf32> {torch.kind = "parameter", ...}, %x : ...) {
      loop.launch @conv2d(%x, %w) -> (%y) ...

    loop.for %i in 2048256, %j in 64 {
      %s = loop.reduce %k in 1440 with add {
        %0 = loop.load %x[..., %k floordiv 45, ... + %k floordiv 9 mod 5, ... + %k mod 9] ...
        %1 = loop.load %w[%j, %k floordiv 45, %k floordiv 9 mod 5, %k mod 9] ...

becomes

    func.func @main(%w : memref<64x5x9x32xf32> {torch.layout = (d0, d1, d2, d3) -> (d0, d3, d1, d2),
                                               torch.kind = "parameter", ...}, %x : ...) {
      loop.launch @conv2d(%x, %w) -> (%y) ...

    loop.for %i in 2048256, %j in 64 {
      %s = loop.reduce %k in 1440 with add {
        %0 = loop.load %x[..., %k mod 32, ... + %k floordiv 288, ... + %k floordiv 32 mod 9] ...
        %1 = loop.load %w[%j, %k floordiv 288, %k floordiv 32 mod 9, %k mod 32] ...

A block sums a chunk of 16 or 32 steps at a time. The channels of a chunk then share one step of the
window, so that one division serves all subscripts and masks of a chunk. The weight lies as it is
read, and is copied 16 bytes at a time. Packing is what BLAS libraries do with the operands of a
product (Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, 2008).

Matrix instructions add 8 steps of float32, or 16 of a half type. Channels are filled up to a
multiple of these with steps of zeros, if this adds at most a third:

        %0 = loop.load %x[..., %k mod 16, ...] where [11 - %k mod 16, ...]      12 channels

A parameter is packed when it is loaded, once for all runs. Any other operand is copied by a kernel
of its own, if the copy takes at most a tenth of the product's time.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import AffineMapAttr, MemRefType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.origin import without_number
from tilewright.dialects.parameter_layout import is_mutated, is_stored, permute_argument
from tilewright.dialects.target import LAUNCH_SECONDS, Target
from tilewright.dialects.types import memref_of, memref_type
from tilewright.passes.facts.footprint import bytes_of
from tilewright.passes.facts.windowed_operand import WindowedOperand, windowed_operand
from tilewright.passes.loop.kernel_builder import KernelBuilder
from tilewright.passes.loop.launch_graph import evaluations
from tilewright.passes.loop.name_kernels import KernelNames
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 31, "pack_operands")

SHARE = 0.1
"""Part of a product's time that the copy of an operand may take."""


def reason_against_copy(operand: WindowedOperand, target: Target) -> str | None:
    """Reason why a copy of the operand in another order does not pay, or None."""
    multiplying = 2 * evaluations(operand.load) / target.mma_flops
    copying = LAUNCH_SECONDS + 2 * bytes_of(operand.load.memref) / target.bandwidth
    if copying <= SHARE * multiplying:
        return None
    times = f"{copying * 1e6:.1f} us to copy, {multiplying * 1e6:.1f} us to multiply at the peak"
    return f"packing the operand does not pay: {times}"


@dataclass
class PackOperands(RewritePattern):
    """Pattern that packs an operand of the kernel that a launch runs."""

    plan: PlanIndex
    called: Container[str]
    """Functions that are called, whose arguments are values of their callers."""
    target: Target

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Pack the operand if the kernel has no other launch, and if packing pays."""
        kernel = self.plan.kernel_of(op)
        if kernel is None or (operand := windowed_operand(kernel)) is None:
            return
        if (reason := self._reason_against(kernel, op, operand)) is not None:
            skipped(RULE, kernel, reason)
            return
        with rewriting(RULE, kernel, whole_module=True):
            if not operand.is_packed:
                self._pack(kernel, op, operand, rewriter)
                _read_packed(operand, rewriter)
            _sum_channels_last(operand, rewriter)

    def _reason_against(
        self, kernel: loop.KernelOp, launch: loop.LaunchOp, operand: WindowedOperand
    ) -> str | None:
        """Reason why the product keeps its order, or None."""
        if self.plan.times_launched(kernel) > 1:
            return "the kernel is launched several times"
        given = launch.inputs[_position(kernel, operand)]
        if operand.is_packed or self._parameter(given) is not None:
            return None
        return reason_against_copy(operand, self.target)

    def _parameter(self, value: SSAValue) -> BlockArgument | None:
        """Return `value` if it is a parameter that is loaded for one launch only, or None."""
        if not isinstance(value, BlockArgument) or not value.has_one_use():
            return None
        function = value.owner.parent_op()
        if not isinstance(function, FuncOp) or function.sym_name.data in self.called:
            return None
        is_constant = is_stored(function, value.index) and not is_mutated(function, value.index)
        return value if is_constant else None

    def _pack(
        self,
        kernel: loop.KernelOp,
        launch: loop.LaunchOp,
        operand: WindowedOperand,
        rewriter: PatternRewriter,
    ) -> None:
        """Pass the packed operand to a launch: a parameter that is loaded so, or a copy."""
        position, order = _position(kernel, operand), operand.order
        parameter = self._parameter(launch.inputs[position])
        if parameter is not None:
            dims = [AffineExpr.dimension(dim) for dim in range(len(order))]
            unpacked = AffineMap(len(order), 0, _unpacked(dims, order))
            permute_argument(parameter, _packed_type(parameter, order), unpacked, rewriter)
            return
        base = f"{without_number(kernel.sym_name.data)}_packed"
        name = KernelNames(self.plan.module).unique(base)
        copy = _copied(launch, position, order, name, rewriter)
        rewriter.insert(copy, InsertPoint.before(kernel))


def _position(kernel: loop.KernelOp, operand: WindowedOperand) -> int:
    """Return the position of the operand among the kernel's inputs."""
    return next(n for n, input in enumerate(kernel.inputs) if input is operand.load.memref)


def _copied(
    launch: loop.LaunchOp, position: int, order: Sequence[int], name: str, rewriter: PatternRewriter
) -> loop.KernelOp:
    """Pass a packed copy of an input to a launch, and return the kernel that makes the copy."""
    given = launch.inputs[position]
    alloc = memref.AllocOp((), (), _packed_type(given, order))
    alloc.memref.name_hint = given.name_hint
    builder = KernelBuilder(memref_type(alloc.memref).get_shape(), [alloc.memref])
    builder.store([builder.load(given, _unpacked(builder.coordinates, order))])
    kernel = builder.finish(name)
    copy = loop.LaunchOp(name, builder.inputs, [alloc.memref])
    for op in (alloc, copy, *ops_in(kernel)):
        op.location = launch.location
    rewriter.insert([alloc, copy], InsertPoint.before(launch))
    launch.operands[position] = alloc.memref
    rewriter.notify_op_modified(launch)
    return kernel


def _read_packed(operand: WindowedOperand, rewriter: PatternRewriter) -> None:
    """Change the kernel's argument, and the subscripts of its load, to the packed order."""
    load, subscripts, order = operand.load, operand.load.map.data, operand.order
    rewriter.replace_value_with_new_type(load.memref, _packed_type(load.memref, order))
    results = tuple(subscripts.results[dim] for dim in order)
    load.map = AffineMapAttr(AffineMap(subscripts.num_dims, 0, results))
    rewriter.notify_op_modified(load)


def _sum_channels_last(operand: WindowedOperand, rewriter: PatternRewriter) -> None:
    """
    Replace the product by one that runs the same steps in the packed order, and steps of zeros for
    channels that fill the last chunk.
    """
    old, step = operand.product, AffineExpr.dimension(0)
    new = old.begun(operand.padded * operand.window, old.axis.name_hint)
    rewriter.insert(new, InsertPoint.before(old))
    channel = step % operand.padded
    was = channel * operand.window + step // operand.padded
    substitution = Substitution(indices={old.axis: (was, [new.axis])})
    if operand.padded != operand.channels:
        substitution.where = [channel * -1 + (operand.channels - 1)], [new.axis]
    for op in old.body.block.ops:
        new.body.block.add_op(substitution.clone(op))
    rewriter.replace(old, [], new.results)


def _packed_type(buffer: SSAValue, order: Sequence[int]) -> MemRefType[Attribute]:
    type = memref_type(buffer)
    return memref_of(type.element_type, tuple(type.get_shape()[dim] for dim in order))


def _unpacked(coordinates: Sequence[AffineExpr], order: Sequence[int]) -> tuple[AffineExpr, ...]:
    """Return the subscripts of the operand for those of the packed one."""
    return tuple(coordinates[order.index(dim)] for dim in range(len(order)))


@dataclass(frozen=True)
class PackOperandsPass(TargetedPass):
    """Sum over the channels of convolutions last, and pack their weights in that order."""

    name = "pack-operands"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Pack operands of all products in the module."""
        called = {call.callee.string_value() for call in op.walk() if isinstance(call, CallOp)}
        plan = PlanIndex(op)
        plan.rewrite(PackOperands(plan, called, self.gpu))
