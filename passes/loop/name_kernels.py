# SPDX-License-Identifier: Apache-2.0
"""
Names kernels after the modules that they come from.

    loop.launch @mul_rsqrt_add_mean_pow(%x, %weight) -> (%out) ...

becomes, where all ops of the kernel come from one call of a `LlamaRMSNorm`,

    loop.launch @llama_rms_norm(%x, %weight) -> (%out) ...

Where several kernels come from that call, the names of their ops stay behind: `llama_attention_mul`
and `llama_attention_softmax`. Kernels of one op, and kernels of several modules, keep the names of
their ops; so do those of the program itself, which is a module too, as long as their ops are few.
Names are C identifiers of at most 40 characters, each once.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.origin import ModuleOfOp, Origin, origin_of, without_number
from tilewright.passes.loop.naming import rename_kernels
from tilewright.passes.reporting.trace import Rule, rewriting

RULE = Rule("f", 13, "name_kernels")

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

_MAX_STEM = 36
"""Characters before a number, so that a name has 40."""

_MAX_OPS_OF_PROGRAM = 3
"""So many names of ops say more than the class of the whole program."""


def module_of(kernel: loop.KernelOp) -> ModuleOfOp | None:
    """The module that a kernel is named after."""
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
    """`LlamaRMSNorm` as `llama_rms_norm`."""
    return _WORD_START.sub("_", name).lower()


def shortened(name: str) -> str:
    """The words of a name that fit."""
    while len(name) > _MAX_STEM and "_" in name.strip("_"):
        name = name.rpartition("_")[0]
    return name[:_MAX_STEM]


def wanted_names(kernels: Sequence[loop.KernelOp]) -> Mapping[str, str]:
    """What each kernel should be called, by its name now; some may want the same."""
    sources = {kernel.sym_name.data: module_of(kernel) for kernel in kernels}
    count = Counter(sources.values())
    wanted: dict[str, str] = {}
    for old, source in sources.items():
        stem = without_number(old)
        if source is not None:
            owner = snake_case(source.name)
            stem = owner if count[source] == 1 else f"{owner}_{stem}"
        wanted[old] = shortened(stem)
    return wanted


class NameKernelsPass(ModulePass):
    """Name the kernels of the module after the modules and ops that they come from."""

    name = "name-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """All at once, and the launches follow."""
        kernels = [inner for inner in op.ops if isinstance(inner, loop.KernelOp)]
        with rewriting(RULE, op):
            rename_kernels(op, wanted_names(kernels))
