# SPDX-License-Identifier: Apache-2.0
"""Names of fused kernels: the parts that they are made of, the last computed first."""

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.passes.loop.kernel_builder import KernelNames

_MAX_PARTS = 6


def joined_name(*kernels: loop.KernelOp) -> str:
    """
    A name for one kernel that does what `kernels` do: the parts of all their names, each once. It
    is unique in the module, once `kernels` are gone.
    """
    names = [kernel.sym_name.data for kernel in kernels]
    parts = [part for name in names for part in name.split("_") if not part.isdigit()]
    module = kernels[0].parent_op()
    assert isinstance(module, ModuleOp)
    return KernelNames(module, without=names).unique(
        "_".join(list(dict.fromkeys(parts))[:_MAX_PARTS])
    )
