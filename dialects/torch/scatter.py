# SPDX-License-Identifier: Apache-2.0
"""Torch ops that write each update to the position that an element of an index tensor names."""

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.indexing import (
    as_vector,
    check_index,
    check_reachable,
    check_within,
)
from tilewright.dialects.torch.op import (
    TensorOp,
    boolean,
    integer,
    number,
    tensor,
    text,
    torch_op,
)
from tilewright.dialects.torch.shapes import wrap_dim
from tilewright.dialects.types import element_of, shape_of

REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


class WritingOp(TensorOp):
    """Base class of ops that return a copy of their first operand with some elements written."""

    def result_shape(self) -> tuple[int, ...]:
        return shape_of(self.operands[0])

    def result_element(self) -> Attribute:
        return element_of(self.operands[0])

    def check_element(self, updates: SSAValue) -> None:
        """
        Raise `VerifyException` unless updates have the type of the tensor that they are written to.
        """
        if element_of(updates) != self.result_element():
            raise VerifyException(
                f"{element_of(updates)} is not written into {self.result_element()}: convert it"
            )


def check_reduction(reduce: StringAttr, element: Attribute, allowed: Sequence[str]) -> None:
    """
    Raise `VerifyException` unless PyTorch has the reduction `reduce` for updates of this type.
    """
    if reduce.data not in allowed:
        raise VerifyException(f'reduce "{reduce.data}" is none of {", ".join(allowed)}')
    if reduce.data == "mean" and element == i1:
        raise VerifyException("there is no mean of i1: convert it")


class ScatterLikeOp(WritingOp):
    """
    Base class of scatters: an update goes to its own coordinates, with `dim`'s coordinate read from
    index.
    """

    input = tensor()
    dim = integer()
    index = tensor()

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.index)
        input, index = shape_of(self.input), shape_of(self.index)
        dim = wrap_dim(self.dim.value.data, len(input))
        if 0 not in index:
            check_within(index, input, "the input", dim)
            check_reachable(as_vector(input)[dim], self.index)
        return input


class ScatterTensorOp(ScatterLikeOp):
    """
    Base class of scatters of a tensor src, of which the part within the index's shape is used.
    """

    src = tensor()

    def result_shape(self) -> tuple[int, ...]:
        self.check_element(self.src)
        index = shape_of(self.index)
        if 0 not in index:
            check_within(index, shape_of(self.src), "the source")
        return super().result_shape()


@torch_op("scatter.src")
class ScatterOp(ScatterTensorOp):
    """
    input with elements replaced by elements of src; of several updates of one element the last
    remains.

        %3 = torch.scatter.src %0, %1, %2 dim 1
            : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    """


@torch_op("scatter.value")
class ScatterValueOp(ScatterLikeOp):
    """
    input with the elements at index replaced by a number.

        %2 = torch.scatter.value %0, %1 dim 1 value 2.0
            : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>
    """

    value = number()


@torch_op("scatter.reduce")
class ScatterJoinOp(ScatterTensorOp):
    """
    input with elements of src added to, or multiplied into, its elements at index.

        %3 = torch.scatter.reduce %0, %1, %2 dim 1 reduce "add"
            : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    """

    reduce = text()

    def result_shape(self) -> tuple[int, ...]:
        check_reduction(self.reduce, self.result_element(), ("add", "multiply"))
        return super().result_shape()


@torch_op("scatter.value_reduce")
class ScatterValueJoinOp(ScatterLikeOp):
    """
    input with a number added to, or multiplied into, its elements at index.

        %2 = torch.scatter.value_reduce %0, %1 dim 1 value 2.0 reduce "multiply"
            : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x8xf32>
    """

    value = number()
    reduce = text()

    def result_shape(self) -> tuple[int, ...]:
        check_reduction(self.reduce, self.result_element(), ("add", "multiply"))
        return super().result_shape()


@torch_op("scatter_add")
class ScatterAddOp(ScatterTensorOp):
    """
    input with elements of src added to its elements at index.

        %3 = torch.scatter_add %0, %1, %2 dim 1
            : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    """


@torch_op("scatter_reduce.two")
class ScatterReduceOp(ScatterTensorOp):
    """
    input with elements of src combined into its elements at index, by the operation `reduce`.

    Without `include_self`, the old values of the written elements do not take part.

        %3 = torch.scatter_reduce.two %0, %1, %2 dim 1 reduce "amax" include_self false
            : (tensor<4x8xf32>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    """

    reduce = text()
    include_self = boolean(True)

    def result_shape(self) -> tuple[int, ...]:
        check_reduction(self.reduce, self.result_element(), REDUCTIONS)
        return super().result_shape()
