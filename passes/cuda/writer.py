# SPDX-License-Identifier: Apache-2.0
"""
Builder of CUDA IR: appends statements to the open block, and each expression together with the
statement that uses it.
"""

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.cuda.expressions import (
    CallOp,
    CastOp,
    ExpressionOp,
    LiteralOp,
    ReadOp,
    SubscriptOp,
)
from tilewright.dialects.cuda.operators import (
    BinaryOp,
    CompareOp,
    NegOp,
    NotOp,
    TernaryOp,
)
from tilewright.dialects.cuda.statements import LetOp, StatementOp
from tilewright.dialects.cuda.types import STORED, VariableType
from tilewright.dialects.kernel import FuncOp
from tilewright.dialects.origin import place_of
from tilewright.errors import UnsupportedError
from tilewright.passes.rewriting.appending import Appending

MAX_INLINE = 60
"""Most columns that an expression takes within a line; a longer one is given a name."""


class Writer(Appending):
    """Builder that appends to the open block and maps values of the source to CUDA IR."""

    def __init__(self, block: Block, kernel: FuncOp, index_type: IntegerType):
        super().__init__(block)
        self.kernel, self.index_type = kernel, index_type
        self.values: dict[SSAValue, SSAValue] = {}
        """Name, variable or pending expression of each source value."""
        self.indices: dict[SSAValue, SSAValue] = {}
        """
        Named index of each integer that an `index` becomes (`loop.index`): each use casts the index
        to the integer's type.
        """
        self.constants: dict[SSAValue, IntegerAttr | FloatAttr] = {}
        """Source values that are written as literals at each use, with the literals' values."""
        self.literals: dict[IntegerAttr | FloatAttr, LiteralOp] = {}
        """Literals in use, one op for each; they are placed at the top of the kernel."""

    def type(self, type: Attribute) -> Attribute:
        """Return the C++ type of a value; raise `UnsupportedError` if there is none."""
        if isinstance(type, IndexType):
            return self.index_type
        if type not in STORED:
            raise self.unsupported(f"values of type {type}")
        return type

    def unsupported(self, what: str) -> UnsupportedError:
        """
        Return the error "CUDA IR has no form for `what`", placed at the op that is being converted,
        or else at the kernel.
        """
        op = self.source or self.kernel
        return cannot_lower(self.kernel, op, f"CUDA IR has no form for {what}")

    def use(self, value: SSAValue) -> SSAValue:
        """
        Return the expression for one use of the source value `value`: a literal, a cast of an
        index, a read of a variable, or its name.
        """
        if (constant := self.constants.get(value)) is not None:
            return self.literal(constant)
        if (index := self.indices.get(value)) is not None:
            return CastOp(index, value.type).result
        new = self.values[value]
        return ReadOp(new).result if isinstance(new.type, VariableType) else new

    def index(self, value: int) -> SSAValue:
        """Return an integer literal of the index type."""
        return self.literal(_integer(value, self.index_type))

    def zero(self, type: Attribute) -> SSAValue:
        """Return the literal 0 of a type."""
        if isinstance(type, AnyFloat):
            return self.literal(FloatAttr(0.0, type))
        assert isa(type, IntegerType)
        return self.literal(_integer(0, type))

    def literal(self, value: IntegerAttr | FloatAttr) -> SSAValue:
        """Return the literal for `value`; all its uses share one op."""
        if (known := self.literals.get(value)) is None:
            known = self.literals[value] = LiteralOp(value)
        return known.result

    def statement(self, op: StatementOp) -> StatementOp:
        """Append a statement and the expressions in it."""
        for operand in op.operands:
            self._place(operand)
        op.location = self.location
        self.block.add_op(op)
        return op

    def _place(self, value: SSAValue) -> None:
        expression = value.owner
        is_expression = isinstance(expression, ExpressionOp)
        if expression.parent is not None or not is_expression or isinstance(expression, LiteralOp):
            return
        for operand in expression.operands:
            self._place(operand)
        self.block.add_op(expression)

    def let(self, value: SSAValue, hint: str | None = None) -> SSAValue:
        """Define a name for `value` by a statement and return the name."""
        op = LetOp(value, hint)
        self.statement(op)
        return op.result

    def bind(self, source: SSAValue, value: SSAValue) -> None:
        """Map `source` to `value`; `value` gets a name unless it can be written in place."""
        if is_pending(value) and not stays_inline(source, value):
            value = self.let(value, source.name_hint)
        self.values[source] = value

    def name_if_long(self, value: SSAValue, beside: SSAValue, hint: str) -> SSAValue:
        """Return `value`, or a name for it if it is too long to share a line with `beside`."""
        is_long = columns(value) + columns(beside) > MAX_INLINE
        return self.let(value, hint) if is_pending(value) and is_long else value

    def name_if_longer(self, value: SSAValue, most: int, hint: str) -> SSAValue:
        """Return `value`, or a name for it if it takes more columns than `most`."""
        return self.let(value, hint) if is_pending(value) and columns(value) > most else value

    def fitting(self, values: Sequence[SSAValue], hints: Sequence[str]) -> list[SSAValue]:
        """Return `values`, with names for the longest of them, so that all fit on one line."""
        fitted = [*values]
        while sum(map(columns, fitted)) > MAX_INLINE:
            longest = max(range(len(fitted)), key=lambda n: columns(fitted[n]))
            if not is_pending(fitted[longest]):
                break
            fitted[longest] = self.let(fitted[longest], hints[longest])
        return fitted


@lru_cache(maxsize=1 << 10)  # strides and extents repeat often
def _integer(value: int, type: IntegerType) -> IntegerAttr:
    return IntegerAttr(value, type)


def is_pending(value: SSAValue) -> bool:
    """True if `value` has no name: it is a literal, or an expression that no statement uses yet."""
    owner = value.owner
    return owner.parent is None and isinstance(owner, ExpressionOp)


def stays_inline(source: SSAValue, value: SSAValue) -> bool:
    """
    True if `value` can be written where `source` is used. It must be used once, in the block that
    defines it, and be short or yielded. An index in a subscript always gets a name, because one
    subscript may use it several times.
    """
    if (use := source.get_user_of_unique_use()) is None or use.parent is not block_of(source):
        return False
    if isinstance(use, scf.YieldOp):  # the assigned variable is a name already
        return True
    is_subscript = isinstance(source.type, IndexType) and use.dialect_name() != "arith"
    return not is_subscript and columns(value) <= MAX_INLINE


def block_of(value: SSAValue) -> Block | None:
    """Return the block that defines `value`."""
    return value.owner if isinstance(value.owner, Block) else value.owner.parent


# Columns that an operator, with its blanks and brackets, adds to its operands.
_OPERATOR_COLUMNS: dict[type[Operation], int] = {
    BinaryOp: 3,
    CompareOp: 3,
    TernaryOp: 6,
    NegOp: 1,
    NotOp: 1,
    CastOp: 8,
    SubscriptOp: 2,
    ReadOp: 0,
}


def columns(value: SSAValue) -> int:
    """Return the approximate number of columns that `value` takes where it is used."""
    op = value.owner
    if op.parent is not None or not isinstance(op, ExpressionOp):
        return len(value.name_hint or "v") + 1
    if isinstance(op, LiteralOp):
        return _digits(op.value)
    own = _OPERATOR_COLUMNS.get(type(op), 0)
    if isinstance(op, CallOp):
        own = len(op.callee.string_value()) + 2 * len(op.arguments)
    return own + sum([columns(operand) for operand in op.operands])


@lru_cache(maxsize=1 << 10)
def _digits(value: IntegerAttr | FloatAttr) -> int:
    return len(f"{value.value.data:g}")


def cannot_lower(kernel: FuncOp, op: Operation, reason: str) -> UnsupportedError:
    """Return the error for an op of a kernel, at its place, to be raised."""
    return UnsupportedError(f"cannot lower @{kernel.sym_name.data}: {reason}", where=place_of(op))
