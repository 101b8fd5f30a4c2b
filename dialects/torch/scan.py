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
    """Joins with each element all that stand before it along `dim`."""

    input = tensor()
    dim = integer()

    def scanned(self) -> tuple[int, ...]:
        """Return the input's shape, which the results have, once `dim` is found to be one of it."""
        shape = shape_of(self.input)
        wrap_dim(self.dim.value.data, len(shape))
        return shape


class ScanOp(ScanningOp, TensorOp):
    """A scan that gives one tensor."""

    def result_shape(self) -> tuple[int, ...]:
        return self.scanned()


class CumulativeOp(ScanOp):
    """Running sums or products, in `dtype`; of integers and bools in i64 if there is none."""

    dtype = opt_dtype()

    def result_element(self) -> Attribute:
        if self.dtype == i1:
            raise VerifyException(f"{self.name} gives numbers, not bools: give another dtype")
        return self.dtype or sum_type(element_of(self.input))


@torch_op("cumsum")
class CumsumOp(CumulativeOp):
    """
    The sum of each element and all before it.

        %1 = torch.cumsum %0 dim -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("cumprod")
class CumprodOp(CumulativeOp):
    """
    The product of each element and all before it.

        %1 = torch.cumprod %0 dim 0 : (tensor<4x8xi32>) -> tensor<4x8xi64>
    """


@torch_op("logcumsumexp")
class LogcumsumexpOp(ScanOp):
    """
    log(sum(exp(input))) of each element and all before it, computed without overflow.

        %1 = torch.logcumsumexp %0 dim 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    def result_element(self) -> Attribute:
        check_float(self, element_of(self.input))
        return element_of(self.input)


class RunningExtremumOp(ScanningOp):
    """The extreme of each element and all before it, and the last index at which it stands."""

    values = result_def(TENSOR)
    indices = result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        shape = self.scanned()
        return [TensorType(element_of(self.input), shape), TensorType(i64, shape)]


@torch_op("cummax")
class CummaxOp(RunningExtremumOp):
    """
    The largest of each element and all before it, and the last index at which it stands.

        %1, %2 = torch.cummax %0 dim 1 : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
    """


@torch_op("cummin")
class CumminOp(RunningExtremumOp):
    """
    The smallest of each element and all before it, and the last index at which it stands.

        %1, %2 = torch.cummin %0 dim 1 : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
    """
