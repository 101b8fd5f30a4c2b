# SPDX-License-Identifier: Apache-2.0
"""The number of instructions of a scalar op; special functions are short programs."""

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

from tilewright.dialects.kernel.matrix import HalveTf32Op, MatrixMultiplyOp, NearestFiniteOp
from tilewright.dialects.monoid import Monoid

_INSTRUCTIONS: dict[type[Operation], int] = {
    arith.ConstantOp: 0,
    arith.DivfOp: 8,
    math.SqrtOp: 8,
    math.RsqrtOp: 4,
    math.ExpOp: 8,
    math.LogOp: 12,
    math.TanhOp: 24,
    math.ErfOp: 24,
    math.PowFOp: 64,
}


_DIALECTS = ("arith.", "math.", "scalar.")
"""Dialects whose ops compute one value from others."""


def is_computation(op: Operation) -> bool:
    """True if `op` computes a value, rather than load, store, loop or name an index."""
    return op.name.startswith(_DIALECTS)


def instructions(op: Operation) -> int:
    """
    Return the instructions of a scalar op; an op that is not in the table is one instruction. The
    exponential that may be approximate is a product and a special function.
    """
    if isinstance(op, math.ExpOp) and FastMathFlag.APPROX_FUNC in op.fastmath.data:
        return 2
    return _INSTRUCTIONS.get(type(op), 1)


TOGETHER = 16
"""Usual number of elements that a thread joins at once if a join is expensive."""

_JOINS: dict[Monoid, tuple[int, int]] = {Monoid.SOFTMAX: (13, 22), Monoid.MOMENTS: (9, 22)}
"""
Expensive joins: instructions for each of many elements that are joined at once, and of a join. A
join by `softmax` has two exponentials, one by `moments` a division.
"""


def is_expensive(monoid: Monoid) -> bool:
    """True if a join by `monoid` takes more instructions than elements that are joined at once."""
    return monoid in _JOINS


def joining(monoid: Monoid, together: int = 1) -> float:
    """Return the instructions for each of `together` elements that are joined at once."""
    if monoid not in _JOINS:
        return 1
    each, join = _JOINS[monoid]
    return join if together == 1 else each + join / together


def flops(op: Operation) -> int:
    """
    Return the floating-point operations of `op`; a special function counts as its instructions.
    Loads, indices and constants count 0.
    """
    if isinstance(op, math.FmaOp):
        return 2
    if isinstance(op, MatrixMultiplyOp):
        return 2 * op.products
    if isinstance(op, HalveTf32Op | NearestFiniteOp):
        return 1
    if not isinstance(op, arith.ConstantOp) and op.name.startswith(("arith.", "math.")):
        return instructions(op) if isinstance(op.results[0].type, AnyFloat) else 0
    return 0
