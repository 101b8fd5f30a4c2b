# SPDX-License-Identifier: Apache-2.0
"""
Expected results of a kernel for each set of inputs, and the allowed errors.

The expected results are those of the interpreter in the program's own dtypes. A result may be off
by some units in the last place, and by a multiple of the interpreter's rounding error in the same
row. A set is used only if rounding costs little: less extreme inputs are tried until it does.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.utils.hints import isa

from tilewright.arrays import ROUNDOFF
from tilewright.codegen.launch_plan import ArrayType
from tilewright.dialects.element_types import DTYPE_NAMES, FLOATS
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.tools.planted_bugs.input_sets import TURNS, InputSet, input_sets

Array = NDArray[Any]

TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 2e-3, "bfloat16": 1e-2}
"""
Allowed error of a result by dtype, as a factor of its magnitude plus the largest magnitude of its
row (at most 1).
"""

CONDITION = {"float64": 1e-10, "float32": 1e-4, "float16": 2e-2, "bfloat16": 0.1}
"""
Largest rounding error by dtype, relative to the largest element of its row, for inputs to be used.
"""

MULTIPLE = 4
"""
Factor by which the error of a result may exceed the interpreter's own rounding error in the same
row.
"""


@dataclass(frozen=True)
class Judged:
    """Set of inputs, with its expected results."""

    what: str
    inputs: Sequence[Array]
    expected: Sequence[Array]
    limits: Sequence[Array]
    """Largest allowed error of each element."""

    def is_right(self, results: Sequence[Array]) -> bool:
        """
        True if every element is near enough; infinities and NaN must be at the expected places.
        """
        rows = zip(results, self.expected, self.limits, strict=True)
        return all(_is_near(result, e, limit) for result, e, limit in rows)


class JudgedSets:
    """
    List of all sets of inputs for judging a program, each computed when an iteration first reaches
    it.
    """

    def __init__(
        self, program: ModuleOp, types: Sequence[ArrayType], *, seed: int = 0, turns: int = TURNS
    ):
        self._known: list[Judged] = []
        judge = _Judge(program)
        self._rest = filter(None, map(judge.judged, input_sets(types, seed, turns)))

    def __iter__(self) -> Iterator[Judged]:
        yield from self._known
        for judged in self._rest:
            self._known.append(judged)
            yield judged


class _Judge:
    """
    Judge of a program: expected results and allowed errors, which depend on its coarsest float
    dtype.
    """

    def __init__(self, program: ModuleOp):
        self.program = program
        self.coarsest = _coarsest(program)

    def judged(self, inputs: InputSet) -> Judged | None:
        """
        Return the most extreme version of the inputs for which rounding costs the program little;
        None if there is none.
        """
        versions = (self._judged(inputs.what, version()) for version in inputs.versions)
        return next(filter(None, versions), None)

    def _judged(self, what: str, inputs: list[Array]) -> Judged | None:
        try:
            rounded = interpret(self.program, *inputs)
            exact = interpret(self.program, *inputs, dtype=np.float64)
        except InterpreterError:
            return None
        pairs = [*zip(rounded, exact, strict=True)]
        if not all(self._is_well_conditioned(*pair) for pair in pairs):
            return None
        return Judged(what, inputs, rounded, [self._limit(*pair) for pair in pairs])

    def _is_well_conditioned(self, rounded: Array, exact: Array) -> bool:
        share = CONDITION[self.coarsest] if _is_float(rounded) else 0.0
        return _is_near(rounded, exact, share * _largest_of_row(_wide(exact)))

    def _limit(self, rounded: Array, exact: Array) -> Array:
        if not _is_float(rounded):
            return np.zeros(rounded.shape)
        one, two = _wide(rounded), _wide(exact)
        floor = np.minimum(1.0, _largest_of_row(one))
        with np.errstate(invalid="ignore"):
            cost = _largest_of_row(one - two)
        return TOLERANCE[self.coarsest] * (_finite(np.abs(one)) + floor) + MULTIPLE * cost


def _coarsest(program: ModuleOp) -> str:
    """Return the name of the coarsest float dtype that a program computes with or stores."""
    types = (type for op in program.walk() for type in op.result_types)
    elements = {t.get_element_type() if isa(t, MemRefType) else t for t in types}
    names = (DTYPE_NAMES[element] for element in elements if element in FLOATS)
    return max(names, key=lambda name: ROUNDOFF[name], default="float32")


def _is_float(array: Array) -> bool:
    return array.dtype.name in ROUNDOFF


def _is_near(one: Array, two: Array, limit: Array) -> bool:
    if not _is_float(one):  # float64 cannot distinguish all integers above 2^53
        return np.array_equal(one, two)
    one, two = _wide(one), _wide(two)
    with np.errstate(invalid="ignore"):
        near = (np.abs(one - two) <= limit) | (one == two) | (np.isnan(one) & np.isnan(two))
    return bool(near.all())


def _largest_of_row(array: Array) -> Array:
    """
    Return the largest finite magnitude of each row, with a shape that broadcasts to its elements.
    """
    sizes = _finite(np.abs(array))
    return sizes if not sizes.ndim else sizes.max(axis=-1, keepdims=True, initial=0.0)


def _finite(array: Array) -> Array:
    return np.where(np.isfinite(array), array, 0.0)


def _wide(array: Array) -> Array:
    return array.astype(np.float64)
