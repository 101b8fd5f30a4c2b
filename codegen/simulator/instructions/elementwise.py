# SPDX-License-Identifier: Apache-2.0
"""Steps that compute each lane by itself, from arrays of operands to an array of results."""

from collections.abc import Callable
from functools import lru_cache
from inspect import signature
from typing import Any

import numpy as np

from tilewright.codegen.simulator.lanes import Lanes
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.registers import Values
from tilewright.codegen.simulator.unit import Builder, Step, Unit, modifiers

Function = Callable[..., Any]
"""Function from arrays of operands to an array of results."""
Unary = Callable[[Any], Any]
Binary = Callable[[Any, Any], Any]
Ternary = Callable[[Any, Any, Any], Any]


where: Ternary = np.where
"""Selection `where(chosen, x, y)` for operands of any type."""


def same(x: Any) -> Any:
    """Return the operand unchanged."""
    return x


def step(function: Function, target: Values, *sources: Values) -> Step:
    """
    Return a step that computes `target = function(*sources)` for the executing lanes; a ufunc
    writes its results in place. Raises `ValueError` for a wrong number of sources.
    """
    if not _takes(function, len(sources)):
        raise ValueError(f"the function does not take {len(sources)} operands")
    if isinstance(function, np.ufunc) and target.flags.c_contiguous:
        return _in_place(function, target, sources)

    def run(lanes: Lanes) -> None:
        index = lanes.index
        target[index] = function(*[source[index] for source in sources])

    return run


@lru_cache(maxsize=1024)
def _takes(function: Function, count: int) -> bool:
    """True if a function takes `count` operands, or Python does not know how many it takes."""
    if isinstance(function, np.ufunc):
        return function.nin == count
    try:
        signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a function without a signature, such as `np.where`
        return True
    return True


def _in_place(function: np.ufunc, target: Values, sources: tuple[Values, ...]) -> Step:
    def run(lanes: Lanes) -> None:
        if lanes.whole:
            function(*sources, out=target)
            return
        index = lanes.index
        target[index] = function(*[source[index] for source in sources])

    return run


def uniform(function: Function, allowed: str = "", result: str = "") -> Builder:
    """
    Return a builder for an instruction that computes `function` from operands of the instruction's
    type.

    `allowed` names modifiers without effect. `result` is the type of the result if it differs.
    """

    def build(unit: Unit, instruction: Instruction) -> Step:
        modifiers(instruction, allowed.split())
        target, *sources = instruction.operands
        type = instruction.type
        return step(
            function,
            unit.registers.target(target, result or type),
            *(unit.registers.source(source, type) for source in sources),
        )

    return build
