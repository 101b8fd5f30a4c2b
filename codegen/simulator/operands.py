# SPDX-License-Identifier: Apache-2.0
"""What stands in a PTX instruction: operands, and the types that suffixes like `.f32` name."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

TYPES: dict[str, np.dtype] = {
    "pred": np.dtype(np.bool_),
    **{f"u{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"b{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"s{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
}
"""PTX type -> the NumPy type of one lane's value. `bf16` has none: it is handled as bits."""


@dataclass(frozen=True)
class Register:
    """A register of the kernel, or a special one (`%tid.x`)."""

    name: str


@dataclass(frozen=True)
class Immediate:
    """A literal; `bits` holds its pattern, whose width the instruction's type decides."""

    bits: int
    type: str = "b64"


@dataclass(frozen=True)
class Symbol:
    """The address of a variable, or a label."""

    name: str


@dataclass(frozen=True)
class Address:
    """`[base + offset]`, bytes."""

    base: Register | Immediate | Symbol
    offset: int


@dataclass(frozen=True)
class Vector:
    """`{a, b, ...}`."""

    items: "tuple[Operand, ...]"


@dataclass(frozen=True)
class Pair:
    """`d|p`, a value and a predicate written by one instruction."""

    value: "Operand"
    predicate: "Operand"


@dataclass(frozen=True)
class Sink:
    """`_`, a result that nobody wants."""


@dataclass(frozen=True)
class TensorPlace:
    """`[map, {x, y, ...}]`, coordinates innermost first."""

    map: Address
    coordinates: Vector


Operand = Register | Immediate | Symbol | Address | Vector | Pair | Sink | TensorPlace


@dataclass(frozen=True)
class Predicate:
    """`@p` or `@!p` before an instruction."""

    register: Register
    negated: bool


@dataclass(frozen=True)
class Instruction:
    """One PTX instruction; `line` is the line of the CUDA text that it comes from (0: unknown)."""

    opcode: str
    operands: tuple[Operand, ...]
    predicate: Predicate | None
    line: int

    @cached_property
    def parts(self) -> list[str]:
        """The opcode at its dots: `ld.global.f32` -> `["ld", "global", "f32"]`."""
        return self.opcode.replace("::", "_").split(".")

    @cached_property
    def root(self) -> str:
        return self.opcode.partition(".")[0]

    @property
    def type(self) -> str:
        """The last part, which is the type of most instructions."""
        return self.opcode.rpartition(".")[2]
