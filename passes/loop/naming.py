# SPDX-License-Identifier: Apache-2.0
"""
Names of kernels: valid in C, unique in their module; those of fused kernels are made of the names
of their parts, the last computed first.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.origin import without_number
from tilewright.passes.loop.plan_index import PlanIndex

_MAX_PARTS = 6

_NO_LETTERS = re.compile(r"\W+")


class KernelNames:
    """Symbol names that are unique in a module and valid in C."""

    def __init__(self, module: ModuleOp, without: Iterable[str] = ()):
        names = (op.properties.get("sym_name") for op in module.ops)
        self.taken = {name.data for name in names if isinstance(name, StringAttr)} - {*without}
        self.next: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """`wanted`, or `wanted_1`, `wanted_2`, ... when that is taken."""
        stem = _NO_LETTERS.sub("_", wanted).strip("_") or "kernel"
        stem = f"k{stem}" if stem[0].isdigit() else stem
        name = stem
        while name in self.taken:
            self.next[stem] = self.next.get(stem, 0) + 1
            name = f"{stem}_{self.next[stem]}"
        self.taken.add(name)
        return name


def rename_kernels(module: ModuleOp, wanted: Mapping[str, str]) -> None:
    """
    Call kernels, by their names now, what is wanted, numbered where several want the same; launches
    follow.
    """
    names = KernelNames(module, without=wanted)
    new_names = {old: names.unique(name) for old, name in wanted.items()}
    for op in ops_in(module):
        if isinstance(op, loop.KernelOp) and (old := op.sym_name.data) in new_names:
            op.properties["sym_name"] = StringAttr(new_names[old])
        if isinstance(op, loop.LaunchOp) and (old := op.kernel.string_value()) in new_names:
            op.properties["kernel"] = SymbolRefAttr(new_names[old])


def renumber(module: ModuleOp, kernels: Iterable[loop.KernelOp]) -> None:
    """Number the kernels afresh, in their order."""
    names = [kernel.sym_name.data for kernel in kernels]
    rename_kernels(module, {name: without_number(name) for name in names})


def join_names(
    plan: PlanIndex,
    kernel: loop.KernelOp,
    kernels: Sequence[loop.KernelOp],
    gone: Sequence[loop.KernelOp] = (),
) -> None:
    """
    Name `kernel`, which does what all of `kernels` did: the parts of their names, each once. The
    name is unique in the module; those of what is `gone` soon are free.
    """
    names = [k.sym_name.data for k in kernels]
    parts = [part for name in names for part in name.split("_") if not part.isdigit()]
    joined = "_".join(list(dict.fromkeys(parts))[:_MAX_PARTS])
    plan.joined(kernel, kernels)
    plan.rename(kernel, joined or "kernel", gone)
