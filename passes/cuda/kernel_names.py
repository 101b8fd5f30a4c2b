# SPDX-License-Identifier: Apache-2.0
"""Kernels whose names C++ or CUDA has taken get names of their own."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr

from tilewright.dialects import kernel, loop
from tilewright.dialects.cuda.names import identifier


def rename_kernels(module: ModuleOp) -> None:
    """Give kernels whose names C++ has taken names of their own, and tell the launches."""
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, kernel.FuncOp)}
    renamed = cuda_names([*kernels])
    for old, name in renamed.items():
        kernels[old].properties["sym_name"] = StringAttr(name)
    if renamed:
        _rename_launches(module, renamed)


def cuda_names(kernels: Sequence[str]) -> dict[str, str]:
    """Return the names in CUDA of those kernels that C++ or CUDA does not let keep theirs."""
    taken = {*kernels}
    renamed: dict[str, str] = {}
    for old in kernels:
        name = stem = identifier(old)
        if name == old:
            continue
        count = 0
        while name in taken:
            count += 1
            name = f"{stem}{count}"
        taken.add(name)
        renamed[old] = name
    return renamed


def _rename_launches(module: ModuleOp, renamed: dict[str, str]) -> None:
    for op in module.walk():
        if isinstance(op, loop.LaunchOp) and (name := renamed.get(op.kernel.string_value())):
            op.properties["kernel"] = SymbolRefAttr(name)
