# SPDX-License-Identifier: Apache-2.0
"""
Names kernels after the PyTorch modules that they come from.

    loop.launch @mul_rsqrt_add_mean_pow(%x, %weight) -> (%out) ...

becomes, where all ops of the kernel come from one call of a `LlamaRMSNorm`,

    loop.launch @llama_rms_norm(%x, %weight) -> (%out) ...

If several kernels come from one call, the names of their ops follow the module's name:
`llama_attention_mul` and `llama_attention_softmax`. Kernels of one op, and kernels of several
modules, keep the names of their ops. Kernels of the program itself, which is a module too, also
keep them as long as their ops are few. Names are unique C identifiers of at most 40 characters.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.origin import ModuleOfOp, Origin, origin_of, without_number
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.reporting.trace import Rule, rewriting

_MAX_PARTS = 6

_NO_LETTERS = re.compile(r"\W+")


class KernelNames:
    """Symbol names that are unique in a module and valid in C."""

    def __init__(self, module: ModuleOp, without: Iterable[str] = ()):
        names = (op.properties.get("sym_name") for op in module.ops)
        self.taken = {name.data for name in names if isinstance(name, StringAttr)} - {*without}
        self.next: dict[str, int] = {}

    def unique(self, base: str) -> str:
        """Return `base`, or `base_1`, `base_2`, ... if that is taken."""
        stem = _NO_LETTERS.sub("_", base).strip("_") or "kernel"
        stem = f"k{stem}" if stem[0].isdigit() else stem
        name = stem
        while name in self.taken:
            self.next[stem] = self.next.get(stem, 0) + 1
            name = f"{stem}_{self.next[stem]}"
        self.taken.add(name)
        return name


def rename_kernels(module: ModuleOp, new_stems: Mapping[str, str]) -> None:
    """
    Rename kernels to the values of `new_stems`, whose keys are their present names. Names that
    occur several times are numbered. Launches are updated.
    """
    names = KernelNames(module, without=new_stems)
    new_names = {old: names.unique(name) for old, name in new_stems.items()}
    for op in ops_in(module):
        if isinstance(op, loop.KernelOp) and (old := op.sym_name.data) in new_names:
            op.properties["sym_name"] = StringAttr(new_names[old])
        if isinstance(op, loop.LaunchOp) and (old := op.kernel.string_value()) in new_names:
            op.properties["kernel"] = SymbolRefAttr(new_names[old])


def renumber(module: ModuleOp, kernels: Iterable[loop.KernelOp]) -> None:
    """
    Remove the numbers of the kernels' names, and number equal names afresh, in order of `kernels`.
    """
    names = [kernel.sym_name.data for kernel in kernels]
    rename_kernels(module, {name: without_number(name) for name in names})


def join_names(
    plan: PlanIndex,
    kernel: loop.KernelOp,
    kernels: Sequence[loop.KernelOp],
    gone: Sequence[loop.KernelOp] = (),
) -> None:
    """
    Name `kernel`, which replaces all of `kernels`, by the parts of their names, each once. The name
    is unique in the module; the names of kernels in `gone`, which are erased soon, count as free.
    """
    names = [k.sym_name.data for k in kernels]
    parts = [part for name in names for part in name.split("_") if not part.isdigit()]
    joined = "_".join(list(dict.fromkeys(parts))[:_MAX_PARTS])
    plan.joined(kernel, kernels)
    plan.rename(kernel, joined or "kernel", gone)


RULE = Rule("f", 13, "name_kernels")

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_MAX_STEM = 36
"""Most characters of a name without its number, so that a name has at most 40 in all."""

_MAX_OPS_OF_PROGRAM = 3
"""Number of op names up to which they describe a kernel better than the program's class does."""


def module_of(kernel: loop.KernelOp) -> ModuleOfOp | None:
    """
    Return the PyTorch module that a kernel is named after. Returns None if its ops come from
    several modules, or are so few that their own names are better.
    """
    found = (origin_of(op.location) for op in ops_in(kernel) if op is not kernel)
    origins = [origin for origin in found if origin is not None]
    modules = {origin.module for origin in origins}
    if len(modules) != 1 or (module := modules.pop()) is None:
        return None
    few = 1 if module.path else _MAX_OPS_OF_PROGRAM
    return module if len(_ops(origins)) > few else None


def _ops(origins: Sequence[Origin]) -> set[str]:
    return {without_number(origin.node) for origin in origins}


def snake_case(name: str) -> str:
    """Convert a name to snake case: `LlamaRMSNorm` to `llama_rms_norm`."""
    return _WORD_START.sub("_", name).lower()


def shortened(name: str) -> str:
    """Return the first words of a name, as many as fit into `_MAX_STEM` characters."""
    while len(name) > _MAX_STEM and "_" in name.strip("_"):
        name = name.rpartition("_")[0]
    return name[:_MAX_STEM]


def new_names_of(kernels: Sequence[loop.KernelOp]) -> Mapping[str, str]:
    """Return the new name of each kernel, by its present name; names may occur several times."""
    sources = {kernel.sym_name.data: module_of(kernel) for kernel in kernels}
    count = Counter(sources.values())
    stems: dict[str, str] = {}
    for old, source in sources.items():
        stem = without_number(old)
        if source is not None:
            owner = snake_case(source.name)
            stem = owner if count[source] == 1 else f"{owner}_{stem}"
        stems[old] = shortened(stem)
    return stems


class NameKernelsPass(ModulePass):
    """Name the kernels of the module after the modules and ops that they come from."""

    name = "name-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rename all kernels of the module, and update their launches."""
        kernels = [inner for inner in op.ops if isinstance(inner, loop.KernelOp)]
        with rewriting(RULE, op):
            rename_kernels(op, new_names_of(kernels))
