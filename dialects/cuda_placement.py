# SPDX-License-Identifier: Apache-2.0
"""
Where expressions may stand: each is printed inside the statement that uses it, so it must be used
at most once, in its own block, and before anything changes what it reads.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_expressions import ExpressionOp
from tilewright.dialects.cuda_statements import ForOp, StatementOp
from tilewright.dialects.cuda_types import ArrayType, VariableType


def verify_placement(block: Block) -> None:
    """Raise `VerifyException` at the first expression in `block`, or below, that is misplaced."""
    changes, made_at = _Changes(), dict[Operation, int]()
    for position, op in enumerate(block.ops):
        if isinstance(op, ExpressionOp):
            _verify_uses(op)
            made_at[op] = position
            continue
        if not isinstance(op, StatementOp):
            raise VerifyException(f"'{op.name}' is no CUDA statement")
        _verify_operands(op, changes, made_at)
        changes.note(op, position)
        for region in op.regions:
            verify_placement(region.block)


def _verify_uses(op: ExpressionOp) -> None:
    uses = list(op.results[0].uses)
    if len(uses) > 1:
        raise VerifyException(f"'{op.name}' is used {len(uses)} times; name it with cuda.let")
    if uses and uses[0].operation.parent is not op.parent:
        raise VerifyException(f"'{op.name}' is used in another block; name it with cuda.let")


_AFTER_THE_BODY = sys.maxsize


@dataclass
class _Changes:
    """Where in a block the content of variables and memory last changed."""

    positions: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    memory: int = -1

    def note(self, op: StatementOp, position: int) -> None:
        """`op`, or a statement in its bodies, changes something at `position`."""
        for inner in op.walk():
            if not isinstance(inner, StatementOp):
                continue
            if inner.writes_all_memory():
                self.memory = position
            for written in inner.writes():
                self.positions[written] = position

    def since(self, source: SSAValue, position: int) -> bool:
        """Whether `source` has changed after `position`."""
        is_own = isinstance(source.type, VariableType | ArrayType)
        memory = -1 if is_own else self.memory
        return max(self.positions.get(source, -1), memory) > position


def _verify_operands(op: StatementOp, changes: _Changes, made_at: dict[Operation, int]) -> None:
    if isinstance(op, ForOp):
        # The bound is evaluated again after every step.
        changes = _Changes(dict(changes.positions), changes.memory)
        changes.note(op, _AFTER_THE_BODY)
    for expression in expressions_of(op):
        source = expression.reads()
        if source is not None and changes.since(source, made_at[expression]):
            raise VerifyException(
                f"what '{expression.name}' reads changes before '{op.name}' uses it; "
                "name it with cuda.let"
            )


def expressions_of(op: Operation) -> Iterator[ExpressionOp]:
    """Every expression that is printed inside the statement `op`, without its bodies."""
    for operand in op.operands:
        if isinstance(operand.owner, ExpressionOp):
            yield operand.owner
            yield from expressions_of(operand.owner)
