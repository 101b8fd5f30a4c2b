# SPDX-License-Identifier: Apache-2.0
"""Torch ops that map the elements of two broadcast tensors, or of a tensor and a number."""

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch_op import TensorOp, number, opt_text, tensor, torch_op
from tilewright.dialects.torch_promotion import promoted, promoted_to_float
from tilewright.dialects.torch_shapes import broadcast, shape_of


class BroadcastOp(TensorOp):
    """A function of the elements of its operands, broadcast to one shape."""

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        """The tensors and numbers whose types are promoted to one."""
        return self.operands

    def result_shape(self) -> tuple[int, ...]:
        return broadcast(*map(shape_of, self.operands))

    def result_element(self) -> Attribute:
        return promoted(*self.arguments())


class BinaryOp(BroadcastOp):
    """A function of two tensors."""

    input = tensor()
    other = tensor()


class ScalarOp(BroadcastOp):
    """A function of a tensor and a number."""

    input = tensor()
    other = number()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return self.input, self.other


@torch_op("add.Tensor")
class AddOp(BinaryOp):
    """
    input + alpha * other.

        %2 = torch.add %0, %1 alpha 2 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """

    alpha = number(1)


@torch_op("add.Scalar")
class AddScalarOp(ScalarOp):
    """
    input + alpha * other.

        %1 = torch.add.Scalar %0 other 1.0e-05 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """

    alpha = number(1)


@torch_op("sub.Tensor")
class SubOp(BinaryOp):
    """
    input - alpha * other.

        %2 = torch.sub %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """

    alpha = number(1)


@torch_op("sub.Scalar")
class SubScalarOp(ScalarOp):
    """
    input - alpha * other.

        %1 = torch.sub.Scalar %0 other 2 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """

    alpha = number(1)


@torch_op("rsub.Tensor")
class RsubOp(BinaryOp):
    """
    other - alpha * input.

        %2 = torch.rsub %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """

    alpha = number(1)


@torch_op("rsub.Scalar")
class RsubScalarOp(ScalarOp):
    """
    other - alpha * input.

        %1 = torch.rsub.Scalar %0 other 1 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """

    alpha = number(1)


@torch_op("mul.Tensor")
class MulOp(BinaryOp):
    """
    input * other.

        %2 = torch.mul %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """


@torch_op("mul.Scalar")
class MulScalarOp(ScalarOp):
    """
    input * other.

        %1 = torch.mul.Scalar %0 other 0.5 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """


@torch_op("div.Tensor")
class DivOp(BinaryOp):
    """
    input / other.

        %2 = torch.div %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """

    def result_element(self) -> Attribute:
        return promoted_to_float(*self.arguments())


@torch_op("div.Scalar")
class DivScalarOp(ScalarOp):
    """
    input / other.

        %1 = torch.div.Scalar %0 other 8.0 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """

    def result_element(self) -> Attribute:
        return promoted_to_float(*self.arguments())


def check_rounding_mode(mode: StringAttr | None) -> None:
    """Refuse a rounding mode that PyTorch does not have."""
    if mode is not None and mode.data not in ("floor", "trunc"):
        raise VerifyException(f'rounding_mode is "floor" or "trunc", not {mode}')


@torch_op("div.Tensor_mode")
class DivModeOp(BinaryOp):
    """
    input / other, rounded down ("floor") or toward zero ("trunc").

        %2 = torch.div.Tensor_mode %0, %1 rounding_mode "floor"
            : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    rounding_mode = opt_text()

    def result_shape(self) -> tuple[int, ...]:
        check_rounding_mode(self.rounding_mode)
        return super().result_shape()

    def result_element(self) -> Attribute:
        promote = promoted_to_float if self.rounding_mode is None else promoted
        return promote(*self.arguments())


@torch_op("div.Scalar_mode")
class DivScalarModeOp(ScalarOp):
    """
    input / other, rounded down ("floor") or toward zero ("trunc").

        %1 = torch.div.Scalar_mode %0 other 3 rounding_mode "trunc"
            : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    rounding_mode = opt_text()

    def result_shape(self) -> tuple[int, ...]:
        check_rounding_mode(self.rounding_mode)
        return super().result_shape()

    def result_element(self) -> Attribute:
        promote = promoted_to_float if self.rounding_mode is None else promoted
        return promote(*self.arguments())


@torch_op("pow.Tensor_Tensor")
class PowOp(BroadcastOp):
    """
    input to the power of exponent.

        %2 = torch.pow.Tensor_Tensor %0, %1 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    exponent = tensor()


@torch_op("pow.Tensor_Scalar")
class PowScalarOp(BroadcastOp):
    """
    input to the power of exponent.

        %1 = torch.pow.Tensor_Scalar %0 exponent 2 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """

    input = tensor()
    exponent = number()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return self.input, self.exponent


@torch_op("pow.Scalar")
class ScalarPowOp(BroadcastOp):
    """
    A number to the power of exponent.

        %1 = torch.pow.Scalar %0 input 2.0 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    """

    input = number()
    exponent = tensor()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return self.input, self.exponent


@torch_op("maximum")
class MaximumOp(BinaryOp):
    """
    The larger of both, NaN where either is NaN.

        %2 = torch.maximum %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """


@torch_op("minimum")
class MinimumOp(BinaryOp):
    """
    The smaller of both, NaN where either is NaN.

        %2 = torch.minimum %0, %1 : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
    """
