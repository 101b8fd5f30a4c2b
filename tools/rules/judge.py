# SPDX-License-Identifier: Apache-2.0
"""
Judgement of one match of a rule: the program before and after it computes the same, or does not.

Both sides run with exact numbers first, then with ordinary and with adversarial floats in their own
types. Where no exact system can compare them, floats decide within a tolerance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from tilewright.errors import TilewrightError, UnsupportedError
from tilewright.interpreters.check import TOLERANCE, PassCheckError, Programs, check_pass
from tilewright.interpreters.differences import Difference, worst_of
from tilewright.interpreters.exact.comparison import SYSTEMS
from tilewright.interpreters.exact.integers import INTEGERS
from tilewright.interpreters.host import interpret_fitting
from tilewright.interpreters.types import Array
from tilewright.tools.rules.closeness import where_before_is_finite, worst_element
from tilewright.tools.rules.contents import Contents
from tilewright.tools.rules.inputs import EXTREME, MODERATE, ORDINARY, SPECIAL, Draw, rounds

MAX_WORK = 1 << 20
"""Limit of the scalar operations of a program in which a match is judged."""


class Kind(StrEnum):
    """Numbers for which the two sides are equal."""

    INTEGERS = "exact for integers"
    PRIMES = "exact modulo primes"
    FLOATS = "within a tolerance"


@dataclass(frozen=True)
class Finding:
    """Reason why a match is wrong."""

    message: str
    inputs: Sequence[Array] = ()
    is_special: bool = False
    """True if the sides are equal as functions of real numbers."""
    is_of_zeros: bool = False
    """True if the sides differ in the sign of a zero only."""

    @property
    def rank(self) -> int:
        """Order of findings: those for real numbers first, those for signs of zero last."""
        return self.is_special + self.is_of_zeros


@dataclass(frozen=True)
class Judgement:
    """Answer about one match: the numbers for which it is right, or a finding; else unknown."""

    kind: Kind | None = None
    finding: Finding | None = None

    @property
    def is_known(self) -> bool:
        """True if the match is right or wrong, rather than impossible to run."""
        return self.kind is not None or self.finding is not None


def compared(before: ModuleOp, after: ModuleOp, *, real: bool = False) -> Judgement:
    """Return a judgement on the programs before and after a rewrite, which are valid."""
    comparison = _Comparison(real)
    try:
        check_pass(before, after, "rule", max_work=MAX_WORK, compare=comparison)
    except PassCheckError as err:
        return Judgement(finding=Finding(err.message.replace("pass 'rule'", "it")))
    if (found := comparison.finding) is not None:
        is_special = not real and compared(before, after, real=True).finding is None
        return Judgement(finding=replace(found, is_special=is_special))
    return Judgement(max(comparison.kinds, key=[*Kind].index, default=None))


@dataclass
class _Comparison:
    """Comparison of functions before and after a rewrite, which keeps the first finding."""

    real: bool
    finding: Finding | None = None
    kinds: list[Kind] = field(default_factory=list[Kind])

    def __call__(self, programs: Programs, name: str) -> Difference | None:
        if self.finding is None:
            sides = _Sides(programs, name, programs.types(name), self.real)
            self.finding = sides.first_difference()
            self.kinds += [sides.kind] if sides.ran and self.finding is None else []
        return None


@dataclass
class _Sides:
    """The two versions of one function."""

    programs: Programs
    name: str
    types: Sequence[Attribute]
    real: bool
    kind: Kind = Kind.FLOATS
    ran: bool = False

    def first_difference(self) -> Finding | None:
        """Return the first finding; set `kind` and `ran`."""
        contents = Contents(self.programs.before, self.programs.after)
        if self.real and contents.has_infinities:
            return None
        exact = self._exact_difference(contents)
        for draw in MODERATE if self.real else ORDINARY:
            if (found := self._difference(draw, contents)) is not None:
                return found
        if exact is not None:
            return exact
        draws = () if self.real else _adversarial(contents, rounds(self.types))
        differences = (self._difference(draw, contents) for draw in draws)
        of_zeros: Finding | None = None
        for found in differences:
            if found is not None and not found.is_of_zeros:
                return found
            of_zeros = of_zeros or found
        return of_zeros

    def _exact_difference(self, contents: Contents) -> Finding | None:
        """Return the difference for exact numbers, if it is sure; else None, and set `kind`."""
        found: Finding | None = None
        for numbers in SYSTEMS:
            draw = Draw(numbers.name, numbers=numbers)
            try:
                inputs = draw.inputs(self.types)
                expected, actual = self._results(draw, inputs)
            except TilewrightError:
                continue  # this system does not have the program's functions
            self.ran = True
            difference = worst_of(expected, actual, 0.0)
            if difference is None:
                self.kind = Kind.INTEGERS if numbers is INTEGERS else Kind.PRIMES
                return None
            found = found or Finding(f"{difference} {numbers.name}", inputs)
        return found if contents.is_exact else None

    def _difference(self, draw: Draw, contents: Contents) -> Finding | None:
        if contents.sums or self.real:
            draw = replace(draw, widened=True)
        if contents.shifts or not contents.is_tensor:
            draw = replace(draw, integers="bits")
        inputs = draw.inputs(self.types)
        try:
            expected = self._run(self.programs.before, draw, inputs)
        except TilewrightError:
            return None  # undefined for these inputs
        self.ran = True
        try:
            actual = self._run(self.programs.after, draw, inputs)
        except UnsupportedError:
            raise
        except TilewrightError as err:
            return Finding(f"the program after it fails {draw.name}: {err.message}", inputs)
        if self.real:
            actual = where_before_is_finite(expected, actual)
        if contents.sums or self.real:
            difference = worst_of(expected, actual, TOLERANCE)
        else:
            zero_signs = draw not in ORDINARY and contents.has_zero_signs
            difference = worst_element(expected, actual, zero_signs=zero_signs)
        if difference is None:
            return None
        is_of_zeros = difference.before == difference.after
        return Finding(f"{difference} {draw.name}", inputs, is_of_zeros=is_of_zeros)

    def _results(self, draw: Draw, inputs: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        before, after = self.programs.before, self.programs.after
        return self._run(before, draw, inputs), self._run(after, draw, inputs)

    def _run(self, module: ModuleOp, draw: Draw, inputs: Sequence[Array]) -> list[Array]:
        with np.errstate(all="ignore"):
            return interpret_fitting(module, inputs, self.name, draw.element_types)


def _adversarial(contents: Contents, count: int) -> Sequence[Draw]:
    """Return the adversarial draws for which results are specified, `count` of each kind."""
    if not contents.is_tensor or contents.truncates or contents.ignores_nans:
        return ()
    if contents.sums:
        return SPECIAL[:count]
    of_zeros = [replace(draw, name=f"{draw.name}, in the sign of zero") for draw in ORDINARY]
    return (*SPECIAL[:count], *EXTREME[:count], *of_zeros)
