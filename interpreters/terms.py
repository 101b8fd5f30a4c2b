# SPDX-License-Identifier: Apache-2.0
"""
Terms: the interpreters run with floats that stand for the expressions which computed them.

    terms = Terms()
    (x,) = terms.inputs(["x"], [np.ones((1, 2))])
    terms.text(add(x[0, 0], x[0, 1]))       # x[0, 0] + x[0, 1]

Each term has a float of its own, near its value. Two programs that run with the same `Terms` return
equal floats where they compute equal terms. Comparisons and `select` are those of the floats: a
term is the expression that was computed for one set of inputs. Sums are equal in any order.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from tilewright.errors import UnsupportedError
from tilewright.interpreters.types import Array

_MOST = 200_000
"""Limit of the terms of a run, which take about a second."""

_NEUTRAL = {"add": 0.0, "mul": 1.0}
"""Associative functions, and the operand that each leaves out."""

_SIGNS = {"add": " + ", "mul": " * ", "sub": " - ", "div": " / "}
_STRENGTH = {"add": 1, "sub": 1, "mul": 2, "div": 2}
"""Precedence of the functions that are written between their operands."""

_SHOWN = 6
"""Number of operands of a sum, and of nested functions, that are printed."""


class Term(NamedTuple):
    """Function with its operands, which are floats of terms; without operands, a leaf's text."""

    name: str
    operands: tuple[float, ...] = ()


class Terms:
    """Table of terms by their floats, which `term_numbers.py` fills."""

    def __init__(self) -> None:
        self._terms = dict[float, Term]()
        self._floats = dict[Term, float]()
        self._ages = dict[float, int]()

    def inputs(self, names: Sequence[str], arrays: Sequence[Array]) -> list[Array]:
        """Return the arrays with floats as terms, whose texts are `name[subscripts]`."""
        return [self._input(*pair) for pair in zip(names, arrays, strict=True)]

    def _input(self, name: str, array: Array) -> Array:
        if array.dtype.kind != "f":
            return array
        found = np.empty(array.shape)
        for at in np.ndindex(array.shape):
            leaf = Term(f"{name}[{', '.join(map(str, at))}]" if at else name)
            found[at] = self._intern(leaf, float(array[at]))
        return found

    def term(self, number: float) -> Term:
        """Return the term of a float; a float that no function computed is a constant."""
        return self._terms.get(number) or Term(f"{number:.9g}")

    def text(self, number: float, depth: int = _SHOWN) -> str:
        """Return a term as an expression; terms below `depth` functions are dots."""
        return self._text(number, depth, 0)

    def _text(self, number: float, depth: int, around: int) -> str:
        name, operands = self.term(number)
        if not operands:
            return name
        if depth == 0:
            return "..."
        strength = _STRENGTH.get(name, 0)
        texts = [self._text(each, depth - 1, strength) for each in _middle_left_out(operands)]
        if len(operands) > _SHOWN:
            texts.insert(-1, "...")
        if not strength:
            return f"{name}({', '.join(texts)})"
        if name in ("sub", "div"):  # the right operand of an equally strong sign is in brackets
            texts[1] = self._text(operands[1], depth - 1, strength + 1)
        text = _SIGNS[name].join(texts)
        return f"({text})" if strength < around else text

    def differing(self, one: float, other: float) -> tuple[float, float]:
        """Return the innermost terms that are the only difference of two terms."""
        while True:
            (name, left), (other_name, right) = self.term(one), self.term(other)
            if name != other_name:
                return one, other
            if name in _NEUTRAL:
                left, right = _without(left, right), _without(right, left)
                pairs = [*zip(left, right, strict=False)] if len(left) == len(right) else []
            else:
                pairs = [(a, b) for a, b in zip(left, right, strict=False) if a != b]
            if len(pairs) != 1:
                return one, other
            ((one, other),) = pairs

    def made(self, name: str, operands: tuple[float, ...], value: float) -> float:
        """Return the float of a term that is near `value`, with sums of sums as one sum."""
        if not all(np.isfinite(operands)):
            return value
        if (neutral := _NEUTRAL.get(name)) is not None:
            parts = (self._parts(name, each) for each in operands if each != neutral)
            operands = tuple(sorted((part for each in parts for part in each), key=self._age))
            if len(operands) < 2:
                return operands[0] if operands else neutral
        return self._intern(Term(name, operands), value)

    def _age(self, number: float) -> tuple[int, float]:
        """Return the key by which operands of a sum are ordered: the oldest term comes first."""
        return self._ages.get(number, -1), number

    def _parts(self, name: str, number: float) -> tuple[float, ...]:
        found = self.term(number)
        return found.operands if found.name == name and found.operands else (number,)

    def _intern(self, term: Term, value: float) -> float:
        if (found := self._floats.get(term)) is not None:
            return found
        if len(self._floats) >= _MOST:
            raise UnsupportedError(f"it computes more than {_MOST} terms")
        value = value if np.isfinite(value) else 0.5 + len(self._floats) / _MOST
        number = next(each for each in _near(value) if each not in self._terms)
        self._ages[number] = len(self._ages)
        self._terms[number], self._floats[term] = term, number
        return number


def _near(value: float) -> Iterator[float]:
    """Yield floats near `value` that are no short decimal numbers, as constants are."""
    start = value + (abs(value) + 1.0) * 2.0**-40
    return (start + step * 2.0**-44 * (abs(value) + 1.0) for step in count())


def _middle_left_out(operands: Sequence[float]) -> Sequence[float]:
    return operands if len(operands) <= _SHOWN else (*operands[: _SHOWN - 1], operands[-1])


def _without(some: Sequence[float], others: Sequence[float]) -> tuple[float, ...]:
    """Return `some` without the numbers of `others`, each as often as it occurs there."""
    left = [*others]
    return tuple(each for each in some if not _taken(left, each))


def _taken(left: list[float], number: float) -> bool:
    if number not in left:
        return False
    left.remove(number)
    return True
