# SPDX-License-Identifier: Apache-2.0
"""
When a result is right: its error is at most `MULTIPLE` times what float32 costs anyone.

The error is the largest distance to the results in float64. What float32 costs is the largest of

- the error of whom we trust (PyTorch, or the interpreter) in float32, for the same inputs;
- how far the exact results move when each value on the way is rounded once, by 2^-24 of itself up
  or down at random: the inputs, and of an expression the result of each of its operations. No
  program can be expected to do better than values that are no better than that;
- half the spacing of float32 at the largest result.

The second is there because the error of a single sum is a matter of luck: PyTorch's may be zero.

Luck, and long sums added one term after the other, may still take a right program beyond that. Then
its own rounding counts: how far its Kernel IR in float32 is from the same Kernel IR in float64, as
interpreted. That tells rounding from mistakes, which both have. Twice this is allowed, within
another `MULTIPLE`: an algorithm that loses far more digits than PyTorch's is wrong.

Infinities and NaN must stand where those of whom we trust stand. Integers must be equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.errors import UsageError
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import TooLargeError
from tilewright.tools.program import Program

Array = NDArray[Any]

MULTIPLE = 8
"""Different orders of a sum, and functions such as `expf` within some units in the last place."""

_SPACING = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 2.0**-52}


@dataclass(frozen=True)
class Comparison:
    """One output and how far it is off; errors are None where infinities or NaN do not match."""

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
    """Where infinities or NaN do not match; empty if they do."""

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
    kernel_ir: ModuleOp | None = None,
) -> list[Comparison]:
    """How each output compares with what it should be; `kernel_ir` is what its kernels say."""
    if program.exact is None:
        return [Comparison(o.shape, str(o.dtype), None, None, None, None, "") for o in outputs]
    exact, rounded = program.exact(inputs), program.rounded(inputs)
    moves = _moves(program, inputs, outputs)
    others = [None] * len(outputs) if program.against is None else program.against(inputs)
    if len(others) != len(outputs):
        raise UsageError(f"the program has {len(outputs)} outputs, --against has {len(others)}")
    rows = zip(outputs, exact, rounded, others, moves, strict=True)
    found = [_compare_one(*row) for row in rows]
    if kernel_ir is None or not any(c.reason and not c.mismatch for c in found):
        return found
    if (own := _own_rounding(kernel_ir, inputs)) is None:
        return found
    return [_allowing(c, error) for c, error in zip(found, own, strict=True)]


def _own_rounding(kernel_ir: ModuleOp, inputs: Sequence[Array]) -> list[float] | None:
    """
    How far each result of the kernels is off by rounding alone, in the order they add in; None
    where that is too much to interpret.
    """
    try:
        rounded = interpret(kernel_ir, *inputs)
        exact = interpret(kernel_ir, *inputs, dtype=np.float64)
    except TooLargeError:
        return None
    return [_distance(a, b) for a, b in zip(rounded, exact, strict=True)]


def _allowing(comparison: Comparison, own: float) -> Comparison:
    limit = comparison.limit or 0.0
    return replace(comparison, limit=max(limit, min(2 * own, MULTIPLE * limit)))


def _compare_one(
    output: Array, exact: Array, rounded: Array, other: Array | None, move: float
) -> Comparison:
    if other is not None and other.shape != output.shape:
        raise UsageError(f"an output is {output.shape}, but {other.shape} in --against")
    rounded_error = _distance(rounded, exact)
    floor = _largest(exact) * _SPACING.get(output.dtype, 0.0) / 2
    limit = 0.0 if output.dtype.kind != "f" else MULTIPLE * max(rounded_error, move, floor)
    mismatch = _special_values_differ(output, rounded)
    error = None if mismatch else _distance(output, exact)
    against_error = None if other is None or mismatch else _distance(output, other)
    return Comparison(
        output.shape, str(output.dtype), error, rounded_error, against_error, limit, mismatch
    )


def _moves(program: Program, inputs: Sequence[Array], outputs: Sequence[Array]) -> list[float]:
    """
    How far each result moves by a rounding of every value.

    Both runs are on the same side of the values, so that a jump at a value itself, as `floor` has
    at integers, does not count as movement.
    """
    if not any(output.dtype.kind == "f" for output in outputs):
        return [0.0] * len(outputs)
    near, far = (program.disturbed(inputs, relative) for relative in (2.0**-25, 2.0**-24))
    return [2 * _distance(a, b) for a, b in zip(near, far, strict=True)]


def _special_values_differ(output: Array, rounded: Array) -> str:
    if output.dtype.kind != "f":
        return ""
    for test in (np.isnan, np.isposinf, np.isneginf):
        differs = test(output) != test(rounded)
        if differs.any():
            element = [int(i) for i in np.unravel_index(int(np.argmax(differs)), output.shape)]
            return f"element {element} is {output[*element]:g}, should be {rounded[*element]:g}"
    return ""


def _distance(output: Array, exact: Array) -> float:
    """The largest distance among elements that are finite in both."""
    one, two = output.astype(np.float64), exact.astype(np.float64)
    finite = np.isfinite(one) & np.isfinite(two)
    return float(np.abs(one[finite] - two[finite]).max(initial=0.0))


def _largest(exact: Array) -> float:
    values = exact.astype(np.float64)
    return float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
