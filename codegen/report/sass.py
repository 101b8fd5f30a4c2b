# SPDX-License-Identifier: Apache-2.0
"""
Parser of SASS, the machine code of NVIDIA's GPUs, as nvdisasm prints it.

            //## File "kernels.cu", line 7
    .L_x_2:
            /*02b0*/       @P0 LDG.E.128 R4, desc[UR4][R2.64+0x10] ;     /* 0x0000001004047981 */
                                                                         /* 0x000ea8000c1e9d00 */

Opcodes: CUDA Binary Utilities, "Instruction Set Reference", which lists them for each architecture.
`control_code.py` has the encoding of stall counts and scoreboards.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tilewright.codegen.report.control_code import ControlCode, decode
from tilewright.codegen.report.instruction import ACCESSES, Category, Code, Instruction
from tilewright.codegen.report.matrix_shape import shape_in_sass

# Patterns of opcode roots, the part before the first dot. The U of uniform instructions is removed.
_ROOTS = {
    Category.FFMA: r"FFMA|FFMA2|FFMA32I",
    Category.FLOAT: r"FADD\w*|FMUL\w*|FMNMX\w*|FSEL|FSETP|FSET|FCHK|FSWZ\w*",
    Category.HALF: r"H(ADD|MUL|FMA|MNMX|SET|SETP)2\w*",
    Category.DOUBLE: r"D(ADD|MUL|FMA|SETP|MNMX)",
    Category.HMMA: r"HMMA",
    Category.MATRIX: r"[BDHIOQ]G?MMA|WARPGROUP\w*|UTC\w*",
    Category.SPECIAL: r"MUFU",
    Category.CONVERT: r"[FI]2[FI]P?|FRND|I2I|F2IP",
    Category.LDG: r"LDG|LD",
    Category.STG: r"STG|ST",
    Category.LDS: r"LDS",
    Category.LDSM: r"LDSM",
    Category.STS: r"STS|STSM|STAS",
    Category.LDL: r"LDL",
    Category.STL: r"STL",
    Category.LDGSTS: r"LDGSTS",
    Category.TMA: r"UTMALDG|UTMASTG|UTMAREDG|UTMAPF|UBLK\w+",
    Category.ATOMIC: r"ATOM[GS]?|RED[GS]?|REDAS|SUATOM|SURED",
    Category.SHUFFLE: r"SHFL|VOTEU?|MATCH|REDUX|CREDUX",
    Category.BARRIER: r"BAR|B2R|MEMBAR|ERRBAR|FENCE|SYNCS|(LDG)?DEPBAR|ARRIVES|CCTL\w*|WARPSYNC"
    r"|UCGABAR\w*|UTMACMDFLUSH|ACQBULK|ELECT",
    Category.CONSTANT: r"LDC|LDCU|S2U?R|CS2U?R|R2UR",
    Category.CONTROL: r"BRA|BRX|JMP|JMX|EXIT|CALL|RET|BSSY|BSYNC|BREAK|BMOV|YIELD|NOP|NANOSLEEP"
    r"|BPT|KILL|PREEXIT|ENDCOLLECTIVE|WARPSYNC",
    Category.INTEGER: r"I(ADD|MAD|MUL|ABS|MNMX|DP|SETP|SCADD)\w*|LEA|LOP3?|PLOP3|SH[FLR]|SEL|PRMT"
    r"|MOV\w*|BMSK|BREV|FLO|POPC|SGXT|P2R|R2P|V(ADD|IADD|IMNMX|ABSDIFF)\w*|SETP",
}

_CATEGORY_OF_ROOT = [(re.compile(roots), category) for category, roots in _ROOTS.items()]

_KERNEL = re.compile(r"\.text\.(\S+):")
_LABEL = re.compile(r"([.$\w]+):")
_LINE = re.compile(r'\s*//## File ".*", line (\d+)')
_INSTRUCTION = re.compile(
    r"\s*/\*[0-9a-f]{4,}\*/\s+(?P<predicate>@\S+\s+)?(?P<opcode>[\w.]+)\s*(?P<operands>.*?)\s*;"
)
_UPPER_HALF = re.compile(r"\s*/\* 0x([0-9a-f]{16}) \*/")
_TARGET = re.compile(r"(?P<before>.*)`\((?P<label>[^)]+)\)")
_WIDTH = re.compile(r"[SU]?(8|16|32|64|128|256)")

_CONSTANT = re.compile(r"R\d+, -RZ, RZ, [^,R]+, [^,R]+")
"""Operands of an `HFMA2.MMA` that moves a constant: zero times zero, plus the constant."""

_NEVER = "@!PT"

_ENDS = ("EXIT", "RET", "BRA", "BRX", "JMP", "JMX")
_JUMPS = ("BRA", "JMP", "BSSY")


def parse_sass(text: str) -> dict[str, Code]:
    """
    Return the kernels in the output of `nvdisasm -c -gi -hex`, by name, in the output's order.
    """
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.splitlines():
        if kernel := _KERNEL.fullmatch(line):
            lines = sections.setdefault(kernel[1], [])
        lines.append(line)
    return {name: Code("SASS", tuple(_instructions(lines))) for name, lines in sections.items()}


def _instructions(lines: list[str]) -> Iterator[Instruction]:
    matches = [_INSTRUCTION.match(line) for line in lines]
    labels = _labels(lines, matches)
    source_line = 0
    for line, found, after in zip(lines, matches, [*lines[1:], ""], strict=True):
        if found is not None:
            yield _instruction(found, source_line, labels, _control(after))
        elif place := _LINE.match(line):
            source_line = int(place[1])  # the kernel's line is the last of a chain


def _control(line: str) -> ControlCode:
    """
    Return the control code in the upper half of an instruction, which `line` holds; the default if
    `line` does not hold one.
    """
    upper = _UPPER_HALF.fullmatch(line)
    return decode(int(upper[1], 16)) if upper else ControlCode()


def _labels(lines: list[str], matches: Iterable[re.Match[str] | None]) -> dict[str, int]:
    """Return the place of each label; `matches` are the instructions in the lines."""
    labels: dict[str, int] = {}
    place = 0
    for line, found in zip(lines, matches, strict=True):
        if found is not None:
            place += 1
        elif label := _LABEL.fullmatch(line):
            labels[label[1]] = place
    return labels


def _instruction(
    found: re.Match[str], line: int, labels: dict[str, int], control: ControlCode
) -> Instruction:
    opcode, operands = found["opcode"], found["operands"]
    root, *modifiers = opcode.split(".")
    category = category_of(root)
    if category is Category.HALF and _CONSTANT.fullmatch(operands):
        category = Category.INTEGER
    if (found["predicate"] or "").strip() == _NEVER:
        category = Category.CONTROL  # occupies an issue slot and does nothing, as LDS before LDGSTS
    # BRA.DIV leads to code for diverged warps, which is rare and no part of a loop.
    jumps = root in _JUMPS and "DIV" not in modifiers
    goal = _TARGET.fullmatch(operands) if jumps else None
    is_conditional = bool(found["predicate"] or (goal and goal["before"]))
    return Instruction(
        opcode,
        operands,
        category,
        _bits(root, modifiers) if category in ACCESSES else 0,
        line,
        labels[goal["label"]] if goal else None,
        falls_through=is_conditional or root not in _ENDS or "DIV" in modifiers,
        clocks=control.stall,
        matrix=shape_in_sass(opcode),
        predicate=(found["predicate"] or "").strip(),
        control=control,
    )


@lru_cache(maxsize=1 << 10)
def category_of(root: str) -> Category:
    """Return the category of an opcode, given without its modifiers."""
    for name in (root, root.removeprefix("U")):
        for roots, category in _CATEGORY_OF_ROOT:
            if roots.fullmatch(name):
                return category
    return Category.OTHER


def _bits(root: str, modifiers: list[str]) -> int:
    """
    Return the bits that a thread accesses; `LDSM` loads 1, 2 or 4 matrices of 32 bits a thread.
    """
    if root in ("LDSM", "STSM"):
        return 32 * int(next((m for m in modifiers if m in ("2", "4")), "1"))
    widths = [int(width[1]) for m in modifiers if (width := _WIDTH.fullmatch(m))]
    return widths[-1] if widths else 32
