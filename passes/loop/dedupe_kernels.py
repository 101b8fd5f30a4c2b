# SPDX-License-Identifier: Apache-2.0
"""
Replaces kernels that compute the same by one kernel, which is launched in place of each of them.

    loop.launch @linear(%x, %w0) -> (%h) ...
    loop.launch @linear_1(%h, %w1) -> (%y) ...
    loop.kernel @linear(%x, %w0) -> (%out) { ... }
    loop.kernel @linear_1(%h, %w1) -> (%out) { ... }

becomes

    loop.launch @linear(%x, %w0) -> (%h) ...
    loop.launch @linear(%h, %w1) -> (%y) ...
    loop.kernel @linear(%x, %w0) -> (%out) { ... }

Two kernels compute the same if they are equal up to the names of their values. The pass
`normalize-kernels`, which runs before, makes more kernels equal. A kernel without a launch stays,
since its name is its purpose. Fusion runs earlier, because a kernel with two launches cannot be
fused into either.
"""

from collections.abc import Hashable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.dialects.structure import body_structure
from tilewright.passes.loop.launch_graph import launches_by_kernel
from tilewright.passes.loop.name_kernels import renumber
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("f", 12, "dedupe_kernels")


def signature(kernel: loop.KernelOp) -> Hashable:
    """Return a key that is equal for kernels that compute the same: the kernel without its name."""
    shape = kernel.num_outputs, kernel.arg_attrs
    return shape, frozenset(kernel.attributes.items()), body_structure(kernel.body)


def _launch_instead(
    survivor: loop.KernelOp, kernel: loop.KernelOp, launches: Sequence[loop.LaunchOp]
) -> None:
    for launch in launches:
        launch.properties["kernel"] = SymbolRefAttr(survivor.sym_name)
    kernel.detach()
    kernel.erase()


class DedupeKernelsPass(ModulePass):
    """Keep only the first of several kernels that compute the same."""

    name = "dedupe-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Remove duplicate kernels of the module, and number the names of the others afresh."""
        launches = launches_by_kernel(op)
        survivors: dict[Hashable, loop.KernelOp] = {}
        kernels = [inner for inner in op.ops if isinstance(inner, loop.KernelOp)]
        for kernel in kernels:
            survivor = survivors.setdefault(signature(kernel), kernel)
            if survivor is kernel:
                continue
            if (of_kernel := launches.get(kernel.sym_name.data)) is None:
                skipped(RULE, kernel, "it has no launch")
                continue
            with rewriting(RULE, kernel, whole_module=True):
                _launch_instead(survivor, kernel, of_kernel)
        kept = [kernel for kernel in kernels if kernel.parent is not None]
        if len(kept) < len(kernels):
            renumber(op, kept)
