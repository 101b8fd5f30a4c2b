# SPDX-License-Identifier: Apache-2.0
"""
Brings kernels to a normal form after fusion: kernels that differ only in names become identical.

    loop.launch @softmax_3(%bias, %x) -> (%out) ...
    loop.kernel @softmax_3(%bias, %x) -> (%out) {
      loop.for %p in 16 {
        %0 = loop.load %x[%p] ...   %1 = loop.load %bias[%p] ...
        %2 = arith.addf %1, %0 : f32

becomes, when no other kernel is called `softmax`,

    loop.launch @softmax(%x, %bias) -> (%out) ...
    loop.kernel @softmax(%x, %bias) -> (%out) {
      loop.for %i in 16 {
        %0 = loop.load %x[%i] ...   %1 = loop.load %bias[%i] ...
        %2 = arith.addf %0, %1 : f32

Inputs are in the order in which the kernel first reads them. The operands of ops that commute
exactly are in the order of their definition, constants last. Axes are named by their depth.
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.structure import COMMUTATIVE
from tilewright.passes.loop.kernel_builder import AXIS_NAMES, FOLD_AXIS_NAME
from tilewright.passes.loop.launch_graph import launches_by_kernel
from tilewright.passes.loop.name_kernels import renumber
from tilewright.passes.reporting.trace import Rule, rewriting

RULE = Rule("f", 5, "normalize_kernels")


def order_operands(kernel: loop.KernelOp) -> None:
    """Sort the operands of commutative ops by the order of their definition, constants last."""
    place: dict[SSAValue, int] = {}
    for op in ops_in(kernel):
        if isinstance(op, COMMUTATIVE):
            operands = sorted(op.operands, key=lambda v: (_is_constant(v), place[v]))
            op.operands = operands
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
            place[value] = len(place)


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, arith.ConstantOp)


def order_inputs(kernel: loop.KernelOp, launches: Sequence[loop.LaunchOp]) -> None:
    """
    Sort the inputs by the order in which the kernel first reads them, unread ones last. The inputs
    of a kernel without launches keep their order, since its caller passes them.
    """
    read = [op.memref for op in ops_in(kernel) if isinstance(op, loop.LoadOp)]
    inputs: list[SSAValue] = list(kernel.inputs)
    used = dict.fromkeys([*read, *inputs])
    order = [inputs.index(value) for value in used if value in inputs]
    if not launches:
        return
    _permute_arguments(kernel, order)
    for launch in launches:
        launch.operands = [*(launch.inputs[p] for p in order), *launch.outputs]


def _permute_arguments(kernel: loop.KernelOp, order: Sequence[int]) -> None:
    """Permute the kernel's inputs: input `order[i]` becomes input `i`."""
    block, facts = kernel.body.block, kernel.facts
    kernel.set_facts([*(facts[source] for source in order), *facts[len(order) :]])
    old: list[BlockArgument] = list(kernel.inputs)
    for position, source in enumerate(order):
        new = block.insert_arg(old[source].type, len(old) + position)
        new.name_hint = old[source].name_hint
        old[source].replace_all_uses_with(new)
    for argument in old:
        block.erase_arg(argument)


def name_axes(block: Block, depth: int = 0) -> None:
    """Name the free axes of nested loops i, j, l, ..., and the axes of reductions and scans k."""
    for op in block.ops:
        match op:
            case loop.ForOp():
                for position, axis in enumerate(op.body.block.args, depth):
                    axis.name_hint = AXIS_NAMES[position % len(AXIS_NAMES)]
                name_axes(op.body.block, depth + len(op.body.block.args))
            case loop.ReduceOp() | loop.ScanOp():
                op.axis.name_hint = FOLD_AXIS_NAME
                name_axes(op.body.block, depth)
            case _:
                pass


class NormalizeKernelsPass(ModulePass):
    """Bring kernels to a normal form, with the customary names of axes."""

    name = "normalize-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Normalize each kernel of the module."""
        kernels = [inner for inner in op.ops if isinstance(inner, loop.KernelOp)]
        with rewriting(RULE, op):
            renumber(op, kernels)
            launches = launches_by_kernel(op)
            for kernel in kernels:
                order_operands(kernel)
                order_inputs(kernel, launches.get(kernel.sym_name.data, ()))
                name_axes(kernel.body.block)
