# SPDX-License-Identifier: Apache-2.0
"""
Instructions as the report sees them, be they SASS (machine code) or PTX: what kind each is, how
many bits a thread accesses by it, and where it may go next.
"""

from dataclasses import dataclass

from xdsl.utils.str_enum import StrEnum


class Category(StrEnum):
    """Kinds of instructions by what executes them. Memory accesses are named as in SASS."""

    FFMA = "FFMA"
    """float32 fused multiply-add"""
    FLOAT = "float"
    """other float32 arithmetic and comparisons"""
    HALF = "half"
    DOUBLE = "double"
    MATRIX = "matrix"
    """tensor cores"""
    SPECIAL = "special"
    """reciprocals, square roots, exponentials, logarithms, sines"""
    INTEGER = "integer"
    """integer arithmetic, logic, moves and selections"""
    CONVERT = "convert"
    LDG = "LDG"
    STG = "STG"
    LDS = "LDS"
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
    Category.STS,
    Category.LDL,
    Category.STL,
    Category.LDGSTS,
)
"""The categories whose instructions have a width."""

GLOBAL = (Category.LDG, Category.STG, Category.LDGSTS)
"""Accesses to global memory that have a width."""


@dataclass(frozen=True)
class Instruction:
    """One instruction; a place in the code is a number of instructions from the kernel's start."""

    opcode: str
    operands: str
    category: Category
    bits: int = 0
    """What a thread accesses; 0 for what is no access."""
    line: int = 0
    """The line of the CUDA text; 0 where unknown."""
    target: int | None = None
    """The place that it may jump to."""
    falls_through: bool = True
    """True if the next instruction may follow."""
    clocks: int = 1
    """The fewest clocks until the same warp issues the next one."""


@dataclass(frozen=True)
class Code:
    """A kernel's instructions."""

    language: str
    """`SASS` or `PTX`."""
    instructions: tuple[Instruction, ...]
