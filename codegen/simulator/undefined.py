# SPDX-License-Identifier: Apache-2.0
"""
Undefined values: registers that were loaded from memory that was never written.

The load alone is no error. A compiler moves loads before the branches that guard them, and copies
structures with their padding. The undefined bytes of a register are therefore followed through
arithmetic, `selp`, predicates and copies. They are reported where they matter: in an address, a
branch, or a store that others may see.

    ld.local.f32   %f1, [%rd2];          nothing was written there
    add.f32        %f2, %f1, %f1;        undefined
    selp.f32       %f3, %f2, 0f00, %p1;  undefined only where %p1 holds
    st.global.f32  [%rd3], %f3;          reported, with the line of the load

Only registers that a load of local memory can reach are followed, and only after the first
undefined load.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Lanes
from tilewright.codegen.simulator.operands import Instruction, Operand, Register, Vector
from tilewright.codegen.simulator.register_uses import (
    decided,
    followed,
    may_be_local,
    names,
    targets,
)
from tilewright.codegen.simulator.registers import Registers

Marks = NDArray[np.int64]
"""
Marks of a register, per lane: 0 for a defined value. Otherwise the upper half is the number of a
load, and the lower half has a bit for each undefined byte.
"""
States = NDArray[np.uint8]
"""
States of bytes of memory: `UNWRITTEN`, `DEFINED`, or `DEFINED` plus the number of the load whose
undefined byte was copied there.
"""

UNWRITTEN, DEFINED = 0, 1
_MOST_LOADS = 254
_NUMBER = 32
_ALL_BYTES = 0xFF
_BIT: NDArray[np.int64] = np.array([1 << byte for byte in range(8)])


class Undefined:
    """Undefined values of all lanes, in the launch of a kernel."""

    def __init__(self, kernel: Kernel, registers: Registers, findings: Findings, follow: bool):
        self._registers = registers
        self._findings = findings
        self._followed = followed(kernel) if follow else set[str]()
        self._marks: dict[str, Marks] = {}
        self._loads: list[tuple[int, str]] = [(0, "")]
        """
        Line of each load that found undefined bytes, and the text of its finding, by the load's
        number.
        """
        self._numbers: dict[int, int] = {}

    def reset(self) -> None:
        """Mark all registers as defined, at the start of a batch."""
        self._marks.clear()

    def load(self, line: int, text: str) -> int:
        """
        Return the number for a load in source line `line` that read unwritten bytes; `text` is its
        finding.
        """
        if line not in self._numbers:
            self._loads.append((line, text))
            self._numbers[line] = min(len(self._loads) - 1, _MOST_LOADS)
        return self._numbers[line]

    def loaded(self, register: Operand, lanes: Lanes, state: States, number: int) -> None:
        """
        Mark the bytes of a register that are undefined after a load.

        `state` holds the states of the loaded bytes, of shape (lanes, bytes). `number` is that of
        the load, for bytes that were never written.
        """
        if not isinstance(register, Register):
            return
        marks = np.zeros(lanes.count, np.int64)
        if (state != DEFINED).any():
            copied = np.maximum(state.astype(np.int64) - DEFINED, 0)
            origin = np.where(state == UNWRITTEN, number, copied)
            bits = _BIT[: state.shape[1]]
            missing = np.where(state != DEFINED, bits, 0)
            marks = origin.max(axis=1) << _NUMBER | np.add.reduce(missing, axis=1)
        self._set(register.name, lanes, marks)

    def states(self, register: Operand, lanes: Lanes, size: int) -> States:
        """
        Return the states that memory gets when `size` bytes of a register are stored to it, of
        shape (lanes, size).
        """
        marks = self.of(register, lanes)
        missing = marks[:, None] >> np.arange(size) & 1
        return (DEFINED + missing * (marks >> _NUMBER)[:, None]).astype(np.uint8)

    def guard(self, instruction: Instruction) -> Callable[[Lanes], None] | None:
        """
        Return a function that reports an undefined guard of an instruction; None if the guard is
        always defined.
        """
        guard = instruction.predicate
        if not self._followed or guard is None or guard.register.name not in self._followed:
            return None
        return lambda lanes: self._report([guard.register.name], lanes)

    def flow(self, instruction: Instruction) -> Callable[[Lanes], None] | None:
        """
        Return the function to call before an instruction is executed; None if it needs none.

        The function reports undefined operands that matter, and marks undefined results.
        """
        if not self._followed:
            return None
        decides = [name for name in decided(instruction) if name in self._followed]
        results = [name for name in targets(instruction) if name in self._followed]
        if instruction.root == "ld" and may_be_local(instruction):
            results = []
        if not decides and not results:
            return None
        of = _FLOWS.get(instruction.root, _any)
        sources = () if instruction.root == "ld" else instruction.operands[1:]

        def run(lanes: Lanes) -> None:
            if not self._marks:
                return
            self._report(decides, lanes)
            marks = [of(self, instruction, sources, lanes) for _ in results[:1]]
            for name in results:
                self._set(name, lanes, marks[0])

        return run

    def any_of(self, operands: Iterable[Operand], lanes: Lanes) -> Marks:
        """Return the marks of a result: undefined in all bytes where any operand is undefined."""
        marks = self.of(Vector(tuple(operands)), lanes)
        return np.where(marks != 0, marks | _ALL_BYTES, 0)

    def of(self, operand: Operand, lanes: Lanes) -> Marks:
        """Return the marks of an operand; for a vector, the largest of its registers' marks."""
        marks = [self._marks[name] for name in names([operand]) if name in self._marks]
        if not marks:
            return np.zeros(lanes.count, np.int64)
        return np.maximum.reduce([each[lanes.index] for each in marks])

    def holds(self, operand: Operand, lanes: Lanes) -> NDArray[np.bool_]:
        """Return the value of a predicate in the lanes."""
        return self._registers.source(operand, "pred")[lanes.index]

    def _set(self, name: str, lanes: Lanes, marks: Marks) -> None:
        if name not in self._marks:
            if not marks.any():
                return
            self._marks[name] = np.zeros(self._registers.lanes, np.int64)
        self._marks[name][lanes.index] = marks

    def _report(self, names: Iterable[str], lanes: Lanes) -> None:
        for name in names:
            marks = self._marks.get(name)
            if marks is None or not (mine := marks[lanes.index]).any():
                continue
            for number in np.unique(mine[mine != 0] >> _NUMBER).tolist():
                line, text = self._loads[int(number)]
                self._findings.add(Kind.UNINITIALISED, line, text)


def _any(
    undefined: Undefined, instruction: Instruction, sources: Sequence[Operand], lanes: Lanes
) -> Marks:
    return undefined.any_of(sources, lanes)


def _moved(
    undefined: Undefined, instruction: Instruction, sources: Sequence[Operand], lanes: Lanes
) -> Marks:
    if len(sources) == 1 and isinstance(sources[0], Register):
        return undefined.of(sources[0], lanes)
    return undefined.any_of(sources, lanes)


def _selected(
    undefined: Undefined, instruction: Instruction, sources: Sequence[Operand], lanes: Lanes
) -> Marks:
    first, second, predicate = sources
    marks = (undefined.of(each, lanes) for each in (first, second))
    chosen = np.where(undefined.holds(predicate, lanes), *marks)
    return np.maximum(chosen, undefined.any_of([predicate], lanes))


def _combined(
    undefined: Undefined, instruction: Instruction, sources: Sequence[Operand], lanes: Lanes
) -> Marks:
    """
    Return the marks of `and` and `or`.

    For predicates, a defined false decides `and`, and a defined true decides `or`.
    """
    if instruction.type != "pred":
        return undefined.any_of(sources, lanes)
    marks = [undefined.of(each, lanes) for each in sources]
    decisive = instruction.root == "or"
    decided = np.zeros(lanes.count, np.bool_)
    for each, mine in zip(sources, marks, strict=True):
        decided |= (undefined.holds(each, lanes) == decisive) & (mine == 0)
    return np.where(decided, 0, np.maximum(*marks))


_FLOWS: dict[str, Callable[[Undefined, Instruction, Sequence[Operand], Lanes], Marks]] = {
    "mov": _moved,
    "selp": _selected,
    "and": _combined,
    "or": _combined,
}
