# SPDX-License-Identifier: Apache-2.0
"""Torch ops that normalise along dimensions by statistics of the input: softmax, layer norm."""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import result_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import compute_type
from tilewright.dialects.torch.op import (
    TENSOR,
    TensorOp,
    TorchOp,
    boolean,
    integer,
    integers,
    opt_dtype,
    opt_real,
    opt_tensor,
    real,
    tensor,
    torch_op,
)
from tilewright.dialects.torch.reduction import check_float
from tilewright.dialects.torch.shapes import shown, wrap_dim
from tilewright.dialects.types import element_of, shape_of

# --- Softmax ---------------------------------------------------------------------------------


class SoftmaxLikeOp(TensorOp):
    """Base class of softmax along the dimension `dim`, and of its logarithm."""

    input = tensor()
    dim = integer()

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        wrap_dim(self.dim.value.data, len(shape))
        return shape

    def result_element(self) -> Attribute:
        element = self.properties.get("dtype") or element_of(self.input)
        check_float(self, element)
        return element


class CoreSoftmaxOp(SoftmaxLikeOp):
    """
    Base class of softmax ops of core ATen; `half_to_float`, which no CPU supports, must be false.
    """

    dim = integer()
    half_to_float = boolean()

    def result_element(self) -> Attribute:
        if self.half_to_float.value.data:
            raise VerifyException("half_to_float must be false: use softmax.int with dtype f32")
        return super().result_element()


@torch_op("softmax.int")
class SoftmaxOp(SoftmaxLikeOp):
    """
    exp(input) divided by its sum along `dim`.

        %1 = torch.softmax.int %0 dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    dtype = opt_dtype()


@torch_op("_softmax")
class SoftmaxCoreOp(CoreSoftmaxOp):
    """
    exp(input) divided by its sum along `dim`, under its name in core ATen.

        %1 = torch._softmax %0 dim -1 half_to_float false : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("_safe_softmax")
class SafeSoftmaxOp(SoftmaxLikeOp):
    """
    exp(input) divided by its sum along `dim`; 0 where all inputs along `dim` are -inf.

        %1 = torch._safe_softmax %0 dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    dtype = opt_dtype()


@torch_op("log_softmax.int")
class LogSoftmaxOp(SoftmaxLikeOp):
    """
    input - log(sum(exp(input))) along `dim`.

        %1 = torch.log_softmax.int %0 dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    dtype = opt_dtype()


@torch_op("_log_softmax")
class LogSoftmaxCoreOp(CoreSoftmaxOp):
    """
    input - log(sum(exp(input))) along `dim`, under its name in core ATen.

        %1 = torch._log_softmax %0 dim 0 half_to_float false : (tensor<8xf32>) -> tensor<8xf32>
    """


# --- Layer and RMS norm, over the last dimensions --------------------------------------------


class NormOp(TorchOp):
    """
    Base class of normalisations to variance 1 or mean square 1, then scaled by `weight` and shifted
    by `bias`.

    Statistics of half types are computed in f32.
    """

    def check_parameters(self, input: SSAValue, *parameters: SSAValue | None) -> None:
        """
        Raise `VerifyException` unless parameters have the input's type, or f32 if that is narrower.
        """
        element = element_of(input)
        check_float(self, element)
        given = {element_of(parameter) for parameter in parameters if parameter is not None}
        if len(given) > 1 or not given <= {element, compute_type(element)}:
            raise VerifyException(
                f"weight, bias and statistics are all {element} like the input"
                + (f", or all {f32}" if compute_type(element) != element else "")
            )

    def statistics_element(self, input: SSAValue, *parameters: SSAValue | None) -> Attribute:
        """
        Return the type of the statistics among the results: the parameters' type, or the input's.
        """
        given = [element_of(parameter) for parameter in parameters if parameter is not None]
        return given[0] if given else element_of(input)


class TailNormOp(NormOp):
    """Base class of normalisations over the last dimensions, whose sizes are `normalized_shape`."""

    input = tensor()
    normalized_shape = integers()

    def normalized_dims(self) -> range:
        """Return the dimensions that are normalised."""
        rank = len(shape_of(self.input))
        return range(rank - len(self.normalized_shape.get_values()), rank)

    def normalized(self, *affine: SSAValue | None) -> tuple[int, ...]:
        """
        Return the input's shape.

        Raises `VerifyException` unless its last sizes and the affine operands match
        `normalized_shape`.
        """
        shape, tail = shape_of(self.input), tuple(self.normalized_shape.get_values())
        if not tail or shape[-len(tail) :] != tail:
            raise VerifyException(
                f"normalized_shape {list(tail)} must equal the last sizes of {shown(shape)}"
            )
        for operand in affine:
            if operand is not None and shape_of(operand) != tail:
                raise VerifyException(
                    f"weight and bias have shape {shown(tail)}, not {shown(shape_of(operand))}"
                )
        return shape

    def statistics_shape(self) -> tuple[int, ...]:
        """Return the shape of the statistics: the input's, with normalised dimensions of size 1."""
        shape, dims = shape_of(self.input), self.normalized_dims()
        return tuple(1 if i in dims else size for i, size in enumerate(shape))


@torch_op("rms_norm")
class RmsNormOp(TailNormOp, TensorOp):
    """
    input / sqrt(mean(input^2) + eps) * weight; eps defaults to the epsilon of the computation's
    type.

        %2 = torch.rms_norm %0 normalized_shape [8] weight %1 eps 1.0e-05
            : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    normalized_shape = integers()
    weight = opt_tensor()
    eps = opt_real()

    def result_shape(self) -> tuple[int, ...]:
        return self.normalized(self.weight)

    def result_element(self) -> Attribute:
        check_float(self, element_of(self.input))
        return element_of(self.input)


@torch_op("_fused_rms_norm")
class FusedRmsNormOp(TailNormOp):
    """
    rms_norm, and 1 / sqrt(mean(input^2) + eps).

        %1, %2 = torch._fused_rms_norm %0 normalized_shape [8]
            : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>)
    """

    input = tensor()
    normalized_shape = integers()
    weight = opt_tensor()
    eps = opt_real()
    normed = result_def(TENSOR)
    rstd = result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        element = element_of(self.input)
        check_float(self, element)
        rstd = TensorType(compute_type(element), self.statistics_shape())
        return [TensorType(element, self.normalized(self.weight)), rstd]


@torch_op("layer_norm")
class LayerNormOp(TailNormOp, TensorOp):
    """
    (input - mean) / sqrt(variance + eps) * weight + bias.

        %3 = torch.layer_norm %0 normalized_shape [8] weight %1 bias %2
            : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    normalized_shape = integers()
    weight = opt_tensor()
    bias = opt_tensor()
    eps = real(1e-5)
    cudnn_enable = boolean(True)

    def result_shape(self) -> tuple[int, ...]:
        return self.normalized(self.weight, self.bias)

    def result_element(self) -> Attribute:
        self.check_parameters(self.input, self.weight, self.bias)
        return element_of(self.input)


@torch_op("native_layer_norm")
class NativeLayerNormOp(TailNormOp):
    """
    layer_norm, the mean, and 1 / sqrt(variance + eps).

        %1, %2, %3 = torch.native_layer_norm %0 normalized_shape [8] eps 1.0e-05
            : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
    """

    input = tensor()
    normalized_shape = integers()
    weight = opt_tensor()
    bias = opt_tensor()
    eps = real()
    normed = result_def(TENSOR)
    mean = result_def(TENSOR)
    rstd = result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        affine = self.weight, self.bias
        self.check_parameters(self.input, *affine)
        normed = TensorType(element_of(self.input), self.normalized(*affine))
        element = self.statistics_element(self.input, *affine)
        statistic = TensorType(element, self.statistics_shape())
        return [normed, statistic, statistic]
