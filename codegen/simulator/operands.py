# SPDX-License-Identifier: Apache-2.0
"""Parts of a PTX instruction: operands, and the types that suffixes such as `.f32` name."""

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
"""NumPy type of one lane's value, by PTX type; `bf16` has none, as it is handled as bits."""


@dataclass(frozen=True)
class Register:
    """Register of the kernel, or a special register such as `%tid.x`."""

    name: str


@dataclass(frozen=True)
class Immediate:
    """Literal operand; `bits` is its bit pattern, whose width the instruction's type decides."""

    bits: int
    type: str = "b64"


@dataclass(frozen=True)
class Symbol:
    """Address of a variable, or a label."""

    name: str


@dataclass(frozen=True)
class Address:
    """Memory operand `[base + offset]`, with the offset in bytes."""

    base: Register | Immediate | Symbol
    offset: int


@dataclass(frozen=True)
class Vector:
    """Vector operand `{a, b, ...}`."""

    items: "tuple[Operand, ...]"


@dataclass(frozen=True)
class Pair:
    """Destination `d|p`: a value and a predicate that one instruction writes."""

    value: "Operand"
    predicate: "Operand"


@dataclass(frozen=True)
class Sink:
    """Destination `_`: a result that is discarded."""


@dataclass(frozen=True)
class TensorPlace:
    """Place in a tensor, `[map, {x, y, ...}]`; the innermost coordinate comes first."""

    map: Address
    coordinates: Vector


Operand = Register | Immediate | Symbol | Address | Vector | Pair | Sink | TensorPlace


@dataclass(frozen=True)
class Predicate:
    """Guard `@p` or `@!p` before an instruction."""

    register: Register
    negated: bool


@dataclass(frozen=True)
class Instruction:
    """One PTX instruction; `line` is its line in the CUDA text, 0 if unknown."""

    opcode: str
    operands: tuple[Operand, ...]
    predicate: Predicate | None
    line: int

    @cached_property
    def parts(self) -> list[str]:
        """Parts of the opcode between its dots: `ld.global.f32` gives `["ld", "global", "f32"]`."""
        return self.opcode.replace("::", "_").split(".")

    @cached_property
    def root(self) -> str:
        return self.opcode.partition(".")[0]

    @property
    def type(self) -> str:
        """Last part of the opcode, which is the type for most instructions."""
        return self.opcode.rpartition(".")[2]
