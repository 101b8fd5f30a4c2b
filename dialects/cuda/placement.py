# SPDX-License-Identifier: Apache-2.0
"""
Verification of where expressions are used, because each is printed inside the statement that uses
it.

An expression must be used at most once, in its own block, and before anything changes what it
reads. Literals are exempt: they are printed at each use.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.expressions import ExpressionOp, LiteralOp
from tilewright.dialects.cuda.statements import ForOp, StatementOp
from tilewright.dialects.cuda.types import ArrayType, VariableType


def verify_placement(block: Block) -> None:
    """Raise `VerifyException` for the first misplaced expression in `block` or in nested blocks."""
    _verify_block(block)


def _verify_block(block: Block) -> "_Changes":
    """
    Verify `block` and its nested blocks; return the variables and memory that its statements
    change.
    """
    changes, pending_reads = _Changes(), dict[Operation, _Read]()
    for position, op in enumerate(block.ops):
        if isinstance(op, LiteralOp):
            continue
        if isinstance(op, ExpressionOp):
            _verify_uses(op)
            if (source := op.reads()) is not None:
                pending_reads[op] = _Read(source, position)
            continue
        if not isinstance(op, StatementOp):
            raise VerifyException(f"'{op.name}' is not a CUDA statement")
        inside = [_verify_block(region.block) for region in op.regions]
        if pending_reads:
            _verify_operands(op, changes, inside, pending_reads)
        changes.note(op, position)
        for made in inside:
            changes.note_all(made, position)
    return changes


class _Read(NamedTuple):
    """A read of memory by an expression that no statement has used yet."""

    source: SSAValue
    position: int
    """Position of the expression in its block."""


def _verify_uses(op: ExpressionOp) -> None:
    result = op.results[0]
    if (first := result.first_use) is None:
        return
    if result.has_more_than_one_use():
        times = result.uses.get_length()
        raise VerifyException(f"'{op.name}' is used {times} times; name it with cuda.let")
    if first.operation.parent is not op.parent:
        raise VerifyException(f"'{op.name}' is used in another block; name it with cuda.let")


_AFTER_THE_BODY = sys.maxsize


@dataclass
class _Changes:
    """Positions in a block at which variables and memory were last changed."""

    positions: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    memory: int = -1

    def note(self, op: StatementOp, position: int) -> None:
        """Record that `op` itself changes variables or memory at `position`."""
        if op.writes_all_memory():
            self.memory = position
        for written in op.writes():
            self.positions[written] = position

    def note_all(self, others: "_Changes", position: int) -> None:
        """Record that everything in `others` changes at `position`."""
        if others.memory >= 0:
            self.memory = position
        self.positions.update(dict.fromkeys(others.positions, position))

    def since(self, source: SSAValue, position: int) -> bool:
        """True if the contents of `source` changed after `position`."""
        is_own = isinstance(source.type, VariableType | ArrayType)
        memory = -1 if is_own else self.memory
        return max(self.positions.get(source, -1), memory) > position


def _verify_operands(
    op: StatementOp, before: _Changes, inside: list[_Changes], pending_reads: dict[Operation, _Read]
) -> None:
    changes = before
    if isinstance(op, ForOp):
        # The upper bound is evaluated again after every step.
        changes = _Changes(dict(before.positions), before.memory)
        for made in inside:
            changes.note_all(made, _AFTER_THE_BODY)
    for expression in expressions_of(op):
        read = pending_reads.pop(expression, None)
        if read is not None and changes.since(*read):
            raise VerifyException(
                f"the value that '{expression.name}' reads changes before '{op.name}' uses it; "
                "name it with cuda.let"
            )


def expressions_of(op: Operation) -> Iterator[ExpressionOp]:
    """Yield every expression that is printed inside the statement `op`, without its bodies."""
    pending = [*reversed(op.operands)]
    while pending:
        if isinstance(owner := pending.pop().owner, ExpressionOp):
            yield owner
            pending.extend(reversed(owner.operands))
