# SPDX-License-Identifier: Apache-2.0
"""
The kernels of a module and how often each is launched, by name, while patterns rewrite the plan: to
walk the module for each question would take long where a plan has a thousand launches.
"""

from collections import Counter

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriterListener, PatternRewriteWalker, RewritePattern

from tilewright.dialects import loop


class PlanIndex:
    """An index that stays true as long as all changes of launches go through `rewrite`."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self._kernels: dict[str, loop.KernelOp] = {}
        launches = (op for op in module.walk() if isinstance(op, loop.LaunchOp))
        self._launches = Counter(op.kernel.string_value() for op in launches)

    def kernel_of(self, launch: loop.LaunchOp) -> loop.KernelOp | None:
        """The kernel that `launch` runs, at Loop or Tile IR."""
        name = launch.kernel.string_value()
        kernel = self._kernels.get(name)
        if kernel is None or kernel.parent is None or kernel.sym_name.data != name:
            kernels = (op for op in self.module.ops if isinstance(op, loop.KernelOp))
            self._kernels = {op.sym_name.data: op for op in kernels}
        return self._kernels.get(name)

    def times_launched(self, kernel: loop.KernelOp) -> int:
        """How many launches run `kernel`."""
        return self._launches[kernel.sym_name.data]

    def rewrite(self, pattern: RewritePattern, *, last_first: bool = False) -> None:
        """Apply `pattern` to the module until it no longer matches."""
        listener = PatternRewriterListener(
            operation_insertion_handler=[lambda op: self._count(op, 1)],
            operation_removal_handler=[lambda op: self._count(op, -1)],
        )
        walker = PatternRewriteWalker(pattern, walk_reverse=last_first, listener=listener)
        walker.rewrite_module(self.module)

    def _count(self, op: Operation, change: int) -> None:
        if isinstance(op, loop.LaunchOp):
            self._launches[op.kernel.string_value()] += change
