# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `tensor-core`: take the instruction for half types. Those for float32 round
the factors.
"""

from collections.abc import Iterable
from dataclasses import replace

from xdsl.dialects.builtin import f32

from tilewright.dialects import tile
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
    if choice.instruction.fragments.element == f32:
        return "its factors are float32, which a matrix instruction would round"
    return None
