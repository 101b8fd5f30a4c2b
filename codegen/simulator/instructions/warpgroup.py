# SPDX-License-Identifier: Apache-2.0
"""
`wgmma`: multiplications by the four warps of a warpgroup, from swizzled matrices in shared memory.

PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions". Factors in registers are not known.
"""

import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tilewright.codegen.simulator.descriptors import CHUNK, Descriptor, start_of
from tilewright.codegen.simulator.findings import Kind
from tilewright.codegen.simulator.fragments import K16, M, N
from tilewright.codegen.simulator.instructions.matrix import (
    BF16,
    F16,
    aligned,
    elements_of,
)
from tilewright.codegen.simulator.instructions.memory_access import items_of
from tilewright.codegen.simulator.lanes import WARP, Integers, Lanes
from tilewright.codegen.simulator.meeting import Collective, Meeting
from tilewright.codegen.simulator.operands import Immediate, Instruction, Operand
from tilewright.codegen.simulator.register_uses import names
from tilewright.codegen.simulator.registers import Values
from tilewright.codegen.simulator.unit import Unit, unknown
from tilewright.codegen.simulator.warpgroups import GROUP_WARPS, Reading
from tilewright.matrix_sums import multiply_add
from tilewright.rounding import Float64

_K = 16
_ROWS = GROUP_WARPS * M
_FORM = re.compile(r"wgmma\.mma_async\.sync\.aligned\.m64n(\d+)k16\.f32\.(bf16|f16)\.\2")
_FACTORS = {"bf16": BF16, "f16": F16}


def warpgroup(unit: Unit, instruction: Instruction) -> Collective:
    """Compile a `wgmma` instruction. Raises `SimulatorError` for unknown forms."""
    act: Callable[[Lanes], None]
    match instruction.parts[1:]:
        case ["fence", "sync", "aligned"]:
            act = unit.warpgroups.fence
        case ["commit_group", "sync", "aligned"]:
            act = unit.warpgroups.commit
        case ["wait_group", "sync", "aligned"]:
            pending = _constant(instruction, instruction.operands[0])
            act = partial(unit.warpgroups.wait, pending=pending)
        case ["mma_async", *_]:
            act = _Multiplication(unit, instruction).run
        case _:
            raise unknown(instruction)

    def meet(meeting: Meeting) -> None:
        if (lanes := meeting.whole_warps()) is not None:
            act(lanes)

    return aligned(unit, instruction, meet)


def _constant(instruction: Instruction, operand: Operand) -> int:
    if not isinstance(operand, Immediate):
        raise unknown(instruction)
    return operand.bits


class _Factor(NamedTuple):
    """A or B: the register of its descriptor, and whether K is not innermost in memory."""

    name: str
    bits: Values
    transposed: bool


class _Multiplication:
    """`wgmma.mma_async {d}, a, b, add, 1, 1, transposed a, transposed b`, with k = 16."""

    def __init__(self, unit: Unit, instruction: Instruction):
        form = _FORM.fullmatch(instruction.opcode)
        if form is None:
            raise unknown(instruction)
        self.unit, self.line = unit, instruction.line
        self.columns, self.form = int(form[1]), _FACTORS[form[2]]
        d, a, b, add, *constants = instruction.operands
        signs_and_order = [_constant(instruction, each) for each in constants]
        if signs_and_order[:2] != [1, 1] or self.columns % N or not N <= self.columns <= 256:
            raise unknown(instruction)
        self._sums, self._names = items_of(d), names([d])
        if len(self._sums) != self.columns // 2:
            raise unknown(instruction)
        self._targets = [unit.registers.target(item, "f32") for item in self._sums]
        self._added = [unit.registers.source(item, "f32") for item in self._sums]
        self._adds = unit.registers.source(add, "pred")
        self._a, self._b = (
            _Factor(name, unit.registers.source(each, "b64"), bool(order))
            for name, each, order in zip("AB", (a, b), signs_and_order[2:], strict=True)
        )
        self._compute = multiply_add(unit.matrix_sums, self.form.sums)
        self._places = _places_of_sums(self.columns)
        self._order = np.argsort(self._places, axis=None)

    def run(self, lanes: Lanes) -> None:
        """Start the parts of the multiplication that whole warps do; report wrong descriptors."""
        a, b = (self._chunks(lanes, *each) for each in ((self._a, _ROWS), (self._b, self.columns)))
        if a is None or b is None:
            return
        first = lanes.numbers()[::WARP]
        number = self.unit.geometry.thread[first] // WARP % GROUP_WARPS
        of_warps = a.reshape(len(a), GROUP_WARPS, -1, a.shape[2])
        a = of_warps[np.arange(len(a)), number]
        readings = self._readings(first, a, b)
        if readings is None:
            return
        left = self._values(a, self._a, M)
        right = self._values(b, self._b, self.columns).swapaxes(1, 2)
        added = elements_of(self._added, lanes)[:, self._order].reshape(-1, M, self.columns)
        added = np.where(self._adds[lanes.index][::WARP, None, None], added, np.float32(0))
        result = self._compute(left, right, added).reshape(-1, M * self.columns)
        for number, register in enumerate(self._targets):
            register[lanes.index] = result[:, self._places[:, number]].ravel()
        descriptors = np.stack([each.bits[first] for each in (self._a, self._b)], axis=1)
        self.unit.warpgroups.start(first, descriptors, self._names, readings, self.line)

    def _chunks(self, lanes: Lanes, factor: _Factor, rows: int) -> Integers | None:
        """
        Return the offsets within the batch of the chunks of a factor by warp, as in
        `Descriptor.addresses`; None after a report.
        """
        by_warp = factor.bits[lanes.index].reshape(-1, WARP)
        bits = by_warp[:, 0]
        if (by_warp != bits[:, None]).any():
            return self._refuse(lanes, factor, "differs between the lanes of a warp")
        kinds = np.unique(bits & ~np.uint64(0x3FFF))
        descriptor = Descriptor.of(int(kinds[0])) if len(kinds) == 1 else None
        if descriptor is None:
            return self._refuse(lanes, factor, "is not that of a swizzled matrix")
        start = start_of(bits)
        if not descriptor.is_aligned(start, transposed=factor.transposed):
            return self._refuse(lanes, factor, "begins inside of the pattern of its swizzle")
        chunks = descriptor.addresses(start, rows, _K, transposed=factor.transposed)
        return chunks + self.unit.shared.bases(lanes.numbers()[::WARP])[:, None, None]

    def _refuse(self, lanes: Lanes, factor: _Factor, what: str) -> None:
        name = self.unit.geometry.name(int(lanes.numbers()[0]))
        text = f"the descriptor of {factor.name} that {name} gives to wgmma {what}"
        self.unit.findings.add(Kind.DESCRIPTOR, self.line, text)

    def _readings(self, warps: Integers, a: Integers, b: Integers) -> list[Reading] | None:
        """Check what each warp reads: its rows of A, and all of B. Return None after a report."""
        shared, readings = self.unit.shared, list[Reading]()
        for chunks in (a, b):
            offsets = chunks.reshape(len(chunks), -1)
            if not shared.read_chunks(warps, offsets, self.line):
                return None
            readings.append(Reading(warps, offsets, shared.chunks(offsets), self.line))
        return readings

    def _values(self, chunks: Integers, factor: _Factor, rows: int) -> Float64:
        """Return the elements of a factor by (warp, row, k)."""
        words = np.ascontiguousarray(self.unit.shared.chunks(chunks)).view(np.uint16)
        words = words.reshape(*chunks.shape, CHUNK // 2)
        if factor.transposed:
            words = words.transpose(0, 1, 3, 2)
        return self.form.decode(words.reshape(len(words), rows, _K)).astype(np.float64)


def _places_of_sums(columns: int) -> Integers:
    """
    Return the position in a warp's 16 rows of D, row by row, of each sum of each lane. Each tile of
    eight columns is held as D of `mma`.
    """
    row, column = np.divmod(K16.d, N)
    tiles = [row * columns + tile * N + column for tile in range(columns // N)]
    return np.concatenate(tiles, axis=1)
