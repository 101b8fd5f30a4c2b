# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `tensor-core`: take the instruction for half types, and for float32 that may
be rounded to tf32. Splitting float32 pays only for some tiles: the factors are split if the step is
planned.
"""

from collections.abc import Iterable
from dataclasses import replace

from tilewright.dialects import tile
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.passes.tile.tensor_core import TensorCorePass


def prefer(step: TensorCorePass, launch: tile.LaunchOp) -> Iterable[TensorCorePass]:
    """Yield the possible choices."""
    return step.possible(launch)


def reason_to_skip(step: TensorCorePass, launch: tile.LaunchOp) -> str | None:
    """Reason why FFMA is better, or None."""
    choice = next(iter(step.possible(launch)), None)
    if choice is None:
        (names,) = step.questions(launch).values()
        first = replace(step, instr=names[0]) if names else step
        return first.reason_not_possible(launch)
    is_planned = launch.kernel.planned is not None
    if choice.instruction is MatrixInstruction.M16N8K8_TF32X3 and not is_planned:
        return f"its factors are float32; 'instr={choice.instr}' splits them"
    return None
