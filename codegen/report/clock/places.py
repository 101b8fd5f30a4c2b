# SPDX-License-Identifier: Apache-2.0
"""
Costs of each instruction of a kernel: the pipe that it occupies, and the result it waits for.

| instruction           | pipe                             | result after                    |
|-----------------------|----------------------------------|---------------------------------|
| FFMA, FADD, FMUL      | float32                          | stall count                     |
| IMAD                  | half of float32                  | stall count                     |
| IADD3, LOP3, FSETP    | integer                          | stall count                     |
| MUFU, I2F, F2I        | special functions                | scoreboard                      |
| HMMA                  | tensor cores                     | scoreboard or stall count       |
| LDS, LDSM, STS, SHFL  | memory queue, then shared memory | scoreboard, after wavefronts    |
| LDG, STG, LDGSTS, TMA | memory queue, then memory        | scoreboard, group, or mbarrier  |
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from xdsl.utils.str_enum import StrEnum

from tilewright.codegen.report.clock.machine import Machine, Pipe
from tilewright.codegen.report.control_code import ControlCode
from tilewright.codegen.report.instruction import Category, Code, Instruction
from tilewright.dialects.target import WARP_SIZE, Target
from tilewright.passes.cost.global_sectors import SECTOR_BYTES


class Action(StrEnum):
    """Effect of an instruction on the state of its block, beside its pipe."""

    NONE = "none"
    CONSTANT = "constant"
    SPECIAL = "special"
    TENSOR = "tensor"
    GROUP = "group"
    """`wgmma`, which a later instruction waits for"""
    SHARED = "shared"
    SHUFFLE = "shuffle"
    REMOTE = "remote"
    """load from another block's shared memory, or from an unknown space"""
    LOAD = "load"
    STORE = "store"
    COPY = "copy"
    """`cp.async`"""
    COMMIT = "commit"
    WAIT_COPIES = "wait for copies"
    WAIT_GROUPS = "wait for groups"
    BOX = "box"
    """copy of a box by the tensor memory accelerator (TMA)"""
    EXPECT = "expect"
    """arrival that opens a group of TMA copies"""
    WAIT_FULL = "wait for a filled slot"
    WAIT_EMPTY = "wait for a free slot"
    RELEASE = "release a slot"
    BARRIER = "barrier"
    CLUSTER = "cluster barrier"
    FENCE = "fence"
    """fence of the whole GPU: a round trip to L2"""


_SPECIAL_ROOTS = {"MUFU", "I2F", "F2I", "FRND", "F2F", "POPC", "FLO", "BREV"}
_PIPES = {
    Category.FFMA: Pipe.FMA,
    Category.HALF: Pipe.FMA,
    Category.DOUBLE: Pipe.DOUBLE,
    Category.HMMA: Pipe.TENSOR,
    Category.MATRIX: Pipe.TENSOR,
    Category.INTEGER: Pipe.ALU,
    Category.CONVERT: Pipe.ALU,
    Category.FLOAT: Pipe.ALU,
}
_ACTIONS = {
    Category.LDG: Action.LOAD,
    Category.LDL: Action.SHARED,
    Category.STL: Action.SHARED,
    Category.STG: Action.STORE,
    Category.ATOMIC: Action.LOAD,
    Category.LDS: Action.SHARED,
    Category.LDSM: Action.SHARED,
    Category.STS: Action.SHARED,
    Category.LDGSTS: Action.COPY,
    Category.TMA: Action.BOX,
    Category.SHUFFLE: Action.SHUFFLE,
    Category.CONSTANT: Action.CONSTANT,
    Category.HMMA: Action.TENSOR,
}
_OPCODES = (
    (r"LDGDEPBAR.*", Action.COMMIT),
    (r"DEPBAR.*", Action.WAIT_COPIES),
    (r"WARPGROUP\.DEPBAR.*", Action.WAIT_GROUPS),
    (r"HGMMA.*", Action.GROUP),
    (r"LD\..*", Action.REMOTE),
    (r"BAR\.SYNC.*|BAR\.RED.*", Action.BARRIER),
    (r"UCGABAR_WAIT.*", Action.CLUSTER),
    (r"MEMBAR\..*GPU", Action.FENCE),
)
_MEMORY_ACTIONS = frozenset(
    {
        Action.LOAD,
        Action.STORE,
        Action.COPY,
        Action.BOX,
        Action.REMOTE,
        Action.SHARED,
        Action.SHUFFLE,
        Action.CONSTANT,
    }
)
_SHARED_CATEGORIES = (Category.LDS, Category.STS)
_COUNT = re.compile(r".*?(0x[0-9a-f]+|\b\d+)\s*$")
_SOURCES = re.compile(r"\bR(\d+)\b")
_LINE_BYTES = 128


@dataclass(frozen=True)
class Place:
    """Costs of one instruction."""

    pipe: Pipe
    clocks: float
    """Clocks for which the instruction occupies its pipe."""
    action: Action
    control: ControlCode
    line: int
    amount: float = 0
    """
    Wavefronts of shared memory, bytes of global memory, or the number of groups that may be
    pending, by `action`.
    """
    wavefronts: float = 0
    """Clocks for which a memory instruction occupies the SM's path to shared memory and L1."""


def places_of(code: Code, target: Target, machine: Machine, box_bytes: float) -> list[Place]:
    """
    Return the costs of each instruction of SASS, without bank conflicts of shared memory. A TMA
    copy moves `box_bytes`.
    """
    before = (None, *code.instructions)
    return [
        _place(instruction, last, target, machine, box_bytes)
        for instruction, last in zip(code.instructions, before, strict=False)
    ]


def _place(
    instruction: Instruction,
    before: Instruction | None,
    target: Target,
    machine: Machine,
    box_bytes: float,
) -> Place:
    action = _action(instruction.opcode, instruction.category)
    pipe = Pipe.MEMORY if action in _MEMORY_ACTIONS else _pipe(instruction)
    clocks = _clocks(instruction, pipe, target, machine)
    clocks += machine.second_read * _second_reads(instruction, before)
    each = WARP_SIZE * instruction.bits / 8
    wavefronts = max(1.0, each / _LINE_BYTES) if pipe is Pipe.MEMORY else 0.0
    amount = {Action.BOX: box_bytes, Action.SHARED: wavefronts}.get(action, each)
    if instruction.category is Category.ATOMIC:
        amount = SECTOR_BYTES
    if action in (Action.WAIT_COPIES, Action.WAIT_GROUPS):
        pending = _COUNT.match(instruction.operands)
        amount = int(pending[1], 0) if pending else 0
    if action is Action.CONSTANT:
        wavefronts = 0
    control = instruction.control or ControlCode(instruction.clocks)
    return Place(pipe, clocks, action, control, instruction.line, amount, wavefronts)


@lru_cache(maxsize=1 << 10)
def _action(opcode: str, category: Category) -> Action:
    if opcode.startswith("SYNCS"):
        return _mbarrier_action(opcode)
    for pattern, action in _OPCODES:
        if re.fullmatch(pattern, opcode):
            return action
    if opcode.partition(".")[0] in _SPECIAL_ROOTS:
        return Action.SPECIAL
    if category is Category.SHUFFLE and not opcode.startswith("SHFL"):
        return Action.NONE  # votes
    return _ACTIONS.get(category, Action.NONE)


def _mbarrier_action(opcode: str) -> Action:
    """Return the effect of an operation on an mbarrier; `route.py` finds waits for free slots."""
    if "TRYWAIT" in opcode:
        return Action.WAIT_FULL
    if "A1T0" in opcode:
        return Action.RELEASE
    return Action.EXPECT if "ARRIVE" in opcode else Action.NONE


def _pipe(instruction: Instruction) -> Pipe:
    root = instruction.opcode.partition(".")[0]
    if root in _SPECIAL_ROOTS:
        return Pipe.SPECIAL
    if root.startswith(("FADD", "FMUL", "IMAD", "FSWZ")):
        return Pipe.FMA
    if root.startswith("WARPGROUP"):
        return Pipe.CONTROL
    return _PIPES.get(instruction.category, Pipe.CONTROL)


def _clocks(instruction: Instruction, pipe: Pipe, target: Target, machine: Machine) -> float:
    """Return the clocks for which an instruction occupies its pipe, without bank conflicts."""
    if instruction.matrix is not None:
        by_group = instruction.matrix.warps > 1
        each = target.peak_mma_clocks if by_group else target.mma_clocks
        return instruction.matrix.mma_count * each
    if pipe is Pipe.FMA and instruction.opcode.startswith("IMAD"):
        return machine.fma_integer
    return {
        Pipe.FMA: machine.fma,
        Pipe.ALU: machine.alu,
        Pipe.DOUBLE: machine.double,
        Pipe.SPECIAL: machine.special,
        Pipe.MEMORY: machine.queue_clocks,
    }.get(pipe, 1.0)


def _second_reads(instruction: Instruction, before: Instruction | None) -> int:
    """
    Return the registers that a float32 multiply-add reads from the fuller of two banks (of even and
    odd numbers), beyond the first. Registers that the instruction before has left in the operand
    cache are not read.
    """
    if instruction.category is not Category.FFMA:
        return 0
    kept: set[tuple[int, str]] = set()
    if before is not None and before.category is Category.FFMA and before.control is not None:
        reuse = before.control.reuse
        others = enumerate(_SOURCES.findall(before.operands)[1:4])
        kept = {(slot, name) for slot, name in others if reuse >> slot & 1}
    sources = enumerate(_SOURCES.findall(instruction.operands)[1:4])
    read = {int(name) for slot, name in sources if (slot, name) not in kept}
    odd = sum(register % 2 for register in read)
    return max(0, odd - 1, len(read) - odd - 1)
