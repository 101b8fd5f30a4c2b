# SPDX-License-Identifier: Apache-2.0
"""
Criteria of a right result: its error is at most `MULTIPLE` times the unavoidable error of its
dtypes.

The error is the largest distance to the results in float64. The reference is PyTorch, or the
interpreter, in the program's dtypes for the same inputs. The unavoidable error is the largest of
these three:

- The error of the reference.
- The distance by which the exact results move if each value on the way is rounded once. Rounding
  moves a value by its dtype's unit roundoff (2^-24 of itself in float32), up or down at random.
  The values are the inputs and, in an expression, the result of each operation.
- Half the spacing of the result's dtype, at the largest result and next to zero.

Elements that overflow in the reference do not count, because they are far too large in float64. The
second item exists because the error of a single sum is a matter of luck: PyTorch's may be zero.

Some functions jump, as `floor` does, and a rounding decides on which side of the jump an element
falls. Elements that jumped in the reference do not count for the unavoidable error. Elements
that jumped must be as close to the exact result or the reference as other elements are to the exact
result.

A right program may exceed this by bad luck, or by long sums that are added one term at a time. Then
its own rounding counts. This is the distance of its Kernel IR, interpreted in its own dtypes, from
the same Kernel IR in float64. A mistake is in both, so the distance is due to rounding alone. Twice
this distance is allowed, up to another factor of `MULTIPLE`. An algorithm that loses far more
digits than PyTorch's is wrong.

All these limits follow from the largest elements. A small element beside them must also be within
`SLACK` times its own cost of rounding (`element_costs`), which includes rounding in the Kernel IR.
This is not checked without Kernel IR, or if the Kernel IR is too much work.

The coarse results have factors of products that are rounded as far as the program's precision
allows. Their largest distance to the exact results, times `COARSE_MULTIPLE`, is added
to the limit. An element that jumped in the coarse results may be as close to these. Rounding in the
Kernel IR never counts for this part of the limit.

The shape and dtype must be those of the reference. Infinities and NaN must be at the reference's
places. An integer or bool must equal the exact one or the reference's. The two differ if almost
equal floats are compared, or if the largest of almost equal floats is searched.

The results of another program (`--against`) are compared in the same way, with its results in
float64. Where these overflow or jump in its own dtypes, its results in its own dtypes count too.
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
from tilewright.interpreters.moves import is_known, rounding_moves
from tilewright.interpreters.program import Program

Array = NDArray[Any]

MULTIPLE = 8
"""
Factor on the unavoidable error. It allows for other orders of a sum, and for functions like `expf`,
which are off by some units in the last place.
"""

COARSE_MULTIPLE = 4
"""
Factor on the largest error of coarse results. It allows that kernels round some of the factors
only. Factors that are rounded to bfloat16 in the place of tf32 cause 8 times the error.
"""

COARSE_ROUNDINGS = 1 << 10
"""
Factor on the cost of rounding in float32 for coarse results, which `_jumped` compares. An error
above 8 roundings to tf32 is a jump.
"""

MAX_WORK = 5 << 28
"""
Limit of the scalar operations of Kernel IR for a check of single elements, which takes some
seconds.
"""


@dataclass(frozen=True)
class Comparison:
    """
    Comparison of one output with its right result.

    Errors are NaN if infinities or NaN do not match, and None if nothing is compared.
    """

    shape: tuple[int, ...]
    dtype: str
    error: float | None
    rounded_error: float | None
    """Error of the reference: the largest distance of its result to the exact one."""
    against_error: float | None
    """
    Largest distance of the output to the other program's result; None without another program.
    """
    limit: float | None
    """Largest error that is right; None if there is nothing to compare with."""
    mismatch: str
    """
    Mismatch that makes the output wrong whatever the limit is; empty if there is none.

    It is a wrong shape or dtype, the first element where infinities or NaN differ, or the first
    lost element.
    """
    coarse: float = 0.0
    """Part of the limit for the rounding of factors."""

    @property
    def reason(self) -> str:
        """Reason why the output is wrong; empty if it is right."""
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
    Return a comparison of each output with its right result.

    `kernel_ir` returns the program's Kernel IR, or None. It is called only if rounding has to be
    distinguished from mistakes.
    """
    if program.exact is None:
        return uncompared(outputs)
    exact, rounded = program.exact(inputs), program.rounded(inputs)
    moves = rounding_moves(program, inputs, exact, rounded)
    coarse = exact if program.coarse is None else program.coarse(inputs)
    compared_with = zip(outputs, exact, rounded, moves, coarse, strict=True)
    found = [_compare_one(*row) for row in compared_with]
    rows = [*zip(outputs, exact, rounded, map(_with_coarse, moves, coarse, exact), strict=True)]
    if program.against is not None:
        found = _compare_against(program.against, inputs, outputs, found)
    compared = [not c.reason and is_float(row[0]) for c, row in zip(found, rows)]
    is_off = any(c.reason and not c.mismatch for c in found)
    is_lost = any(
        lost_elements(*row).any() for row, is_compared in zip(rows, compared) if is_compared
    )
    if not (is_off or is_lost) or (ir := kernel_ir()) is None:
        return found
    if not is_off and not _is_affordable(ir):
        return found
    if (own := _own_rounding(ir, inputs)) is None:
        return found
    found = [_allowing(c, largest(finite(error))) for c, error in zip(found, own, strict=True)]
    triples = zip(found, rows, own, strict=True)
    return [_without_lost(c, row, error) if not c.reason else c for c, row, error in triples]


def _with_coarse(move: Array, coarse: Array, exact: Array) -> Array:
    """
    Return each element's move, or its distance from the coarse to the exact result if that is
    finite and larger.
    """
    distance = distances(coarse, exact)
    return np.maximum(move, np.where(np.isfinite(distance), distance, 0.0))


def _is_affordable(kernel_ir: ModuleOp) -> bool:
    """True if interpreting `@main` takes some seconds at most."""
    main = SymbolTable.lookup_symbol(kernel_ir, "main")
    return main is not None and scalar_operations(main) <= MAX_WORK


def _without_lost(
    comparison: Comparison, row: tuple[Array, Array, Array, Array], own: Array
) -> Comparison:
    """
    Return `comparison`; if a float output has lost elements, add a mismatch that names the first.
    """
    if not is_float(row[0]) or not (lost := lost_elements(*row, own)).any():
        return comparison
    element, found, expected = _first(lost, row[0], row[1])
    mismatch = f"element {element} is {found:g}, should be {expected:g}"
    return replace(comparison, mismatch=mismatch)


def uncompared(outputs: Sequence[Array]) -> list[Comparison]:
    """
    Return a comparison without errors or limit for each output, for programs without a reference.
    """
    return [Comparison(o.shape, str(o.dtype), None, None, None, None, "") for o in outputs]


def _own_rounding(kernel_ir: ModuleOp, inputs: Sequence[Array]) -> list[Array] | None:
    """
    Return the rounding error of each element of the kernels' results, in their own order of sums.
    Return None if the kernels are too large to interpret.
    """
    try:
        rounded = interpret(kernel_ir, *inputs)
        exact = interpret(kernel_ir, *inputs, dtype=np.float64)
    except TooLargeError:
        return None
    return [distances(a, b) for a, b in zip(rounded, exact, strict=True)]


def _allowing(comparison: Comparison, own: float) -> Comparison:
    limit = (comparison.limit or 0.0) - comparison.coarse
    allowed = max(limit, min(2 * own, MULTIPLE * limit))
    return replace(comparison, limit=allowed + comparison.coarse)


def _compare_one(
    output: Array, exact: Array, rounded: Array, move: Array, coarse: Array
) -> Comparison:
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
    coarse_errors = distances(coarse, exact)
    coarse_jumped = _jumped(output, coarse_errors, cost * COARSE_ROUNDINGS)
    of_factors = COARSE_MULTIPLE * largest(coarse_errors[~coarse_jumped])
    errors = np.minimum(
        _errors(output, exact, rounded, jumped), _errors(output, exact, coarse, coarse_jumped)
    )
    return Comparison(
        output.shape,
        str(output.dtype),
        np.nan if mismatch else largest(errors),
        largest(finite(rounded_errors)),
        None,
        limit + of_factors,
        mismatch,
        of_factors,
    )


def _compare_against(
    other: Program, inputs: Sequence[Array], outputs: Sequence[Array], found: Sequence[Comparison]
) -> list[Comparison]:
    """
    Return the comparisons `found`, to which comparisons with the results of the program `other` are
    added.

    These must be within the limits of `found`, too. Raises `UsageError` if the numbers, shapes or
    dtypes of the programs' outputs differ.
    """
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
    element, value, expected = _first(np.isinf(errors), output, exact)
    mismatch = f"element {element} is {value:g}, but {expected:g} in --against"
    return replace(comparison, against_error=np.nan, mismatch=mismatch)


def _errors(output: Array, exact: Array, rounded: Array, jumped: Array) -> Array:
    """
    Return each element's distance to the exact result. Where `jumped` is true, return the distance
    to the exact result or the reference, whichever is smaller.
    """
    to_rounded = np.where(jumped, distances(output, rounded), np.inf)
    return np.minimum(distances(output, exact), to_rounded)


def _jumped(output: Array, rounded_errors: Array, cost: float) -> Array:
    """
    Return a mask of the elements where the reference may replace the exact result.

    It is true where the reference overflowed. It is also true where its error is far more than
    rounding, if this holds for less than half of the elements. For integers it is true everywhere.
    An error up to `MULTIPLE` times `MULTIPLE` counts as a bad order of a sum, not as a jump.
    """
    if not is_float(output):
        return np.ones(output.shape, np.bool_)
    known = np.isfinite(rounded_errors)
    jumped = known & (rounded_errors > MULTIPLE**2 * cost)
    return ~known | jumped if 2 * jumped.sum() < known.sum() else ~known


def _types_differ(output: Array, rounded: Array) -> str:
    """
    Return how an output's shape or dtype differs from the reference's; empty if both are equal.
    """
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
            element, found, expected = _first(differs, output, rounded)
            return f"element {element} is {found:g}, should be {expected:g}"
    return ""


def _first(where: Array, *arrays: Array) -> tuple[Any, ...]:
    """
    Return the subscripts of the first element where a mask is true, and the arrays' values there.
    """
    element = [int(i) for i in np.unravel_index(int(np.argmax(where)), where.shape)]
    return element, *(float(array[*element]) for array in arrays)
