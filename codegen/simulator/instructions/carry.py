# SPDX-License-Identifier: Apache-2.0
"""
Integer arithmetic with a carry.

`.cc` writes one bit per lane to the condition code; `addc`, `subc` and `madc` read it. PTX ISA,
"Extended-Precision Integer Arithmetic Instructions".
"""

from typing import Any

import numpy as np

from tilewright.codegen.simulator.instructions.elementwise import where
from tilewright.codegen.simulator.instructions.integer import high_half
from tilewright.codegen.simulator.lanes import Lanes
from tilewright.codegen.simulator.operands import TYPES, Instruction
from tilewright.codegen.simulator.unit import Step, Unit, modifiers, unknown

_ALLOWED = ("lo", "hi", "cc")
_CARRY_IN = ("addc", "subc", "madc")


def has_carry(instruction: Instruction) -> bool:
    """True if an instruction writes or reads the condition code."""
    return instruction.root in _CARRY_IN or "cc" in instruction.parts


def _sum(a: Any, b: Any, carry: Any) -> tuple[Any, Any]:
    """Return `a + b + carry`, and its carry."""
    total = a + b
    result = total + carry
    return result, (total < a) | (result < total)


def _difference(a: Any, b: Any, borrow: Any) -> tuple[Any, Any]:
    """Return `a - b - borrow`, and its borrow."""
    rest = a - b
    return rest - borrow, (a < b) | (rest < borrow)


def build_carry(unit: Unit, instruction: Instruction) -> Step:
    """Compile `add`, `sub` or `mad` of the lower or upper half, with a carry in, out or both."""
    parts = modifiers(instruction, _ALLOWED)
    root = instruction.root[:3]
    carry_in, carry_out = instruction.root != root, "cc" in parts
    own = TYPES[instruction.type]
    dtype = np.dtype(f"u{own.itemsize}")
    if own.kind not in "iu" or own.itemsize < 4 or root not in ("add", "sub", "mad"):
        raise unknown(instruction)
    target, *operands = instruction.operands
    result = unit.registers.target(target, dtype)
    sources = [unit.registers.source(operand, own) for operand in operands]
    code = unit.registers.condition_code
    combine = _difference if root == "sub" else _sum

    def run(lanes: Lanes) -> None:
        index = lanes.index
        values = [source[index] for source in sources]
        if root == "mad":
            product = high_half(values[0], values[1]) if "hi" in parts else values[0] * values[1]
            values = [product, values[2]]
        a, b = (value.view(dtype) for value in values)
        carry = where(code[index] & carry_in, 1, 0).astype(dtype)
        total, over = combine(a, b, carry)
        result[index] = total
        if carry_out:
            code[index] = over

    return run
