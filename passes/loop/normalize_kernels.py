# SPDX-License-Identifier: Apache-2.0
"""
Gives kernels, once fusing is done, the names and the order of inputs that a reader expects.

    loop.launch @softmax_3(%bias, %x) -> (%out) ...

becomes, in a function of `%x` and `%bias`, when no other kernel is called `softmax`,

    loop.launch @softmax(%x, %bias) -> (%out) ...

Inputs are in the order in which the function that launches the kernel (first) defines them.
"""

import re
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.passes.loop.kernel_builder import KernelNames
from tilewright.passes.trace import Rule, rewriting

RULE = Rule("f", 5, "normalize_kernels")

_NUMBER = re.compile(r"(_\d+)+$")


def rename(module: ModuleOp, kernels: Sequence[loop.KernelOp]) -> None:
    """Number the kernels afresh, in their order, and make what launches them follow."""
    old_names = [kernel.sym_name.data for kernel in kernels]
    names = KernelNames(module, without=old_names)
    new_names = {old: names.unique(_NUMBER.sub("", old)) for old in old_names}
    for kernel in kernels:
        kernel.properties["sym_name"] = StringAttr(new_names[kernel.sym_name.data])
    for launch in module.walk():
        if isinstance(launch, loop.LaunchOp) and (old := launch.kernel.string_value()) in new_names:
            launch.properties["kernel"] = SymbolRefAttr(new_names[old])


def order_inputs(module: ModuleOp, kernels: Sequence[loop.KernelOp]) -> None:
    """Put the inputs of every kernel in the order of their definitions."""
    place = {value: number for number, value in enumerate(_definitions(module))}
    launches: dict[str, list[loop.LaunchOp]] = {}
    for op in module.walk():
        if isinstance(op, loop.LaunchOp):
            launches.setdefault(op.kernel.string_value(), []).append(op)
    for kernel in kernels:
        of_kernel = launches.get(kernel.sym_name.data)
        if of_kernel is None:
            continue
        inputs = of_kernel[0].inputs
        order = sorted(range(len(inputs)), key=lambda position: place[inputs[position]])
        _permute_arguments(kernel, order)
        for launch in of_kernel:
            launch.operands = [*(launch.inputs[p] for p in order), *launch.outputs]


def _definitions(module: ModuleOp) -> Sequence[SSAValue]:
    """Every value, in the order of the text."""
    values: list[SSAValue] = []
    for op in module.walk():
        values.extend(op.results)
        values.extend(a for region in op.regions for block in region.blocks for a in block.args)
    return values


def _permute_arguments(kernel: loop.KernelOp, order: Sequence[int]) -> None:
    """Argument `order[i]` becomes argument `i`."""
    block = kernel.body.block
    old: list[BlockArgument] = list(kernel.inputs)
    for position, source in enumerate(order):
        new = block.insert_arg(old[source].type, len(old) + position)
        new.name_hint = old[source].name_hint
        old[source].replace_all_uses_with(new)
    for argument in old:
        block.erase_arg(argument)


class NormalizeKernelsPass(ModulePass):
    """Name kernels and order their inputs as a reader expects."""

    name = "normalize-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """The kernels of the module."""
        kernels = [inner for inner in op.ops if isinstance(inner, loop.KernelOp)]
        with rewriting(RULE, op):
            rename(op, kernels)
            order_inputs(op, kernels)
