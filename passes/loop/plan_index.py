# SPDX-License-Identifier: Apache-2.0
"""
An index of a module's symbols and launch counts that stays valid while patterns rewrite the plan.
To walk the module for each question would be slow for a plan of a thousand launches.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriterListener, PatternRewriteWalker, RewritePattern

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import nests_in, ops_in
from tilewright.passes.facts.nest import FlatNest, flat_nest


class FlatLaunch(NamedTuple):
    """A launch, its kernel, and the kernel's single nest."""

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    nest: FlatNest

    @property
    def buffer(self) -> SSAValue:
        """Buffer that the launch writes."""
        return self.launch.outputs[0]


class PlanIndex:
    """An index of a plan, valid as long as all changes of the plan go through `rewrite`."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self._symbols: dict[str, Operation] = {}
        self._launches: Counter[str] = Counter()
        self._reduces: dict[loop.KernelOp, bool] = {}
        for op in module.ops:  # no kernel launches another
            for inner in [op] if isinstance(op, loop.KernelOp) else ops_in(op):
                self._inserted(inner)

    def kernel_of(self, launch: loop.LaunchOp) -> loop.KernelOp | None:
        """Return the kernel that `launch` runs, a `loop.kernel` at Loop or Tile IR, or None."""
        kernel = self._symbols.get(launch.kernel.string_value())
        return kernel if isinstance(kernel, loop.KernelOp) else None

    def kernels_of(self, launches: Iterable[loop.LaunchOp]) -> list[loop.KernelOp]:
        """Return the kernels of `launches`; launches of anything else are ignored."""
        return [kernel for op in launches if (kernel := self.kernel_of(op)) is not None]

    def flat_launch(self, launch: loop.LaunchOp, *, reduces: bool) -> FlatLaunch | None:
        """
        Return the launch with its kernel and nest. Returns None unless the kernel is a flat nest
        that contains a reduction exactly if `reduces` is true.
        """
        kernel = self.kernel_of(launch)
        if kernel is None or (reduces and not self.reduces(kernel)):
            return None
        if (nest := flat_nest(kernel)) is None or nest.reduces is not reduces:
            return None
        return FlatLaunch(launch, kernel, nest)

    def times_launched(self, kernel: loop.KernelOp) -> int:
        """Return the number of launches of `kernel`."""
        return self._launches[kernel.sym_name.data]

    def reduces(self, kernel: loop.KernelOp) -> bool:
        """True if there is a reduction in `kernel`; the answer is cached."""
        if kernel not in self._reduces:
            nests = nests_in(kernel)
            self._reduces[kernel] = any(isinstance(op, loop.ReduceOp) for op in nests)
        return self._reduces[kernel]

    def joined(self, kernel: loop.KernelOp, kernels: Iterable[loop.KernelOp]) -> None:
        """Record in the index that `kernel` now does the work of all of `kernels`."""
        self._reduces[kernel] = any([self.reduces(one) for one in kernels])

    def rename(self, kernel: loop.KernelOp, base: str, gone: Sequence[loop.KernelOp]) -> None:
        """
        Rename `kernel` to `base`, or to `base_1`, `base_2`, ... if that is taken. The names
        of `kernel` and of kernels in `gone`, which are erased soon, count as free. The caller
        updates launches.
        """
        name, count = base, 0
        while self._symbols.get(name) not in (None, kernel, *gone):
            count += 1
            name = f"{base}_{count}"
        self._removed(kernel)
        kernel.properties["sym_name"] = StringAttr(name)
        self._inserted(kernel)

    def rewrite(self, pattern: RewritePattern, *, last_first: bool = False) -> None:
        """Apply `pattern` to the launches until it no longer matches."""
        listener = PatternRewriterListener(
            operation_insertion_handler=[self._inserted],
            operation_removal_handler=[self._removed],
        )
        walker = PatternRewriteWalker(pattern, walk_reverse=last_first, listener=listener)
        hosts = [op.body for op in self.module.ops if isinstance(op, FuncOp)]
        if len(hosts) == 1:
            walker.rewrite_region(hosts[0])
            return
        # a change in one host function may enable another: they launch the same kernels
        while any([walker.rewrite_region(host) for host in hosts]):
            pass

    def _inserted(self, op: Operation) -> None:
        if isinstance(op, loop.LaunchOp):
            self._launches[op.kernel.string_value()] += 1
        elif (name := _symbol(op)) is not None:
            self._symbols[name] = op

    def _removed(self, op: Operation) -> None:
        if isinstance(op, loop.LaunchOp):
            self._launches[op.kernel.string_value()] -= 1
        elif (name := _symbol(op)) is not None and self._symbols.get(name) is op:
            del self._symbols[name]


def _symbol(op: Operation) -> str | None:
    name = op.properties.get("sym_name")
    return name.data if isinstance(name, StringAttr) else None
