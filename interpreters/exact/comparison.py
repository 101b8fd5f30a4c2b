# SPDX-License-Identifier: Apache-2.0
"""
Comparison of a program before and after a pass with exact numbers, at zero tolerance.

Results must be equal for integers and opaque functions, or else modulo primes, where division and
`exp` have their algebra. Where neither system can run the program, floats are compared within a
tolerance, and a note names the reason.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import Operation

from tilewright.dialects.element_types import HALVES
from tilewright.dialects.kernel import HalveTf32Op
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.prim import ConstantOp, ElementwiseOp
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.types import element_of
from tilewright.interpreters.check import (
    TOLERANCE,
    PassCheckError,
    Programs,
    is_torch,
    within_tolerance,
)
from tilewright.interpreters.differences import Difference, worst_of
from tilewright.interpreters.exact.integers import INTEGERS
from tilewright.interpreters.exact.ordinary import InexactError
from tilewright.interpreters.exact.residues import RESIDUES
from tilewright.interpreters.exact.rough_halves import ROUGH_HALVES
from tilewright.interpreters.number_system import ExactNumbers
from tilewright.interpreters.random_runs import Draw

SYSTEMS = (INTEGERS, RESIDUES)
"""Exact number systems, in the order in which they are tried."""

_LARGE = 4000.0
"""Factor of random floats; `exp` of most of their differences overflows in float64, above 709."""


class ExactComparison:
    """Comparison of functions by exact numbers, with notes on what it has compared how."""

    def __init__(self) -> None:
        self.compared = dict[str, ExactNumbers]()
        """Numbers for which each function is equal before and after the last pass."""
        self.notes = list[str]()
        """Note for each function that was not compared exactly."""

    def __call__(self, programs: Programs, name: str) -> Difference | None:
        """
        Return the worst difference between the results of `@name` before and after a pass, or None.
        """
        if is_torch(programs.before):
            return self._with_floats(programs, name, "PyTorch computes the functions of Torch IR")
        found: list[Difference] = []
        reasons: dict[ExactNumbers, str] = {}
        for numbers in SYSTEMS:
            try:
                difference = difference_in(numbers, programs, name)
            except InexactError as err:
                reasons[numbers] = err.message
                continue
            if difference is None:
                self.compared[name] = numbers
                return _in_floats(programs, name) if numbers is RESIDUES else None
            found.append(difference)
        if (reason := _reason_for_floats(programs, reasons)) is None:
            return found[0]
        return self._with_floats(programs, name, reason)

    def _with_floats(self, programs: Programs, name: str, reason: str) -> Difference | None:
        self.notes.append(f"@{name} is not compared exactly, but within a tolerance: {reason}")
        return _within_tolerance(programs, name)


def _within_tolerance(programs: Programs, name: str) -> Difference | None:
    """
    Return the worst difference for floats, or None. Products of split factors are also compared
    with large second parts.
    """
    found = within_tolerance(programs, name)
    has_halves = any(isinstance(op, HalveTf32Op) for op in programs.after.walk())
    if found is not None or not has_halves:
        return found
    found = (difference_in(each, programs, name, TOLERANCE) for each in ROUGH_HALVES)
    return next(filter(None, found), None)


def difference_in(
    numbers: ExactNumbers, programs: Programs, name: str, tolerance: float = 0.0
) -> Difference | None:
    """
    Return the worst difference between the results of `@name` before and after a pass, in a number
    system; None if they are equal within a tolerance.

    Raises `InexactError` if the system cannot run the program before the pass.
    """
    draw = Draw(programs.types(name), programs.seed, numbers=numbers)
    try:
        expected = programs.results(programs.before, name, draw)
    except PassCheckError as err:
        raise InexactError(err.message.partition("the program is wrong: ")[2]) from err
    actual = programs.results(programs.after, name, draw)
    found = worst_of(expected, actual, tolerance)
    return None if found is None else replace(found, numbers=f" {numbers.name}")


def _in_floats(programs: Programs, name: str) -> Difference | None:
    """
    Return the worst difference for floats, which programs that are equal modulo primes may have;
    None if there is none.

    Residues have no `exp` that overflows. A softmax that subtracts another number than its maximum
    is equal modulo primes, but not for scores that are thousands apart. Nor has the `exp` of an
    `exp` a value that depends on the operand.
    """
    draw = Draw(programs.types(name), programs.seed, scale=_LARGE)
    modules = programs.before, programs.after
    expected, actual = (programs.results(module, name, draw) for module in modules)
    found = worst_of(expected, actual, TOLERANCE)
    if found is not None:
        return replace(found, numbers=" for large floats")
    return _within_tolerance(programs, name)


def _reason_for_floats(programs: Programs, reasons: Mapping[ExactNumbers, str]) -> str | None:
    """
    Reason why a difference may be none of the programs, or None. `reasons` are those of systems
    that cannot run them.
    """
    if reasons:
        is_sure = RESIDUES not in reasons and not _has_order(programs.before)
        return None if is_sure else _joined(reasons)
    new = _fractions(programs.after) - _fractions(programs.before)
    if not new:
        return None
    return f"the pass computes the constant {min(new):.9g}, and may round it"


def _joined(reasons: Mapping[ExactNumbers, str]) -> str:
    messages = {*reasons.values()}
    if len(reasons) > 1 and len(messages) == 1:
        return messages.pop()
    return "; ".join(f"{numbers.name}: {message}" for numbers, message in reasons.items())


def _fractions(module: ModuleOp) -> set[float]:
    """Return the float constants of a module that are not whole."""
    constants = [op.value for op in module.walk() if isinstance(op, arith.ConstantOp | ConstantOp)]
    values = {attr.value.data for attr in constants if isinstance(attr, FloatAttr)}
    return {value for value in values if isfinite(value) and value != round(value)}


def _has_order(module: ModuleOp) -> bool:
    """True if an op of a module depends on the order of floats, which residues do not have."""
    return any(map(_compares, module.walk()))


def _compares(op: Operation) -> bool:
    if isinstance(op, ElementwiseOp):
        return op.function.data.is_comparison or op.function.data in _ORDERED_FUNCTIONS
    monoid = getattr(op, "monoid", None)
    if isinstance(monoid, MonoidAttr):
        return monoid.data in _ORDERED_MONOIDS
    return isinstance(op, _ORDERED_OPS)


_ORDERED_FUNCTIONS = (ScalarFunction.MAXIMUM, ScalarFunction.MINIMUM, ScalarFunction.ABS)

_ORDERED_MONOIDS = (Monoid.MAX, Monoid.MIN, Monoid.ARGMAX, Monoid.ARGMIN)

_ORDERED_OPS = (
    arith.CmpfOp,
    arith.MaximumfOp,
    arith.MinimumfOp,
    arith.MaxnumfOp,
    arith.MinnumfOp,
    math.AbsFOp,
)


def rounds_to_half(module: ModuleOp) -> bool:
    """True if a module rounds floats to half types, which exact numbers do not."""
    return any(map(_rounds_to_half, module.walk()))


def _rounds_to_half(op: Operation) -> bool:
    if isinstance(op, ElementwiseOp) and op.function.data is ScalarFunction.CAST:
        return element_of(op.result) in HALVES
    return isinstance(op, arith.TruncFOp) and op.result.type in HALVES
