# SPDX-License-Identifier: Apache-2.0
"""Hand-written SASS, with the scheduling information that the clock needs."""

from dataclasses import replace

from tilewright.codegen.report.control_code import ControlCode
from tilewright.codegen.report.instruction import Code
from tilewright.codegen.report.sass import parse_sass


def sass(*lines: str, control: dict[int, ControlCode] | None = None) -> Code:
    """
    Return the code of lines such as `FADD R1, R2, R3` and labels such as `.L_x_0:`. `control` has
    the control codes of some places; the others have a stall count of 1.
    """
    text = [".text.k:"]
    for line in lines:
        text.append(line if line.endswith(":") else f"        /*0000*/  {line} ;")
    (code,) = parse_sass("\n".join(text)).values()
    found = control or {}
    instructions = [
        replace(instruction, control=found.get(place, ControlCode()))
        for place, instruction in enumerate(code.instructions)
    ]
    return Code("SASS", tuple(instructions))
