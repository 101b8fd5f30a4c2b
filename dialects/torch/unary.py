# SPDX-License-Identifier: Apache-2.0
"""Torch ops of simple arithmetic on each element of one tensor: signs, rounding, units."""

from tilewright.dialects.torch.elementwise import (
    FloatUnaryOp,
    NumberUnaryOp,
    RealUnaryOp,
    UnaryOp,
)
from tilewright.dialects.torch.op import integer, opt_real, torch_op


@torch_op("neg")
class NegOp(NumberUnaryOp):
    """
    -input.

        %1 = torch.neg %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("abs")
class AbsOp(NumberUnaryOp):
    """
    The absolute value of input.

        %1 = torch.abs %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("sign")
class SignOp(UnaryOp):
    """
    The sign of input as -1, 0 or 1; 0 where it is NaN.

        %1 = torch.sign %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("sgn")
class SgnOp(UnaryOp):
    """
    The sign of input, equal to `sign` except for complex numbers.

        %1 = torch.sgn %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("reciprocal")
class ReciprocalOp(FloatUnaryOp):
    """
    1 / input.

        %1 = torch.reciprocal %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("floor")
class FloorOp(NumberUnaryOp):
    """
    The largest integer that is at most input.

        %1 = torch.floor %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("ceil")
class CeilOp(NumberUnaryOp):
    """
    The smallest integer that is at least input.

        %1 = torch.ceil %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("trunc")
class TruncOp(NumberUnaryOp):
    """
    The integer part of input.

        %1 = torch.trunc %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("frac")
class FracOp(RealUnaryOp):
    """
    The fractional part, input - trunc(input).

        %1 = torch.frac %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("round")
class RoundOp(NumberUnaryOp):
    """
    The integer nearest to input; ties round to the even one.

        %1 = torch.round %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("round.decimals")
class RoundDecimalsOp(RealUnaryOp):
    """
    input rounded to `decimals` decimal places; a negative number rounds left of the decimal point.

        %1 = torch.round.decimals %0 decimals 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    decimals = integer()


@torch_op("deg2rad")
class Deg2radOp(FloatUnaryOp):
    """
    input converted from degrees to radians.

        %1 = torch.deg2rad %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("rad2deg")
class Rad2degOp(FloatUnaryOp):
    """
    input converted from radians to degrees.

        %1 = torch.rad2deg %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("nan_to_num")
class NanToNumOp(UnaryOp):
    """
    input with NaN, inf and -inf replaced; by default with 0 and the type's largest and smallest
    number.

        %1 = torch.nan_to_num %0 nan 1.0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    nan = opt_real()
    posinf = opt_real()
    neginf = opt_real()
