# SPDX-License-Identifier: Apache-2.0
"""Kernels whose names C++ or CUDA has taken get names of their own."""

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr

from tilewright.dialects import kernel, loop
from tilewright.dialects.cuda_names import identifier


def rename_kernels(module: ModuleOp) -> None:
    """Give kernels whose names C++ has taken names of their own, and tell the launches."""
    kernels = [op for op in module.ops if isinstance(op, kernel.FuncOp)]
    taken = {op.sym_name.data for op in kernels}
    renamed: dict[str, str] = {}
    for op in kernels:
        name = stem = identifier(old := op.sym_name.data)
        if name == old:
            continue
        count = 0
        while name in taken:
            count += 1
            name = f"{stem}{count}"
        taken.add(name)
        renamed[old] = name
        op.properties["sym_name"] = StringAttr(name)
    if renamed:
        _rename_launches(module, renamed)


def _rename_launches(module: ModuleOp, renamed: dict[str, str]) -> None:
    for op in module.walk():
        if isinstance(op, loop.LaunchOp) and (name := renamed.get(op.kernel.string_value())):
            op.properties["kernel"] = SymbolRefAttr(name)
