# SPDX-License-Identifier: Apache-2.0
"""Names of fused kernels: the parts that they are made of, the last computed first."""

from collections.abc import Sequence

from tilewright.dialects import loop
from tilewright.passes.loop.plan_index import PlanIndex

_MAX_PARTS = 6


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
    plan.rename(kernel, joined or "kernel", gone)
