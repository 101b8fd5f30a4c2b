# SPDX-License-Identifier: Apache-2.0
"""
Printer of CUDA IR expressions as C++ text.

Parentheses are printed where C++ needs them, and around the operands of bitwise operators.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tilewright.codegen.c_types import C_TYPES
from tilewright.codegen.literals import literal
from tilewright.dialects.cuda import expressions as expr
from tilewright.dialects.cuda import operators as operators
from tilewright.dialects.cuda.copies import AddressOp
from tilewright.dialects.cuda.identifiers import RESERVED, identifier
from tilewright.dialects.cuda.types import BinaryOperator, Builtin, Comparison


class ScopedNames:
    """
    Names that are unique among the visible ones: `acc`, then `acc1`, `acc2`, ...

    A name is free again after its scope, so that two loops may both count with `k`.
    """

    def __init__(self) -> None:
        self._of: dict[SSAValue, str] = {}
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}
        # For each open scope, its names with their stems, and the stems' counters before them.
        self._scopes: list[list[tuple[str, str, int]]] = [[]]

    def __getitem__(self, value: SSAValue) -> str:
        return self._of[value]

    def declare(self, value: SSAValue) -> str:
        """Choose a name for `value`, valid to the end of the current scope, and return it."""
        stem = identifier(value.name_hint or "v")
        first = count = self._next.get(stem, 0)
        while (name := _numbered(stem, count)) in self._taken or name in RESERVED:
            count += 1
        self._next[stem] = count + 1
        self._taken.add(name)
        self._scopes[-1].append((name, stem, first))
        self._of[value] = name
        return name

    @contextmanager
    def scope(self) -> Generator[None]:
        """Open a scope; names declared inside the `with` are free again after it."""
        self._scopes.append([])
        yield
        for name, stem, count in reversed(self._scopes.pop()):
            self._taken.remove(name)
            self._next[stem] = count


def _numbered(stem: str, count: int) -> str:
    if count == 0:
        return stem
    separator = "_" if stem[-1].isdigit() else ""
    return f"{stem}{separator}{count}"


# Precedence levels of operators, as in C++. An operand needs parentheses unless it binds tighter.
_TERNARY, _OR, _AND, _BIT_OR, _BIT_XOR, _BIT_AND = range(6)
_EQUALITY, _RELATION, _SUM, _PRODUCT, _PREFIX, _POSTFIX = range(6, 12)

_BINARY = {
    BinaryOperator.ADD: ("+", _SUM),
    BinaryOperator.SUB: ("-", _SUM),
    BinaryOperator.MUL: ("*", _PRODUCT),
    BinaryOperator.DIV: ("/", _PRODUCT),
    BinaryOperator.REM: ("%", _PRODUCT),
    BinaryOperator.AND: ("&&", _AND),
    BinaryOperator.OR: ("||", _OR),
    BinaryOperator.BIT_AND: ("&", _BIT_AND),
    BinaryOperator.BIT_OR: ("|", _BIT_OR),
    BinaryOperator.BIT_XOR: ("^", _BIT_XOR),
}

_BITWISE = (_BIT_OR, _BIT_XOR, _BIT_AND)
"""
Precedences of bitwise operators. They surprise readers, so operands of these operators get
parentheses.
"""

_COMPARISON = {
    Comparison.LT: ("<", _RELATION),
    Comparison.LE: ("<=", _RELATION),
    Comparison.GT: (">", _RELATION),
    Comparison.GE: (">=", _RELATION),
    Comparison.EQ: ("==", _EQUALITY),
    Comparison.NE: ("!=", _EQUALITY),
}

_BUILTIN = {Builtin.BLOCK: "blockIdx.x", Builtin.THREAD: "threadIdx.x"}


class Text(NamedTuple):
    """Text of an expression, and the precedence of its outermost operator."""

    text: str
    binding: int

    def within(self, binding: int) -> str:
        """
        Return the text as an operand at precedence `binding`, in parentheses unless it binds
        tighter.
        """
        return self.text if self.binding > binding else f"({self.text})"


class Expressions:
    """Printer of expressions, in which values without an expression of their own appear by name."""

    def __init__(self, names: ScopedNames):
        self.names = names

    def text(self, value: SSAValue) -> str:
        """Return the text of `value` as a whole expression, without outer parentheses."""
        return self.expression(value).text

    def expression(self, value: SSAValue) -> Text:
        """
        Return the text of the expression that defines `value`. If no expression defines it, return
        its name.
        """
        owner = value.owner
        if (write := EXPRESSIONS.get(type(owner))) is not None:
            return write(self, owner)
        return Text(self.names[value], _POSTFIX)

    def bound(self, value: SSAValue) -> str:
        """Return the text of `value` as the right operand of a comparison, as in `k < a + b`."""
        return self.expression(value).within(_RELATION)

    def literal(self, op: expr.LiteralOp) -> Text:
        text = literal(op.value)
        return Text(text, _PREFIX if text.startswith("-") else _POSTFIX)

    def builtin(self, op: expr.BuiltinOp) -> Text:
        return Text(_BUILTIN[op.variable.data], _POSTFIX)

    def binary(self, op: operators.BinaryOp) -> Text:
        symbol, binding = _BINARY[op.operator.data]
        lhs = self.expression(op.lhs)
        if binding in _BITWISE:
            rhs = self.expression(op.rhs)
            return Text(f"{lhs.within(_PRODUCT)} {symbol} {rhs.within(_PRODUCT)}", binding)
        # `a && b || c` needs no parentheses, but compilers warn without them.
        is_mixed = binding == _OR and lhs.binding == _AND
        left = f"({lhs.text})" if is_mixed else lhs.within(binding - 1)
        return Text(f"{left} {symbol} {self._right(op.rhs, binding)}", binding)

    def comparison(self, op: operators.CompareOp) -> Text:
        symbol, binding = _COMPARISON[op.comparison.data]
        left, right = self.expression(op.lhs), self.expression(op.rhs)
        return Text(f"{left.within(_RELATION)} {symbol} {right.within(_RELATION)}", binding)

    def _right(self, value: SSAValue, binding: int) -> str:
        """
        Return the text of an operator's right operand, in parentheses where needed: `a - (b - c)`,
        `a - (-b)`.
        """
        operand = self.expression(value)
        is_signed = operand.text.startswith("-")
        is_mixed = binding == _OR and operand.binding == _AND
        return f"({operand.text})" if is_signed or is_mixed else operand.within(binding)

    def negated(self, op: operators.NegOp) -> Text:
        return self._prefixed("-", op.value)

    def inverted(self, op: operators.NotOp) -> Text:
        return self._prefixed("!", op.value)

    def cast(self, op: expr.CastOp) -> Text:
        return self._prefixed(f"({C_TYPES[op.result.type]})", op.value)

    def _prefixed(self, operator: str, value: SSAValue) -> Text:
        return Text(f"{operator}{self.expression(value).within(_PREFIX)}", _PREFIX)

    def call(self, op: expr.CallOp) -> Text:
        arguments = ", ".join(self.text(a) for a in op.arguments)
        return Text(f"{op.callee.string_value()}({arguments})", _POSTFIX)

    def ternary(self, op: operators.TernaryOp) -> Text:
        condition = self.expression(op.condition).within(_TERNARY)
        then_text = self.expression(op.then_value).within(_TERNARY)
        else_text = self.expression(op.else_value).within(_TERNARY)
        return Text(f"{condition} ? {then_text} : {else_text}", _TERNARY)

    def subscript(self, op: expr.SubscriptOp) -> Text:
        return Text(self.element(op.pointer, op.indices), _POSTFIX)

    def address(self, op: AddressOp) -> Text:
        if not isinstance(op.pointer.owner, AddressOp):
            return Text(f"&{self.element(op.pointer, op.indices)}", _PREFIX)
        (index,) = op.indices
        return Text(f"{self.text(op.pointer)} + {self.expression(index).within(_SUM)}", _SUM)

    def element(self, pointer: SSAValue, indices: Sequence[SSAValue]) -> str:
        """Return the text of an element in memory: `p[i]`, `a[i][j]`."""
        subscripts = "".join(f"[{self.text(index)}]" for index in indices)
        return f"{self.expression(pointer).within(_PREFIX)}{subscripts}"

    def read(self, op: expr.ReadOp) -> Text:
        return self.expression(op.variable)


EXPRESSIONS: Mapping[type[Operation | Block], Callable[[Expressions, Any], Text]] = {
    expr.LiteralOp: Expressions.literal,
    expr.BuiltinOp: Expressions.builtin,
    operators.BinaryOp: Expressions.binary,
    operators.CompareOp: Expressions.comparison,
    operators.NegOp: Expressions.negated,
    operators.NotOp: Expressions.inverted,
    expr.CastOp: Expressions.cast,
    expr.CallOp: Expressions.call,
    operators.TernaryOp: Expressions.ternary,
    expr.SubscriptOp: Expressions.subscript,
    AddressOp: Expressions.address,
    expr.ReadOp: Expressions.read,
}
"""The function that prints an expression op, by the op's class."""
