# SPDX-License-Identifier: Apache-2.0
"""Kernel after parsing: its declarations and its instructions."""

from dataclasses import dataclass, field

from tilewright.codegen.simulator.operands import Instruction


@dataclass(frozen=True)
class Variable:
    """Variable of a module or kernel; `size` is in bytes, 0 for the dynamic shared memory."""

    name: str
    space: str
    align: int
    size: int
    data: bytes = b""


@dataclass(frozen=True)
class Parameter:
    """Parameter of a kernel; `length` is the element count of an array type (a struct by value)."""

    name: str
    type: str
    length: int | None


@dataclass
class Kernel:
    """One `.entry`, ready to be compiled; names of inner scopes are already made unique."""

    name: str
    parameters: list[Parameter]
    max_threads: int | None = None
    cluster: tuple[int, int, int] = (1, 1, 1)
    registers: dict[str, str] = field(default_factory=dict[str, str])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    branch_tables: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
