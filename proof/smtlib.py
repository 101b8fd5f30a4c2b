# SPDX-License-Identifier: Apache-2.0
"""
Formulas as text of SMT-LIB 2.6, which every solver reads (theory `Ints`).

`div` and `mod` of SMT-LIB are Euclid's: equal to floor division for the positive divisors of affine
expressions.
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

_OPERATORS = {
    AffineBinaryOpKind.Add: "(+ {} {})",
    AffineBinaryOpKind.Mul: "(* {} {})",
    AffineBinaryOpKind.FloorDiv: "(div {} {})",
    AffineBinaryOpKind.CeilDiv: "(- (div (- {}) {}))",
    AffineBinaryOpKind.Mod: "(mod {} {})",
}


def script(names: Sequence[str], formulas: Sequence[Formula]) -> str:
    """Return the script that declares the variables and asserts the formulas."""
    symbols = [f"|{name}|" for name in names]
    divisors = divisors_in(expr for formula in formulas for expr in exprs_in(formula))
    formulas = [changed(formula, lambda expr: chained(expr, divisors)) for formula in formulas]
    lines = [f"(declare-const {symbol} Int)" for symbol in symbols]
    lines += [f"(assert {_formula(formula, symbols)})" for formula in formulas]
    return "\n".join([*lines, ""])


def _formula(formula: Formula, symbols: Sequence[str]) -> str:
    match formula:
        case NonNegative(expr):
            return f"(>= {_term(expr, symbols)} 0)"
        case IsZero(expr):
            return f"(= {_term(expr, symbols)} 0)"
        case All(parts):
            return _joined("and", "true", parts, symbols)
        case Some(parts):
            return _joined("or", "false", parts, symbols)
        case Not(part):
            return f"(not {_formula(part, symbols)})"


def _joined(word: str, empty: str, parts: Sequence[Formula], symbols: Sequence[str]) -> str:
    if len(parts) < 2:
        return _formula(parts[0], symbols) if parts else empty
    return f"({word} {' '.join(_formula(part, symbols) for part in parts)})"


def _term(expr: AffineExpr, symbols: Sequence[str]) -> str:
    match expr:
        case AffineConstantExpr(value):
            return str(value) if value >= 0 else f"(- {-value})"
        case AffineDimExpr(position):
            return symbols[position]
        case AffineBinaryOpExpr(kind, left, right):
            return _OPERATORS[kind].format(_term(left, symbols), _term(right, symbols))
        case _:
            raise ValueError(f"not an affine expression over dimensions: {expr}")
