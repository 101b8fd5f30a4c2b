# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `tensor-core`: take the instruction for half types, and for float32 that may
be rounded to tf32. Splitting float32 pays only for some tiles: the factors are split if the step is
planned.
"""

from collections.abc import Iterable
from dataclasses import replace

from tilewright.dialects import tile
from tilewright.dialects.axes import Role
from tilewright.dialects.matrix_instruction import LANES_N, MatrixInstruction
from tilewright.passes.facts.group_products import reads_lines
from tilewright.passes.tile.register_tile_sides import sides_of
from tilewright.passes.tile.tensor_core import TensorCorePass


def prefer(step: TensorCorePass, launch: tile.LaunchOp) -> Iterable[TensorCorePass]:
    """
    Yield the possible choices. That of warpgroups is first if warps have all columns, and TMA can
    fill the slabs as they are.
    """
    return sorted(step.possible(launch), key=lambda each: not _is_usual(each, launch))


def _is_usual(step: TensorCorePass, launch: tile.LaunchOp) -> bool:
    sides = {side.role: side for side in sides_of(launch)}
    has_all_columns = sides[Role.N].thread.extent == LANES_N
    return step.instruction.is_grouped == (has_all_columns and not reads_lines(launch))


def reason_to_skip(step: TensorCorePass, launch: tile.LaunchOp) -> str | None:
    """Reason why FFMA is better, or None."""
    choice = next(iter(prefer(step, launch)), None)
    if choice is None:
        (names,) = step.questions(launch).values()
        first = replace(step, instr=names[0]) if names else step
        return first.reason_not_possible(launch)
    is_planned = launch.kernel.planned is not None
    if choice.instruction is MatrixInstruction.M16N8K8_TF32X3 and not is_planned:
        return f"its factors are float32; 'instr={choice.instr}' splits them"
    return None
