# SPDX-License-Identifier: Apache-2.0
"""
When a result is right: its error is at most `MULTIPLE` times what its dtypes cost anyone.

The error is the largest distance to the results in float64. What the dtypes cost is the largest of

- the error of whom we trust (PyTorch, or the interpreter) in the program's dtypes, for the same
  inputs;
- how far the exact results move when each value on the way is rounded once, by the unit roundoff of
  its dtype up or down at random (2^-24 of itself in float32): the inputs, and of an expression the
  result of each of its operations. No program can be expected to do better than values that are no
  better than that;
- half the spacing of the result's dtype at the largest result, and next to zero.

Elements that overflow for whom we trust have no part in these: in float64 they are far too large.

The second is there because the error of a single sum is a matter of luck: PyTorch's may be zero.

Where a function jumps, as `floor` does, a rounding on the way decides on which side an element
falls. Elements that jumped for whom we trust say nothing about rounding, and do not count above.
They must be as near to the exact result, or to that of whom we trust, as all others to the exact.

Luck, and long sums added one term after the other, may still take a right program beyond that. Then
its own rounding counts: how far its Kernel IR in its own dtypes is from the same Kernel IR in
float64, as interpreted. That tells rounding from mistakes, which both have. Twice this is allowed,
within another `MULTIPLE`: an algorithm that loses far more digits than PyTorch's is wrong.

All this follows from the largest elements. One that is small beside them must also be within
`SLACK` times of what rounding costs that element alone (`element_costs`), its rounding in the
Kernel IR included; without Kernel IR, or with more of it than a check is worth, that is not asked.

The shape and the dtype must be those of whom we trust.

Infinities and NaN must stand where those of whom we trust stand. An integer or a bool must be equal
to the exact one or to that of whom we trust: they differ where floats that are compared, or whose
largest is sought, are as good as equal.

The results of another program (`--against`) are compared in the same way: with its results in
float64, and with those in its own dtypes where these overflow or jump.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.traits import SymbolTable

from tilewright.arrays import ROUNDOFF, SMALLEST
from tilewright.dialects.work import scalar_operations
from tilewright.errors import UsageError
from tilewright.interpreters.distances import distances, finite, is_float, largest
from tilewright.interpreters.element_costs import lost_elements
from tilewright.interpreters.errors import TooLargeError
from tilewright.interpreters.host import interpret
from tilewright.interpreters.moves import is_known, moves_of
from tilewright.interpreters.program import Program

Array = NDArray[Any]

MULTIPLE = 8
"""Different orders of a sum, and functions such as `expf` within some units in the last place."""

MAX_WORK = 5 << 28
"""Scalar operations of Kernel IR that a look at single elements is worth: some seconds."""


@dataclass(frozen=True)
class Comparison:
    """
    One output and how far it is off. Errors are NaN where infinities or NaN do not match, and None
    where nothing is compared.
    """

    shape: tuple[int, ...]
    dtype: str
    error: float | None
    rounded_error: float | None
    """The error of whom we trust."""
    against_error: float | None
    """The distance to the other program, if there is one."""
    limit: float | None
    """The largest error that is right; None where there is nothing to compare with."""
    mismatch: str
    """
    What no limit excuses: another shape or dtype, the first element where infinities or NaN do not
    match, or that is lost beside larger ones; empty if there is nothing.
    """

    @property
    def reason(self) -> str:
        """What is wrong; empty if nothing is."""
        if self.mismatch or self.limit is None:
            return self.mismatch
        for what, error in (("", self.error), (" to --against", self.against_error)):
            if error is not None and not error <= self.limit:
                return f"the error{what} is {error:.3g}, more than {self.limit:.3g}"
        return ""


def compare(
    program: Program,
    inputs: Sequence[Array],
    outputs: Sequence[Array],
    kernel_ir: Callable[[], ModuleOp | None] = lambda: None,
) -> list[Comparison]:
    """
    How each output compares with what it should be; `kernel_ir` gives what its kernels say, and is
    called only where rounding has to be told from mistakes.
    """
    if program.exact is None:
        return uncompared(outputs)
    exact, rounded = program.exact(inputs), program.rounded(inputs)
    moves = moves_of(program, inputs, exact, rounded)
    rows = [*zip(outputs, exact, rounded, moves, strict=True)]
    found = [_compare_one(*row) for row in rows]
    if program.against is not None:
        found = _also_against(program.against, inputs, outputs, found)
    compared = [not c.reason and is_float(row[0]) for c, row in zip(found, rows)]
    is_off = any(c.reason and not c.mismatch for c in found)
    is_lost = any(
        lost_elements(*row).any() for row, is_compared in zip(rows, compared) if is_compared
    )
    if not (is_off or is_lost) or (ir := kernel_ir()) is None:
        return found
    if not is_off and not _is_worth_it(ir):
        return found
    if (own := _own_rounding(ir, inputs)) is None:
        return found
    found = [_allowing(c, largest(finite(error))) for c, error in zip(found, own, strict=True)]
    asked = zip(found, rows, own, strict=True)
    return [_without_lost(c, row, error) if not c.reason else c for c, row, error in asked]


def _is_worth_it(kernel_ir: ModuleOp) -> bool:
    """True if interpreting `@main` takes some seconds at most."""
    main = SymbolTable.lookup_symbol(kernel_ir, "main")
    return main is not None and scalar_operations(main) <= MAX_WORK


def _without_lost(
    comparison: Comparison, row: tuple[Array, Array, Array, Array], own: Array
) -> Comparison:
    """Return the comparison, or one that names the first lost element of an output of floats."""
    if not is_float(row[0]) or not (lost := lost_elements(*row, own)).any():
        return comparison
    element, found, wanted = _first(lost, row[0], row[1])
    mismatch = f"element {element} is {found:g}, should be {wanted:g}"
    return replace(comparison, mismatch=mismatch)


def uncompared(outputs: Sequence[Array]) -> list[Comparison]:
    """Where there is nothing to compare with."""
    return [Comparison(o.shape, str(o.dtype), None, None, None, None, "") for o in outputs]


def _own_rounding(kernel_ir: ModuleOp, inputs: Sequence[Array]) -> list[Array] | None:
    """
    How far each element of the kernels' results is off by rounding alone, in the order they add in;
    None where that is too much to interpret.
    """
    try:
        rounded = interpret(kernel_ir, *inputs)
        exact = interpret(kernel_ir, *inputs, dtype=np.float64)
    except TooLargeError:
        return None
    return [distances(a, b) for a, b in zip(rounded, exact, strict=True)]


def _allowing(comparison: Comparison, own: float) -> Comparison:
    limit = comparison.limit or 0.0
    return replace(comparison, limit=max(limit, min(2 * own, MULTIPLE * limit)))


def _compare_one(output: Array, exact: Array, rounded: Array, move: Array) -> Comparison:
    if reason := _types_differ(output, rounded):
        return Comparison(output.shape, str(output.dtype), None, None, None, 0.0, reason)
    mismatch = _special_values_differ(output, rounded)
    rounded_errors = distances(rounded, exact)
    cost, limit = 0.0, 0.0
    if is_float(output):
        known = finite(exact[is_known(exact, rounded)])
        cost = max(largest(move), largest(np.abs(known)) * ROUNDOFF[output.dtype.name])
        cost = max(cost, SMALLEST[output.dtype.name] / 2)
    jumped = _jumped(output, rounded_errors, cost)
    if is_float(output):
        limit = MULTIPLE * max(cost, largest(rounded_errors[~jumped]))
    return Comparison(
        output.shape,
        str(output.dtype),
        np.nan if mismatch else largest(_errors(output, exact, rounded, jumped)),
        largest(finite(rounded_errors)),
        None,
        limit,
        mismatch,
    )


def _also_against(
    other: Program, inputs: Sequence[Array], outputs: Sequence[Array], found: Sequence[Comparison]
) -> list[Comparison]:
    """Compare the outputs with those of another program, too, within the same limits."""
    assert other.exact is not None
    exact, rounded = other.exact(inputs), other.rounded(inputs)
    if len(exact) != len(outputs):
        raise UsageError(f"the program has {len(outputs)} outputs, --against has {len(exact)}")
    rows = zip(found, outputs, exact, rounded, strict=True)
    return [_one_against(*row) for row in rows]


def _one_against(comparison: Comparison, output: Array, exact: Array, rounded: Array) -> Comparison:
    if exact.shape != output.shape:
        raise UsageError(f"an output is {output.shape}, but {exact.shape} in --against")
    if rounded.dtype != output.dtype:
        raise UsageError(f"an output is {output.dtype}, but {rounded.dtype} in --against")
    if comparison.mismatch:
        return comparison
    cost = (comparison.limit or 0.0) / MULTIPLE
    jumped = _jumped(output, distances(rounded, exact), cost)
    errors = _errors(output, exact, rounded, jumped)
    if np.isfinite(errors).all():
        return replace(comparison, against_error=largest(errors))
    element, value, wanted = _first(np.isinf(errors), output, exact)
    mismatch = f"element {element} is {value:g}, but {wanted:g} in --against"
    return replace(comparison, against_error=np.nan, mismatch=mismatch)


def _errors(output: Array, exact: Array, rounded: Array, jumped: Array) -> Array:
    """Distance of each element to the exact result or, where that jumped, to the rounded one."""
    to_rounded = np.where(jumped, distances(output, rounded), np.inf)
    return np.minimum(distances(output, exact), to_rounded)


def _jumped(output: Array, rounded_errors: Array, cost: float) -> Array:
    """
    Return where the rounded result may stand for the exact one: where it overflowed, and where it
    is off by far more than rounding costs, if most elements are not. For integers everywhere.

    Up to `MULTIPLE` times `MULTIPLE` is taken for a bad order of a sum, not for a jump.
    """
    if not is_float(output):
        return np.ones(output.shape, np.bool_)
    known = np.isfinite(rounded_errors)
    jumped = known & (rounded_errors > MULTIPLE**2 * cost)
    return ~known | jumped if 2 * jumped.sum() < known.sum() else ~known


def _types_differ(output: Array, rounded: Array) -> str:
    """Return how the shape or the dtype of an output differs from what it should be."""
    if output.shape != rounded.shape:
        return f"it is {list(output.shape)}, should be {list(rounded.shape)}"
    if output.dtype != rounded.dtype:
        return f"it is {output.dtype}, should be {rounded.dtype}"
    return ""


def _special_values_differ(output: Array, rounded: Array) -> str:
    if not is_float(output):
        return ""
    for test in (np.isnan, np.isposinf, np.isneginf):
        differs = test(output) != test(rounded)
        if differs.any():
            element, found, wanted = _first(differs, output, rounded)
            return f"element {element} is {found:g}, should be {wanted:g}"
    return ""


def _first(where: Array, *arrays: Array) -> tuple[Any, ...]:
    """Return the first element where a mask holds, and the values of arrays there."""
    element = [int(i) for i in np.unravel_index(int(np.argmax(where)), where.shape)]
    return element, *(float(array[*element]) for array in arrays)
