# SPDX-License-Identifier: Apache-2.0
"""Torch ops that sum a function of the elements: variances, norms, log-sum-exp."""

from collections.abc import Sequence
from math import inf, isnan

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.irdl import result_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import (
    TENSOR,
    boolean,
    integers,
    number,
    opt_dtype,
    opt_integers,
    opt_number,
    python_value,
    torch_op,
)
from tilewright.dialects.torch.promotion import promoted_to_float, promoted_types
from tilewright.dialects.torch.reduction import ReducingOp, ReductionOp, check_float
from tilewright.dialects.types import element_of, shape_of

# --- Variances -------------------------------------------------------------------------------


class VarianceOp(ReductionOp):
    """
    Base class of variances and standard deviations.

    The divisor is the number of elements minus `correction`, which is 1 by default.
    """

    dim = opt_integers()
    correction = opt_number()
    keepdim = boolean(False)

    def result_element(self) -> Attribute:
        check_float(self, element_of(self.input))
        return element_of(self.input)


class VarianceMeanOp(ReducingOp):
    """Base class of ops that return a variance or standard deviation, and the mean."""

    dim = opt_integers()
    correction = opt_number()
    keepdim = boolean(False)
    variance = result_def(TENSOR)
    mean = result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        check_float(self, element_of(self.input))
        type = TensorType(element_of(self.input), self.reduced_shape())
        return [type, type]


@torch_op("var.correction")
class VarOp(VarianceOp):
    """
    The variance along dimensions `dim`, with divisor: their size minus `correction`, by default 1.

        %1 = torch.var.correction %0 dim [1] correction 0 : (tensor<4x8xf32>) -> tensor<4xf32>
    """


@torch_op("std.correction")
class StdOp(VarianceOp):
    """
    The standard deviation along dimensions `dim`.

        %1 = torch.std.correction %0 : (tensor<4x8xf32>) -> tensor<f32>
    """


@torch_op("var_mean.correction")
class VarMeanOp(VarianceMeanOp):
    """
    The variance and the mean along dimensions `dim`.

        %1, %2 = torch.var_mean.correction %0 dim [1]
            : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    """


@torch_op("std_mean.correction")
class StdMeanOp(VarianceMeanOp):
    """
    The standard deviation and the mean along dimensions `dim`.

        %1, %2 = torch.std_mean.correction %0 dim [1]
            : (tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    """


# --- Norms -----------------------------------------------------------------------------------


@torch_op("linalg_vector_norm")
class VectorNormOp(ReductionOp):
    """
    (sum |input|^ord)^(1/ord); the largest |input| for inf, the smallest for -inf, the nonzero count
    for 0.

        %1 = torch.linalg_vector_norm %0 ord 3.5 dim [-1] : (tensor<4x8xf32>) -> tensor<4xf32>
    """

    ord = number(2)
    dim = opt_integers()
    keepdim = boolean(False)
    dtype = opt_dtype()

    def result_element(self) -> Attribute:
        element = element_of(self.input)
        check_float(self, element)
        if self.dtype is None:
            return element
        if promoted_types(element, self.dtype) != self.dtype:
            raise VerifyException(f"dtype {self.dtype} is narrower than the input's {element}")
        return self.dtype

    def reduced(self) -> tuple[int, ...]:
        ord, reduced = python_value(self.ord), super().reduced()
        assert isinstance(ord, int | float)
        if isnan(ord):
            raise VerifyException("ord is a number, inf or -inf, not nan")
        shape = shape_of(self.input)
        if (ord < 0 or ord == inf) and any(shape[dim] == 0 for dim in reduced):
            raise VerifyException(f"the norm of order {ord} of no elements has no value")
        return reduced


@torch_op("logsumexp")
class LogsumexpOp(ReductionOp):
    """
    log(sum(exp(input))) along dimensions `dim`, computed without overflow.

        %1 = torch.logsumexp %0 dim [-1] : (tensor<4x8xf32>) -> tensor<4xf32>
    """

    dim = integers()
    keepdim = boolean(False)

    def reduced(self) -> tuple[int, ...]:
        if shape_of(self.input) and not self.dim.get_values():
            raise VerifyException("logsumexp needs dimensions: name them all in dim")
        return super().reduced()

    def result_element(self) -> Attribute:
        return promoted_to_float(self.input)
