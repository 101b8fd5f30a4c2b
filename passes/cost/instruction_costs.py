# SPDX-License-Identifier: Apache-2.0
"""The number of instructions of a scalar op; special functions are short programs."""

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

from tilewright.dialects.kernel.matrix import MatrixMultiplyOp
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


def joining(monoid: Monoid, values: int) -> int:
    """
    Return the instructions that join `values` values by `monoid`. A join by `softmax` weights both
    sides by an exponential; one by `moments` divides by a count.
    """
    if monoid is Monoid.SOFTMAX:
        return 2 + 2 * (1 + _INSTRUCTIONS[math.ExpOp]) + 2 * (values - 1)
    return 14 + _INSTRUCTIONS[arith.DivfOp] if monoid is Monoid.MOMENTS else 1


def flops(op: Operation) -> int:
    """
    Return the floating-point operations of `op`; a special function counts as its instructions.
    Loads, indices and constants count 0.
    """
    if isinstance(op, math.FmaOp):
        return 2
    if isinstance(op, MatrixMultiplyOp):
        return 2 * op.products
    if not isinstance(op, arith.ConstantOp) and op.name.startswith(("arith.", "math.")):
        return instructions(op) if isinstance(op.results[0].type, AnyFloat) else 0
    return 0
