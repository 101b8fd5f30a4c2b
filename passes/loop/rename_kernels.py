# SPDX-License-Identifier: Apache-2.0
"""
Numbers kernels afresh, in the order of their launches, once fusing has made names free.

    loop.launch @softmax_3(%x) -> (%out) ...

becomes, when no other kernel is called `softmax`,

    loop.launch @softmax(%x) -> (%out) ...
"""

import re

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.passes.loop.kernel_builder import KernelNames
from tilewright.passes.trace import Rule, rewriting

RULE = Rule("f", 5, "rename_kernels")

_NUMBER = re.compile(r"(_\d+)+$")


def apply(module: ModuleOp) -> None:
    """Rename all kernels of the module, and what launches them."""
    kernels = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    old_names = [kernel.sym_name.data for kernel in kernels]
    names = KernelNames(module, without=old_names)
    new_names = {old: names.unique(_NUMBER.sub("", old)) for old in old_names}
    for kernel in kernels:
        kernel.properties["sym_name"] = StringAttr(new_names[kernel.sym_name.data])
    for launch in module.walk():
        if isinstance(launch, loop.LaunchOp) and (old := launch.kernel.string_value()) in new_names:
            launch.properties["kernel"] = SymbolRefAttr(new_names[old])


class RenameKernelsPass(ModulePass):
    """Give kernels the names that fusing left free."""

    name = "rename-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """The kernels of the module."""
        with rewriting(RULE, op):
            apply(op)
