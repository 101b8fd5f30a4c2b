# SPDX-License-Identifier: Apache-2.0
"""Torch ops that map every element of one tensor by arithmetic: signs, rounding, units."""

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
    The absolute value.

        %1 = torch.abs %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("sign")
class SignOp(UnaryOp):
    """
    -1, 0 or 1, as input is below, at or above 0; 0 where it is NaN.

        %1 = torch.sign %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("sgn")
class SgnOp(UnaryOp):
    """
    What `sign` gives; it differs for complex numbers only.

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
    The largest integer that is not above input.

        %1 = torch.floor %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("ceil")
class CeilOp(NumberUnaryOp):
    """
    The smallest integer that is not below input.

        %1 = torch.ceil %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("trunc")
class TruncOp(NumberUnaryOp):
    """
    The integer part.

        %1 = torch.trunc %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("frac")
class FracOp(RealUnaryOp):
    """
    What `trunc` cuts off.

        %1 = torch.frac %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("round")
class RoundOp(NumberUnaryOp):
    """
    The nearest integer, halves to the even one.

        %1 = torch.round %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("round.decimals")
class RoundDecimalsOp(RealUnaryOp):
    """
    The nearest number of so many decimals; before the point where `decimals` is negative.

        %1 = torch.round.decimals %0 decimals 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    decimals = integer()


@torch_op("deg2rad")
class Deg2radOp(FloatUnaryOp):
    """
    Degrees as radians.

        %1 = torch.deg2rad %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("rad2deg")
class Rad2degOp(FloatUnaryOp):
    """
    Radians as degrees.

        %1 = torch.rad2deg %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("nan_to_num")
class NanToNumOp(UnaryOp):
    """
    NaN, inf and -inf replaced by numbers: 0, the largest and the smallest of the type by default.

        %1 = torch.nan_to_num %0 nan 1.0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    nan = opt_real()
    posinf = opt_real()
    neginf = opt_real()
