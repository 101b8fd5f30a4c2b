# SPDX-License-Identifier: Apache-2.0
"""
Instructions of PTX in the categories of machine code, as a fallback without a disassembler.

PTX is the input of ptxas: it has no spills and no allocated registers, and it has address
arithmetic that ptxas folds into accesses. Widths of accesses are exact; shares of categories are
rough. Reference: PTX ISA 9, "Instruction Set".
"""

import re
from collections.abc import Iterator

from tilewright.codegen.report.instruction import ACCESSES, Category, Code, Instruction
from tilewright.codegen.report.matrix_shape import shape_in_ptx
from tilewright.codegen.simulator.source_lines import SourceLines

# Patterns of opcodes by category; the first match counts. PTX modifiers follow a dot.
_OPCODES = {
    Category.FFMA: r"fma.*\.f32(x2)?",
    Category.HMMA: r"mma\.sync\.aligned\.m16n8k\d+\.row\.col\.f(32|16)\.(tf32|bf16|f16)\..*",
    Category.MATRIX: r"w?mma.*|wgmma.*|tcgen05.*",
    Category.SPECIAL: r"(rcp|sqrt|rsqrt|ex2|lg2|sin|cos|tanh|div).*\.f32",
    Category.CONVERT: r"cvt\..*",
    Category.LDG: r"ld\.(volatile\.|relaxed.*|acquire.*)?global.*|ldu.*|ld\.[bfsuv]\d.*",
    Category.STG: r"st\.(volatile\.|relaxed.*|release.*)?global.*",
    Category.LDS: r"ld\.(volatile\.)?shared.*",
    Category.LDSM: r"ldmatrix.*",
    Category.STS: r"st\.(volatile\.)?shared.*|stmatrix.*|st\.async.*",
    Category.LDL: r"ld\.local.*",
    Category.STL: r"st\.local.*",
    Category.TMA: r"cp\.async\.bulk\.tensor.*|cp\.async\.bulk\.(shared|global).*"
    r"|cp\.reduce\.async\.bulk.*",
    Category.BARRIER: r"bar\..*|barrier.*|mbarrier.*|fence.*|membar.*|cp\.async\.(wait|commit"
    r"|mbarrier|bulk\.(wait|commit)).*|griddepcontrol.*|elect.*",
    Category.LDGSTS: r"cp\.async\..*",
    Category.ATOMIC: r"atom.*|red\..*",
    Category.SHUFFLE: r"shfl.*|vote.*|match.*|redux.*|activemask.*",
    Category.CONSTANT: r"(ld|st)\.param.*|ld\.const.*|mov\..*%(ctaid|tid|ntid|laneid|warpid).*",
    Category.CONTROL: r"bra.*|brx.*|ret.*|exit|call.*|trap|nanosleep.*",
    Category.DOUBLE: r".*\.f64",
    Category.HALF: r".*\.(b?f16(x2)?)",
    Category.FLOAT: r"(add|sub|mul|min|max|neg|abs|setp|set|selp|slct|copysign|testp).*\.f32(x2)?"
    r"|setp.*\.f32",
    Category.INTEGER: r"(add|addc|sub|subc|mul|mul24|mad|madc|div|rem|abs|neg|min|max|and|or|xor"
    r"|not|shl|shr|shf|setp|set|selp|slct|mov|prmt|bfe|bfi|popc|clz|bfind|brev|lop3|sad|dp2a|dp4a"
    r"|cvta|isspacep|mapa|createpolicy|lea|szext|bmsk|fns)\b.*",
}
_CATEGORY_OF_OPCODE = [(re.compile(opcodes), category) for category, opcodes in _OPCODES.items()]

_ENTRY = re.compile(r"\.entry (\w+)\(")
_LABEL = re.compile(r"\s*(\$\w+):")
_INSTRUCTION = re.compile(
    r"(?P<predicate>@!?%\w+\s+)?(?<![\w.%$@])(?P<opcode>[a-z]\w*(?:\.[\w:]+)*)(?P<operands>[^;]*);"
)
_VECTOR = re.compile(r"\.v([248])\b")
_TYPE = re.compile(r"\.[bfsu](8|16|32|64|128)\b")
_ENDS = ("bra", "brx", "ret", "exit", "trap")


def parse_ptx(text: str) -> dict[str, Code]:
    """Return the kernels of a PTX module by name, in the module's order."""
    _, *parts = _ENTRY.split(text)
    bodies = zip(parts[::2], parts[1::2], strict=True)
    return {name: Code("PTX", tuple(_instructions(_lines(body)))) for name, body in bodies}


def _lines(text: str) -> list[str]:
    """Return the lines of a kernel's body, without comments."""
    body = text[text.index("\n{") : text.index("\n}")]
    return [line.partition("//")[0] for line in body.splitlines()]


def _instructions(lines: list[str]) -> Iterator[Instruction]:
    labels = _labels(lines)
    source = SourceLines()
    for line in lines:
        source.read(line.strip())
        for found in _statements(line):
            yield _instruction(found, source.line, labels)


def _statements(line: str) -> Iterator[re.Match[str]]:
    if not line.lstrip().startswith("."):
        yield from _INSTRUCTION.finditer(line)


def _labels(lines: list[str]) -> dict[str, int]:
    """Return the place of each label."""
    labels: dict[str, int] = {}
    place = 0
    for line in lines:
        if label := _LABEL.match(line):
            labels[label[1]] = place
        place += sum(1 for _ in _statements(line))
    return labels


def _instruction(found: re.Match[str], line: int, labels: dict[str, int]) -> Instruction:
    opcode, operands = found["opcode"], found["operands"].strip()
    category = _category(f"{opcode} {operands}" if opcode.startswith("mov") else opcode)
    root = opcode.partition(".")[0]
    return Instruction(
        opcode,
        operands,
        category,
        _bits(opcode, operands) if category in ACCESSES else 0,
        line,
        labels.get(operands) if root == "bra" else None,
        falls_through=bool(found["predicate"]) or root not in _ENDS,
        matrix=shape_in_ptx(opcode),
    )


def _category(opcode: str) -> Category:
    for opcodes, category in _CATEGORY_OF_OPCODE:
        if opcodes.fullmatch(opcode):
            return category
    return Category.OTHER


def _bits(opcode: str, operands: str) -> int:
    """
    Return the bits that a thread accesses: the number of elements times their bits. For `cp.async`
    an operand gives the bytes.
    """
    if opcode.startswith("cp.async"):
        return 8 * int(operands.split(",")[2])
    if opcode.startswith(("ldmatrix", "stmatrix")):
        count = re.search(r"\.x([124])", opcode)
        return 32 * int(count[1]) if count else 32
    vector, element = _VECTOR.search(opcode), _TYPE.search(opcode)
    return (int(vector[1]) if vector else 1) * (int(element[1]) if element else 32)
