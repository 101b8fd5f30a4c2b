# SPDX-License-Identifier: Apache-2.0
"""
Formulas as text of SMT-LIB 2.6, which every solver reads (theory `Ints`).

Each division gets a quotient and a remainder of its own, and the text is linear:

    x floordiv 4   ->   q,  where x = 4 * q + r  and  0 <= r < 4
"""

from collections.abc import Sequence

from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.proof.chains import chained, divisors_in
from tilewright.proof.formulas import (
    All,
    Formula,
    IsZero,
    NonNegative,
    Not,
    Some,
    changed,
    exprs_in,
)


def script(names: Sequence[str], formulas: Sequence[Formula]) -> str:
    """Return the script that declares the variables and asserts the formulas."""
    divisors = divisors_in(expr for formula in formulas for expr in exprs_in(formula))
    formulas = [changed(formula, lambda expr: chained(expr, divisors)) for formula in formulas]
    writer = _Writer([f"|{name}|" for name in names])
    asserted = [f"(assert {writer.formula(formula)})" for formula in formulas]
    declared = [f"(declare-const {symbol} Int)" for symbol in writer.symbols]
    return "\n".join([*declared, *writer.definitions, *asserted, ""])


class _Writer:
    """Writer of formulas over `symbols`, with the definitions of quotients and remainders."""

    def __init__(self, symbols: Sequence[str]):
        self.symbols, self.definitions = symbols, list[str]()
        self._divided = dict[tuple[str, int], tuple[str, str]]()

    def formula(self, formula: Formula) -> str:
        """Return the text of a formula."""
        match formula:
            case NonNegative(expr):
                return f"(>= {self._term(expr)} 0)"
            case IsZero(expr):
                return f"(= {self._term(expr)} 0)"
            case All(parts):
                return self._joined("and", "true", parts)
            case Some(parts):
                return self._joined("or", "false", parts)
            case Not(part):
                return f"(not {self.formula(part)})"

    def _joined(self, word: str, empty: str, parts: Sequence[Formula]) -> str:
        if len(parts) < 2:
            return self.formula(parts[0]) if parts else empty
        return f"({word} {' '.join(map(self.formula, parts))})"

    def _term(self, expr: AffineExpr) -> str:
        match expr:
            case AffineConstantExpr(value):
                return _number(value)
            case AffineDimExpr(position):
                return self.symbols[position]
            case AffineBinaryOpExpr(AffineBinaryOpKind.Add, left, right):
                return f"(+ {self._term(left)} {self._term(right)})"
            case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, left, right):
                return f"(* {self._term(left)} {self._term(right)})"
            case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, left, AffineConstantExpr(by)):
                return self._parts(left, by)[0]
            case AffineBinaryOpExpr(AffineBinaryOpKind.Mod, left, AffineConstantExpr(by)):
                return self._parts(left, by)[1]
            case AffineBinaryOpExpr(AffineBinaryOpKind.CeilDiv, left, AffineConstantExpr(by)):
                return f"(- {self._parts(left * -1, by)[0]})"
            case _:
                raise ValueError(f"no quotient or sum of variables: {expr}")

    def _parts(self, expr: AffineExpr, divisor: int) -> tuple[str, str]:
        """Return the symbols of a quotient and a remainder."""
        key = self._term(expr), divisor
        if key not in self._divided:
            number = len(self._divided)
            quotient, remainder = f"|quotient {number}|", f"|remainder {number}|"
            self._divided[key] = quotient, remainder
            self.definitions += [
                f"(declare-const {quotient} Int)",
                f"(declare-const {remainder} Int)",
                f"(assert (= {key[0]} (+ (* {divisor} {quotient}) {remainder})))",
                f"(assert (and (>= {remainder} 0) (< {remainder} {divisor})))",
            ]
        return self._divided[key]


def _number(value: int) -> str:
    return str(value) if value >= 0 else f"(- {-value})"
