# SPDX-License-Identifier: Apache-2.0
"""
Matrix instructions of a warp: `ldmatrix` and `mma`. PTX ISA, "Warp Level Matrix Instructions".

All 32 lanes of a warp must execute them together.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.fragments import K8, K16, M, N
from tilewright.codegen.simulator.instructions.convert import from_bfloat16
from tilewright.codegen.simulator.instructions.memory_access import Port, gather, items_of
from tilewright.codegen.simulator.lanes import WARP, Integers, Lanes
from tilewright.codegen.simulator.meeting import ALL_MEMBERS, Collective, Meeting
from tilewright.codegen.simulator.memory import Access, Mode
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.registers import Values
from tilewright.codegen.simulator.unit import Unit, modifiers, unknown
from tilewright.codegen.simulator.wavefronts import MATRIX_ROWS
from tilewright.matrix_sums import BFLOAT16, FLOAT16, TF32, FactorType, multiply_add
from tilewright.rounding import Float64

_ROW_BYTES = 16
"""Bytes of a row that `ldmatrix` loads; the eight rows of a matrix have eight elements each."""
_COUNTS = {"x1": 1, "x2": 2, "x4": 4}
_LOADS = {"sync", "aligned", "m8n8"}
_SPACES = ("shared", "shared_cta")


def _load(unit: Unit, instruction: Instruction) -> Collective:
    """
    Compile `ldmatrix`: lane `8 * i + r` addresses row `r` of matrix `i`. Lane `l` gets elements
    `2 * (l % 4)` and the next one of row `l / 4` of each matrix, or of each transposed matrix.
    """
    parts = modifiers(instruction, (*_LOADS, *_COUNTS, *_SPACES, "trans"))
    (count,) = (_COUNTS[part] for part in parts & _COUNTS.keys())
    if instruction.type != "b16" or not parts >= _LOADS or not parts & set(_SPACES):
        raise unknown(instruction)
    target, source = instruction.operands
    targets = [unit.registers.target(item, "b32") for item in items_of(target)]
    if len(targets) != count:
        raise unknown(instruction)
    port = Port(unit, instruction, source, Access(Mode.LOAD, _ROW_BYTES, instruction.line))

    def meet(meeting: Meeting) -> None:
        lanes = meeting.whole_warps()
        if lanes is None:
            return
        matrices = _matrices(port, lanes, count)
        if "trans" in parts:
            matrices = matrices.swapaxes(2, 3)
        pairs = np.ascontiguousarray(matrices).view(np.uint32)
        for number, register in enumerate(targets):
            register[lanes.index] = pairs[:, number].ravel()

    return aligned(unit, instruction, meet)


def _matrices(port: Port, lanes: Lanes, count: int) -> NDArray[np.uint16]:
    """
    Return the matrices that whole warps load, of shape (warps, count, 8, 8). Rows at invalid
    addresses are zeros.
    """
    rows = np.zeros(lanes.count, np.complex128)  # an item of 16 bytes
    givers = lanes.where(lanes.numbers() % WARP < MATRIX_ROWS * count)
    assert givers is not None
    for place in port.places(givers):
        items = gather(place.block, place.offsets, _ROW_BYTES)
        rows[lanes.positions(place.lanes)] = items
    matrices = rows.view(np.uint16).reshape(lanes.count // WARP, -1, MATRIX_ROWS, MATRIX_ROWS)
    return matrices[:, :count]


@dataclass(frozen=True)
class FactorForm:
    """Type of A's and B's elements."""

    type: np.dtype
    """Unsigned type with the bits of an element."""
    decode: Callable[[Any], Any]
    """Function from bits to the floats that they stand for."""
    sums: FactorType
    """Properties of the type that sums depend on."""


def _from_tf32(bits: Any) -> Any:
    """Return the float32 values with the given bits, of which the lowest 13 are ignored."""
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


BF16 = FactorForm(np.dtype(np.uint16), from_bfloat16, BFLOAT16)
F16 = FactorForm(np.dtype(np.uint16), lambda bits: bits.view(np.float16), FLOAT16)
_TF32 = FactorForm(np.dtype(np.uint32), _from_tf32, TF32)

_FORMS = {
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32": (K16, BF16),
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": (K16, F16),
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32": (K8, _TF32),
}


def _multiply(unit: Unit, instruction: Instruction) -> Collective:
    """Compile `mma`: `D = A * B + C`, for fragments in the registers of a warp."""
    if instruction.opcode not in _FORMS:
        raise unknown(instruction)
    fragments, operands = _FORMS[instruction.opcode]
    compute = multiply_add(unit.matrix_sums, operands.sums)
    d, *sources = (items_of(operand) for operand in instruction.operands)
    targets = [unit.registers.target(item, "f32") for item in d]
    a, b = ([unit.registers.source(item, "b32") for item in each] for each in sources[:2])
    c = [unit.registers.source(item, "f32") for item in sources[2]]
    per_register = 4 // operands.type.itemsize
    expected = (fragments.a.size, fragments.b.size, fragments.d.size)
    given = (len(a) * per_register, len(b) * per_register, len(c))
    if tuple(WARP * each for each in given) != expected or len(targets) != len(c):
        raise unknown(instruction)
    inverse_d = np.argsort(fragments.d, axis=None)

    def matrix(registers: list[Values], lanes: Lanes, order: Integers, rows: int) -> Float64:
        elements = elements_of(registers, lanes).view(operands.type)[:, order]
        values = operands.decode(elements).astype(np.float64)
        return values.reshape(len(values), rows, -1)

    def meet(meeting: Meeting) -> None:
        lanes = meeting.whole_warps()
        if lanes is None:
            return
        added = elements_of(c, lanes)[:, inverse_d].reshape(-1, M, N)
        left, right = matrix(a, lanes, fragments.a, M), matrix(b, lanes, fragments.b, fragments.k)
        result = compute(left, right, added).reshape(-1, M * N)[:, fragments.d]
        for number, register in enumerate(targets):
            register[lanes.index] = result[:, :, number].ravel()

    return aligned(unit, instruction, meet)


def elements_of(registers: Sequence[Values], lanes: Lanes) -> Values:
    """
    Return registers of whole warps, of shape (warps, 32 * registers): those of lane 0 come first.
    """
    stacked = np.stack([register[lanes.index] for register in registers], axis=1)
    return stacked.reshape(-1, WARP * len(registers))


def aligned(unit: Unit, instruction: Instruction, meet: Callable[[Meeting], None]) -> Collective:
    """Return a collective that all 32 lanes of a warp execute together."""
    everyone = np.broadcast_to(np.uint32(ALL_MEMBERS), unit.geometry.lanes)
    return Collective(instruction, [], everyone, meet, aligned=True)


MATRIX: dict[str, Callable[[Unit, Instruction], Collective]] = {
    "ldmatrix": _load,
    "mma": _multiply,
}
