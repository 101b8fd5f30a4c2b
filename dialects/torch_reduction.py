# SPDX-License-Identifier: Apache-2.0
"""Torch ops that reduce dimensions, and those that normalise along them."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch_op import (
    TensorOp,
    boolean,
    integer,
    integers,
    opt_dtype,
    opt_integers,
    opt_real,
    opt_tensor,
    real,
    tensor,
    torch_op,
)
from tilewright.dialects.torch_promotion import sum_type
from tilewright.dialects.torch_shapes import element_of, shape_of, shown, wrap_dim, wrap_dims

# --- Reductions ------------------------------------------------------------------------------


class FullReductionOp(TensorOp):
    """A reduction of all dimensions."""

    input = tensor()
    dtype = opt_dtype()

    def result_shape(self) -> tuple[int, ...]:
        return ()


def reduced_dims(shape: Sequence[int], dim: DenseArrayBase[IntegerType] | None) -> tuple[int, ...]:
    """
    The dimensions that `dim` names, from the front and in order; none or empty means all. A scalar
    has none, though `dim` may name one.
    """
    named = wrap_dims(dim.get_values() if dim is not None else (), len(shape))
    return tuple(sorted(named)) if named and shape else tuple(range(len(shape)))


def _reduced_shape(
    shape: tuple[int, ...], dim: DenseArrayBase[IntegerType] | None, keepdim: IntegerAttr
) -> tuple[int, ...]:
    dims = reduced_dims(shape, dim)
    if keepdim.value.data:
        return tuple(1 if i in dims else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in dims)


class SumLikeOp(TensorOp):
    """A reduction of the dimensions `dim`; all of them if it is absent or empty."""

    input = tensor()
    dim = opt_integers()
    keepdim = boolean(False)
    dtype = opt_dtype()

    def result_shape(self) -> tuple[int, ...]:
        return _reduced_shape(shape_of(self.input), self.dim, self.keepdim)


def summed_element(op: FullReductionOp | SumLikeOp) -> Attribute:
    """The element type of a sum: `dtype`, or the input's where that is a float, else i64."""
    return op.dtype or sum_type(element_of(op.input))


class ExtremeOp(TensorOp):
    """The extreme element along the dimensions `dim`; along all of them if it is empty."""

    input = tensor()
    dim = integers(())
    keepdim = boolean(False)

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        if any(shape[i] == 0 for i in reduced_dims(shape, self.dim)):
            raise VerifyException(f"{self.name} of no elements has no value: {shown(shape)}")
        return _reduced_shape(shape, self.dim, self.keepdim)


@torch_op("sum")
class SumOp(FullReductionOp):
    """
    The sum of all elements.

        %1 = torch.sum %0 : (tensor<4x8xf32>) -> tensor<f32>
    """

    def result_element(self) -> Attribute:
        return summed_element(self)


@torch_op("sum.dim_IntList")
class SumDimOp(SumLikeOp):
    """
    The sum along dimensions.

        %1 = torch.sum.dim_IntList %0 dim [-1] keepdim true : (tensor<4x8xf32>) -> tensor<4x1xf32>
    """

    def result_element(self) -> Attribute:
        return summed_element(self)


@torch_op("mean")
class MeanOp(FullReductionOp):
    """
    The mean of all elements.

        %1 = torch.mean %0 : (tensor<4x8xf32>) -> tensor<f32>
    """


@torch_op("mean.dim")
class MeanDimOp(SumLikeOp):
    """
    The mean along dimensions.

        %1 = torch.mean.dim %0 dim [0, 2] : (tensor<2x4x8xf32>) -> tensor<4xf32>
    """


@torch_op("amax")
class AmaxOp(ExtremeOp):
    """
    The largest element, NaN if there is one.

        %1 = torch.amax %0 dim [1] : (tensor<4x8xf32>) -> tensor<4xf32>
    """


@torch_op("amin")
class AminOp(ExtremeOp):
    """
    The smallest element, NaN if there is one.

        %1 = torch.amin %0 : (tensor<4x8xf32>) -> tensor<f32>
    """


# --- Normalisations --------------------------------------------------------------------------


@torch_op("softmax.int")
class SoftmaxOp(TensorOp):
    """
    exp(input) over its sum along `dim`.

        %1 = torch.softmax.int %0 dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    dim = integer()
    dtype = opt_dtype()

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        wrap_dim(self.dim.value.data, len(shape))
        return shape


class NormOp(TensorOp):
    """A normalisation over the last dimensions, whose sizes are `normalized_shape`."""

    def normalized(
        self, input: SSAValue, sizes: DenseArrayBase[IntegerType], *affine: SSAValue | None
    ) -> tuple[int, ...]:
        """The input's shape, once its tail and the affine operands match `sizes`."""
        shape, tail = shape_of(input), tuple(sizes.get_values())
        if not tail or shape[-len(tail) :] != tail:
            raise VerifyException(
                f"normalized_shape {list(tail)} is not the last sizes of {shown(shape)}"
            )
        for operand in affine:
            if operand is not None and shape_of(operand) != tail:
                raise VerifyException(
                    f"weight and bias have shape {shown(tail)}, not {shown(shape_of(operand))}"
                )
        return shape


@torch_op("rms_norm")
class RmsNormOp(NormOp):
    """
    input / sqrt(mean(input^2) + eps) * weight; an absent eps is the dtype's own.

        %2 = torch.rms_norm %0 normalized_shape [8] weight %1 eps 1.0e-05
            : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    normalized_shape = integers()
    weight = opt_tensor()
    eps = opt_real()

    def result_shape(self) -> tuple[int, ...]:
        return self.normalized(self.input, self.normalized_shape, self.weight)


@torch_op("layer_norm")
class LayerNormOp(NormOp):
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
        return self.normalized(self.input, self.normalized_shape, self.weight, self.bias)
