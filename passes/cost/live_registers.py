# SPDX-License-Identifier: Apache-2.0
"""
Registers that a thread needs, estimated from the live ranges of values.

A value lives from its definition to its last use; a use inside a loop extends it to the loop's end.
Arithmetic with one use is assumed to be computed at its use, as the compiler schedules it. The
estimate is the largest number of 32-bit values that live at once, plus an allowance for values that
the IR does not name: addresses, loop bounds, temporaries. NVRTC may need fewer registers, because
it recomputes cheap values, or more, because it hoists loads. Only its own report is exact.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_within
from tilewright.dialects.kernel.copy import CopyOp
from tilewright.dialects.kernel.matrix import LoadMatrixOp, MatrixMultiplyOp
from tilewright.dialects.kernel.registers import RegistersOp, UnrollOp
from tilewright.dialects.matrix_instruction import REGISTER_BYTES
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cost.instruction_costs import is_computation
from tilewright.passes.cost.matrix_work import matrix_work
from tilewright.passes.facts.nest import softmax_around, whole_of
from tilewright.passes.facts.weighted_values import total_of

ALLOWANCE = 16
"""Registers for values that the IR does not name."""

NVRTC_EXTRA_REGISTERS = 28
"""Registers that NVRTC needs in kernels with register tiles, in addition to the estimate."""


_EXTRA_OF_MATRICES = 22
"""Registers that NVRTC needs in addition to the sums and fragments of matrix instructions."""


def estimated_registers(body: Block, copies: Callable[[SSAValue], int]) -> int:
    """
    Return the registers of a thread that runs `body`. `copies(value)` is the number of copies of a
    value that a thread holds: the steps of the register axes it depends on, and 0 for these axes
    themselves.
    """
    return ALLOWANCE + _Pressure(copies).of_block(body)


class _Pressure:
    def __init__(self, copies: Callable[[SSAValue], int]):
        self._copies = copies
        self._registers: dict[SSAValue, int] = {}
        self._operands: dict[Operation, Sequence[SSAValue]] = {}

    def of_block(self, block: Block) -> int:
        """Return the most registers that values of `block` and of its loops take at once."""
        ops = list(block.ops)
        done = _positions_computed(ops)
        last_use = self._last_uses(ops, done)
        ended = defaultdict[int, int](int)
        """Registers of the values whose live range ends at a position."""
        live = most = self._begin_lives(block.args, last_use, ended)
        for position, op in enumerate(ops):
            most = max(most, live + self._inside(op))
            if isinstance(op, tile.CombineOp):
                live -= ended.pop(position, 0)
            if done[position] == position:
                live += self._begin_lives(op.results, last_use, ended)
            most = max(most, live)
            live -= ended[position]
        return most

    def _begin_lives(
        self,
        values: Sequence[SSAValue],
        last_use: Mapping[SSAValue, int],
        ended: defaultdict[int, int],
    ) -> int:
        """
        Return the total registers of the `values` that have uses. Add the registers of each to
        `ended`, at the position of its last use.
        """
        begun = [(last_use[value], self._of_value(value)) for value in values if value in last_use]
        for last, registers in begun:
            ended[last] += registers
        return sum(registers for _, registers in begun)

    def _inside(self, op: Operation) -> int:
        """
        Return the most registers that a body inside `op` takes at once, plus those of the values
        that a loop accumulates. Reductions by matrix instructions hold whole fragments.
        """
        if not op.regions:
            return 0
        held: set[SSAValue] = set()
        if isinstance(op, loop.ReduceOp):
            held.update(op.results)
            matrix = matrix_work(op, self._copies) if op.instruction is not None else None
            if matrix is not None:
                return self._size(held) + matrix.registers + _EXTRA_OF_MATRICES
        if isinstance(op, loop.ScanOp):
            held.update(result for prefix in op.prefixes for result in prefix.results)
        inside = max(self.of_block(region.block) for region in op.regions if region.blocks)
        return self._size(held) + inside

    def _last_uses(self, ops: Sequence[Operation], done: Sequence[int]) -> dict[SSAValue, int]:
        """Return the position of each value's last use: that at which its last user is computed."""
        last: dict[SSAValue, int] = {}
        for position, op in zip(done, ops, strict=True):
            for operand in self._operands_in(op):
                if last.get(operand, 0) <= position:
                    last[operand] = position
        return last

    def _operands_in(self, op: Operation) -> Sequence[SSAValue]:
        """Return the operands of `op` and of all ops in it."""
        if not op.regions:
            return op.operands
        if op not in self._operands:
            inside = (each for inner in ops_within(op) for each in self._operands_in(inner))
            self._operands[op] = [*op.operands, *inside]
        return self._operands[op]

    def _size(self, values: set[SSAValue]) -> int:
        return sum(map(self._of_value, values))

    def _of_value(self, value: SSAValue) -> int:
        """Return the registers of all copies of a value that a thread holds."""
        if value not in self._registers:
            self._registers[value] = self._copies(value) * registers_of(value)
        return self._registers[value]


def _positions_computed(ops: Sequence[Operation]) -> list[int]:
    """
    Return the position at which each op is computed. Arithmetic and indices with one use are
    computed at the position of their user, other ops at their own.
    """
    positions = {op: position for position, op in enumerate(ops)}
    done = list(range(len(ops)))
    for position in reversed(range(len(ops))):
        if (user := _only_user(ops[position])) is not None and user in positions:
            done[position] = done[positions[user]]
    return done


def _only_user(op: Operation) -> Operation | None:
    if len(op.results) != 1 or not _is_computed_at_use(op):
        return None
    return op.results[0].get_user_of_unique_use()


def _is_computed_at_use(op: Operation) -> bool:
    return is_computation(op) or isinstance(op, loop.IndexOp | loop.PredicateOp)


def registers_of(value: SSAValue) -> int:
    """
    Return the 32-bit registers of one copy of a value.

    Some values count 0: constants (part of instructions), kernel arguments (in the constant bank),
    1-bit values, and counters of unrolled loops. A value read from a register array counts 0,
    because the array is counted. The chunk of a reduction counts 0, because it shares the registers
    of the whole reduction. So does what a step adds to a sum of softmax. Arrays of vectors or
    matrices have two 16-bit elements in each register.
    """
    owner = value.owner
    if isinstance(owner, loop.ReduceOp) and _joins_into_another(owner):
        return 0
    if isinstance(owner, RegistersOp):
        array = memref_type(value)
        elements = prod(array.get_shape())
        if any(
            isinstance(use.operation, LoadMatrixOp | MatrixMultiplyOp | CopyOp)
            for use in value.uses
        ):
            return -(-elements * size_of(array.element_type) // REGISTER_BYTES)
        return elements * _of_scalar(array.element_type)
    if isinstance(value.type, MemRefType) or isinstance(owner, arith.ConstantOp):
        return 0
    if isinstance(owner, loop.LoadOp) and isinstance(owner.memref.owner, RegistersOp):
        return 0
    if isinstance(owner, Block) and isinstance(owner.parent_op(), UnrollOp):
        return 0
    return _of_scalar(value.type)


def _joins_into_another(op: loop.ReduceOp) -> bool:
    """True if the results of `op` are kept in the registers of another reduction's results."""
    if whole_of(op) is not None:
        return True
    return softmax_around(op) is not None and total_of(op) is not None


def _of_scalar(type: Attribute) -> int:
    if isinstance(type, FixedBitwidthType):
        return 0 if type.bitwidth == 1 else -(-type.bitwidth // 32)
    return 1
