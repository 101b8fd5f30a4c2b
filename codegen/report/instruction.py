# SPDX-License-Identifier: Apache-2.0
"""
Instructions of SASS (machine code) or PTX in the form that the report uses.

Each has a category, the number of bits that a thread accesses, and its possible successors.
"""

from dataclasses import dataclass, field

from xdsl.utils.str_enum import StrEnum

from tilewright.codegen.report.control_code import ControlCode
from tilewright.codegen.report.matrix_shape import MatrixShape


class Category(StrEnum):
    """
    Categories of instructions, by the unit that executes them. Memory accesses are named as in
    SASS.
    """

    FFMA = "FFMA"
    """float32 fused multiply-add"""
    FLOAT = "float"
    """other float32 arithmetic and comparisons"""
    HALF = "half"
    DOUBLE = "double"
    HMMA = "HMMA"
    """`mma.sync` on half types and tf32: a warp's product by a tensor core"""
    MATRIX = "matrix"
    """other instructions of tensor cores"""
    SPECIAL = "special"
    """reciprocals, square roots, exponentials, logarithms, sines"""
    INTEGER = "integer"
    """integer arithmetic, logic, moves and selections"""
    CONVERT = "convert"
    LDG = "LDG"
    STG = "STG"
    LDS = "LDS"
    LDSM = "LDSM"
    """`ldmatrix`: 8 x 8 matrices of 16-bit elements from shared memory"""
    STS = "STS"
    LDL = "LDL"
    """load from local memory: a spilled register, or an array that got no registers"""
    STL = "STL"
    LDGSTS = "LDGSTS"
    """`cp.async`: global to shared memory"""
    TMA = "TMA"
    """a copy by the tensor memory accelerator"""
    ATOMIC = "atomic"
    SHUFFLE = "shuffle"
    """exchanges and votes within a warp"""
    BARRIER = "barrier"
    """barriers, fences, waits for copies"""
    CONSTANT = "constant"
    """kernel arguments, constants and ids"""
    CONTROL = "control"
    OTHER = "other"


ACCESSES = (
    Category.LDG,
    Category.STG,
    Category.LDS,
    Category.LDSM,
    Category.STS,
    Category.LDL,
    Category.STL,
    Category.LDGSTS,
)
"""Categories of memory accesses, whose instructions have a width."""

GLOBAL = (Category.LDG, Category.STG, Category.LDGSTS)
"""Categories of accesses to global memory that have a width."""


@dataclass(frozen=True)
class Instruction:
    """
    One instruction. A place in the code is the number of instructions before it in the kernel.
    """

    opcode: str
    operands: str
    category: Category
    bits: int = 0
    """Bits that a thread accesses; 0 if the instruction is no memory access."""
    line: int = 0
    """Line of the CUDA text; 0 if unknown."""
    target: int | None = None
    """Place that the instruction may jump to, or None."""
    falls_through: bool = True
    """True if the next instruction may follow."""
    clocks: int = 1
    """Fewest clocks until the same warp issues its next instruction."""
    matrix: MatrixShape | None = None
    """Sizes of a matrix instruction; None for others, and for types without floating point."""
    predicate: str = ""
    """Predicate under which the instruction has an effect, such as `@!P0`; empty for always."""
    control: ControlCode | None = None
    """Scheduling information in SASS; None in PTX."""

    def __repr__(self) -> str:
        text = " ".join(filter(None, (self.predicate, self.opcode, self.operands)))
        return f"<Instruction: {text}>"


@dataclass(frozen=True)
class Code:
    """Instructions of a kernel."""

    language: str
    """Language of the instructions, `SASS` or `PTX`."""
    instructions: tuple[Instruction, ...] = field(repr=False)

    def __hash__(self) -> int:
        """Return a hash that does not take as long as the code."""
        return hash((self.language, len(self.instructions)))
