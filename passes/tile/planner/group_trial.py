# SPDX-License-Identifier: Apache-2.0
"""
Trial whether warpgroups can multiply the factors of a contraction (`tensor-core`). The planner does
not know which slabs a kernel gets. It asks the pass, on a copy of the kernel with small blocks.
"""

from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import tile
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import Target
from tilewright.passes.facts.group_products import reads_lines
from tilewright.passes.tile.planner.trial import scheduled
from tilewright.passes.tile.tensor_core import TensorCorePass

_STEPS = ScheduleAttr.parse(
    "chunk-matmul-k{bk=16},blockify-launch{m=64 n=64},stage-inputs,register-tile{fm=2 fn=16 fk=1}"
)


def multiplies_by_groups(
    launch: tile.LaunchOp, instruction: MatrixInstruction | None, target: Target
) -> bool:
    """True if warpgroups can add products for which warps have `instruction`."""
    grouped = None if instruction is None else instruction.grouped
    if grouped is None or not target.has_warpgroups:
        return False
    step = TensorCorePass(target.name, instr=str(grouped))
    try:
        tried = scheduled(launch, _STEPS, step.name, target)
    except PassFailedException:
        return False
    if reads_lines(tried) or step.reason_against(tried) is not None:
        return False
    return step.reason_not_possible(tried) is None
