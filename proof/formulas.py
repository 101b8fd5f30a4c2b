# SPDX-License-Identifier: Apache-2.0
"""
Formulas over integer variables: conditions on affine expressions, joined by and, or and not.

A formula is data. The solver reads it as text, and `holds` evaluates it at a point, which checks
the solver's answers.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr

from tilewright.dialects.index import Range


@dataclass(frozen=True)
class NonNegative:
    """Condition that an expression is at least 0."""

    expr: AffineExpr


@dataclass(frozen=True)
class IsZero:
    """Condition that an expression is 0."""

    expr: AffineExpr


@dataclass(frozen=True)
class All:
    """Conjunction; true without parts."""

    parts: "Sequence[Formula]"


@dataclass(frozen=True)
class Some:
    """Disjunction; false without parts."""

    parts: "Sequence[Formula]"


@dataclass(frozen=True)
class Not:
    """Negation."""

    part: "Formula"


Formula = NonNegative | IsZero | All | Some | Not


@dataclass
class Variables:
    """Integer variables of an obligation; variable `n` is dimension `n` of its expressions."""

    names: list[str] = field(default_factory=list[str])
    ranges: list[Range] = field(default_factory=list[Range])
    first: list[int] = field(default_factory=list[int])
    """Values at a first step, which usually satisfies the facts."""
    _by_key: dict[Hashable, AffineExpr] = field(default_factory=dict[Hashable, AffineExpr])

    def new(self, name: str, size: int, first: int = 0) -> AffineExpr:
        """Add a variable that counts from 0 below `size`; a name that is taken gets a number."""
        numbered = (f"{name}_{number}" if number else name for number in count())
        self.names.append(next(each for each in numbered if each not in self.names))
        self.ranges.append(Range.extent(size))
        self.first.append(first)
        return AffineExpr.dimension(len(self.names) - 1)

    def for_key(self, key: Hashable, name: str, size: int) -> AffineExpr:
        """Return the variable with that key, which is added at the first call."""
        if key not in self._by_key:
            self._by_key[key] = self.new(name, size)
        return self._by_key[key]

    def drop(self, first: int) -> None:
        """Remove the variables from number `first` on."""
        del self.names[first:], self.ranges[first:], self.first[first:]
        for key, expr in [*self._by_key.items()]:
            if max(expr.used_dims()) >= first:
                del self._by_key[key]

    def named(self, exprs: Iterable[AffineExpr]) -> dict[str, AffineExpr]:
        """Return variables by their names."""
        positions = [expr.position for expr in exprs if isinstance(expr, AffineDimExpr)]
        return {self.names[at]: AffineExpr.dimension(at) for at in positions}


def constant(value: int) -> AffineExpr:
    """Return a constant as an expression."""
    return AffineConstantExpr(value)


def below(expr: AffineExpr, size: int) -> Formula:
    """Return the condition `0 <= expr < size`."""
    # xDSL computes an integer less an expression with the wrong sign: use `constant`.
    return All((NonNegative(expr), NonNegative(constant(size - 1) - expr)))


def within(exprs: Sequence[AffineExpr], sizes: Sequence[int]) -> Formula:
    """Return the condition that each subscript is within its axis."""
    return All([below(expr, size) for expr, size in zip(exprs, sizes, strict=True)])


def equal(left: Sequence[AffineExpr], right: Sequence[AffineExpr]) -> Formula:
    """Return the condition that two lists of expressions have equal values."""
    return All([IsZero(a - b) for a, b in zip(left, right, strict=True)])


def same_truth(left: Formula, right: Formula) -> Formula:
    """Return the condition that two formulas are both true or both false."""
    return Some((All((left, right)), All((Not(left), Not(right)))))


def holds(formula: Formula, values: Sequence[int]) -> bool:
    """True if the formula is true at the point where variable `n` is `values[n]`."""
    match formula:
        case NonNegative(expr):
            return expr.eval(values, ()) >= 0
        case IsZero(expr):
            return expr.eval(values, ()) == 0
        case All(parts):
            return all(holds(part, values) for part in parts)
        case Some(parts):
            return any(holds(part, values) for part in parts)
        case Not(part):
            return not holds(part, values)


def changed(formula: Formula, change: Callable[[AffineExpr], AffineExpr]) -> Formula:
    """Return the formula with each expression replaced by what `change` returns for it."""
    match formula:
        case NonNegative(expr):
            return NonNegative(change(expr))
        case IsZero(expr):
            return IsZero(change(expr))
        case All(parts):
            return All([changed(part, change) for part in parts])
        case Some(parts):
            return Some([changed(part, change) for part in parts])
        case Not(part):
            return Not(changed(part, change))


def replaced(formula: Formula, exprs: Sequence[AffineExpr]) -> Formula:
    """Return the formula with `exprs[n]` in the place of variable `n`."""
    return changed(formula, lambda expr: expr.replace_dims_and_symbols(exprs, ()))


def exprs_in(formula: Formula) -> Iterator[AffineExpr]:
    """Yield the expressions of a formula."""
    match formula:
        case NonNegative(expr) | IsZero(expr):
            yield expr
        case All(parts) | Some(parts):
            for part in parts:
                yield from exprs_in(part)
        case Not(part):
            yield from exprs_in(part)


def used_in(formula: Formula) -> set[int]:
    """Return the variables of a formula."""
    return set[int]().union(*(expr.used_dims() for expr in exprs_in(formula)))
