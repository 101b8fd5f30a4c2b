# SPDX-License-Identifier: Apache-2.0
"""
Division rounded down, as Python and PyTorch have it, in scalar operations.

It is not `floor(a / b)`: 1 / 0.1 is just below 10 in float32, since float32's 0.1 is above a tenth,
but the quotient rounds up to 10. What remains of `a` tells: `fma(-10, 0.1, 1)` is negative, so that
10 is one too many. (PyTorch and Python get the same from fmod.)
"""

from collections.abc import Callable

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr
from xdsl.ir import Operation, SSAValue

Add = Callable[[Operation], SSAValue]


def floor_divide(add: Add, a: SSAValue, b: SSAValue) -> SSAValue:
    """
    The largest integer up to `a / b`, from ops added by `add`. By zero it is `a / b`; of an
    infinite `a` by anything else it is NaN.
    """
    type = a.type
    assert isinstance(type, AnyFloat)
    zero = add(arith.ConstantOp(FloatAttr(0.0, type)))
    one = add(arith.ConstantOp(FloatAttr(1.0, type)))
    floor = add(math.FloorOp(add(arith.DivfOp(a, b))))
    rest = _rest(add, a, b, floor, zero)

    too_low = add(arith.CmpfOp(rest, zero, "olt"))
    too_high = add(arith.CmpfOp(rest, zero, "ogt"))
    is_below = add(arith.CmpfOp(b, zero, "olt"))
    overshot = add(arith.SelectOp(is_below, too_high, too_low))
    exact = add(arith.SelectOp(overshot, add(arith.SubfOp(floor, one)), floor))

    is_invalid = add(arith.CmpfOp(rest, rest, "uno"))
    by_zero = add(arith.CmpfOp(b, zero, "oeq"))
    checked = add(arith.SelectOp(is_invalid, rest, exact))
    return add(arith.SelectOp(by_zero, floor, checked))


def _rest(add: Add, a: SSAValue, b: SSAValue, floor: SSAValue, zero: SSAValue) -> SSAValue:
    """`a - floor * b`, its sign exact; just `a` where `floor` is 0, also by an infinite `b`."""
    is_zero = add(arith.CmpfOp(floor, zero, "oeq"))
    subtracted = add(math.FmaOp(add(arith.NegfOp(floor)), b, a))
    return add(arith.SelectOp(is_zero, a, subtracted))
