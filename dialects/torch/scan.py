# SPDX-License-Identifier: Apache-2.0
"""Torch ops that accumulate along a dimension."""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, i1, i64
from xdsl.ir import Attribute
from xdsl.irdl import result_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import (
    TENSOR,
    TensorOp,
    TorchOp,
    integer,
    opt_dtype,
    tensor,
    torch_op,
)
from tilewright.dialects.torch.promotion import sum_type
from tilewright.dialects.torch.reduction import check_float
from tilewright.dialects.torch.shapes import wrap_dim
from tilewright.dialects.types import element_of, shape_of


class ScanningOp(TorchOp):
    """
    Base class of inclusive scans: each element is combined with all elements before it along `dim`.
    """

    input = tensor()
    dim = integer()

    def scanned(self) -> tuple[int, ...]:
        """
        Return the shape of input and results; raise `VerifyException` unless `dim` is one of its
        dimensions.
        """
        shape = shape_of(self.input)
        wrap_dim(self.dim.value.data, len(shape))
        return shape


class ScanOp(ScanningOp, TensorOp):
    """Base class of scans with one tensor as their result."""

    def result_shape(self) -> tuple[int, ...]:
        return self.scanned()


class CumulativeOp(ScanOp):
    """
    Base class of running sums and products, computed in `dtype`; by default, integers and bools in
    i64.
    """

    dtype = opt_dtype()

    def result_element(self) -> Attribute:
        if self.dtype == i1:
            raise VerifyException(f"{self.name} gives numbers, not bools: give another dtype")
        return self.dtype or sum_type(element_of(self.input))


@torch_op("cumsum")
class CumsumOp(CumulativeOp):
    """
    The sum of each element and all elements before it along `dim`.

        %1 = torch.cumsum %0 dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("cumprod")
class CumprodOp(CumulativeOp):
    """
    The product of each element and all elements before it along `dim`.

        %1 = torch.cumprod %0 dim 0 : (tensor<4x8xi32>) -> tensor<4x8xi64>
    """


@torch_op("logcumsumexp")
class LogcumsumexpOp(ScanOp):
    """
    log(sum(exp(input))) of each element and all elements before it along `dim`, without overflow.

        %1 = torch.logcumsumexp %0 dim 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    def result_element(self) -> Attribute:
        check_float(self, element_of(self.input))
        return element_of(self.input)


class RunningExtremumOp(ScanningOp):
    """
    Base class of running extrema: the extreme element up to each position, and its last index up to
    there.
    """

    values = result_def(TENSOR)
    indices = result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        shape = self.scanned()
        return [TensorType(element_of(self.input), shape), TensorType(i64, shape)]


@torch_op("cummax")
class CummaxOp(RunningExtremumOp):
    """
    The largest element up to each position along `dim`, and its last index up to there.

        %1, %2 = torch.cummax %0 dim 1 : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
    """


@torch_op("cummin")
class CumminOp(RunningExtremumOp):
    """
    The smallest element up to each position along `dim`, and its last index up to there.

        %1, %2 = torch.cummin %0 dim 1 : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
    """
