# SPDX-License-Identifier: Apache-2.0
"""Names of fused kernels: the parts that they are made of, the last computed first."""

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.passes.loop.kernel_builder import KernelNames

_MAX_PARTS = 6


def joined_name(
    kernel: loop.KernelOp, others: Sequence[loop.KernelOp], gone: Sequence[loop.KernelOp] = ()
) -> str:
    """
    A name for `kernel` when it does what `others` do too: the parts of all their names, each once.
    It is unique in the module; the names of `kernel` and of what is `gone` soon are free.
    """
    names = [k.sym_name.data for k in (kernel, *others)]
    parts = [part for name in names for part in name.split("_") if not part.isdigit()]
    joined = "_".join(list(dict.fromkeys(parts))[:_MAX_PARTS])
    module = kernel.parent_op()
    assert isinstance(module, ModuleOp)
    free = [k.sym_name.data for k in (kernel, *gone)]
    return KernelNames(module, without=free).unique(joined)
