# SPDX-License-Identifier: Apache-2.0
"""Torch ops that are elementary or special functions of each element of one tensor."""

from tilewright.dialects.torch.elementwise import FloatUnaryOp
from tilewright.dialects.torch.op import opt_real, torch_op


@torch_op("exp")
class ExpOp(FloatUnaryOp):
    """
    e to the power of input.

        %1 = torch.exp %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("exp2")
class Exp2Op(FloatUnaryOp):
    """
    2 to the power of input.

        %1 = torch.exp2 %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("expm1")
class Expm1Op(FloatUnaryOp):
    """
    exp(input) - 1, accurate also near 0.

        %1 = torch.expm1 %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("log")
class LogOp(FloatUnaryOp):
    """
    The natural logarithm of input.

        %1 = torch.log %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("log2")
class Log2Op(FloatUnaryOp):
    """
    The logarithm of input to base 2.

        %1 = torch.log2 %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("log10")
class Log10Op(FloatUnaryOp):
    """
    The logarithm of input to base 10.

        %1 = torch.log10 %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("log1p")
class Log1pOp(FloatUnaryOp):
    """
    log(1 + input), accurate also near 0.

        %1 = torch.log1p %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("sqrt")
class SqrtOp(FloatUnaryOp):
    """
    The square root of input.

        %1 = torch.sqrt %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("rsqrt")
class RsqrtOp(FloatUnaryOp):
    """
    1 / sqrt(input).

        %1 = torch.rsqrt %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("sin")
class SinOp(FloatUnaryOp):
    """
    The sine of input.

        %1 = torch.sin %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("cos")
class CosOp(FloatUnaryOp):
    """
    The cosine of input.

        %1 = torch.cos %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("tan")
class TanOp(FloatUnaryOp):
    """
    The tangent of input.

        %1 = torch.tan %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("asin")
class AsinOp(FloatUnaryOp):
    """
    The inverse sine of input.

        %1 = torch.asin %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("acos")
class AcosOp(FloatUnaryOp):
    """
    The inverse cosine of input.

        %1 = torch.acos %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("atan")
class AtanOp(FloatUnaryOp):
    """
    The inverse tangent of input.

        %1 = torch.atan %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("sinh")
class SinhOp(FloatUnaryOp):
    """
    The hyperbolic sine of input.

        %1 = torch.sinh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("cosh")
class CoshOp(FloatUnaryOp):
    """
    The hyperbolic cosine of input.

        %1 = torch.cosh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("tanh")
class TanhOp(FloatUnaryOp):
    """
    The hyperbolic tangent of input.

        %1 = torch.tanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("asinh")
class AsinhOp(FloatUnaryOp):
    """
    The inverse hyperbolic sine of input.

        %1 = torch.asinh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("acosh")
class AcoshOp(FloatUnaryOp):
    """
    The inverse hyperbolic cosine of input.

        %1 = torch.acosh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("atanh")
class AtanhOp(FloatUnaryOp):
    """
    The inverse hyperbolic tangent of input.

        %1 = torch.atanh %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("erf")
class ErfOp(FloatUnaryOp):
    """
    The Gauss error function of input.

        %1 = torch.erf %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("erfc")
class ErfcOp(FloatUnaryOp):
    """
    1 - erf(input), accurate also where erf is nearly 1.

        %1 = torch.erfc %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("sigmoid")
class SigmoidOp(FloatUnaryOp):
    """
    1 / (1 + exp(-input)).

        %1 = torch.sigmoid %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("logit")
class LogitOp(FloatUnaryOp):
    """
    log(input / (1 - input)); with `eps`, input is clamped to [eps, 1 - eps].

        %1 = torch.logit %0 eps 1.0e-06 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    eps = opt_real()
