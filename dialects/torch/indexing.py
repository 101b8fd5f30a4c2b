# SPDX-License-Identifier: Apache-2.0
"""Torch ops that read elements at subscripts given by index tensors."""

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import (
    TensorOp,
    boolean,
    integer,
    integers,
    opt_integer,
    tensor,
    tensors,
    torch_op,
)
from tilewright.dialects.torch.shapes import broadcast, shown, wrap_dim
from tilewright.dialects.types import element_of, shape_of

# --- Rules that reading and writing share ----------------------------------------------------


def check_index(index: SSAValue, *elements: Attribute) -> None:
    """
    Raise `VerifyException` unless the element type of the subscripts `index` is one of `elements`,
    by default i32 or i64.
    """
    allowed = elements or (i32, i64)
    if element_of(index) not in allowed:
        types = " or ".join(map(str, allowed))
        raise VerifyException(f"subscripts are {types} here, not {element_of(index)}")


def check_reachable(size: int, index: SSAValue) -> None:
    """
    Raise `VerifyException` if `index` holds subscripts into a dimension of size 0, which are always
    out of bounds.
    """
    if size == 0 and prod(shape_of(index)):
        raise VerifyException(
            f"the index of shape {shown(shape_of(index))} names elements of a dimension of size 0"
        )


def check_vector(index: SSAValue) -> int:
    """
    Return the number of subscripts; raise `VerifyException` unless `index` is a vector or a scalar.
    """
    if len(shape_of(index)) > 1:
        raise VerifyException(f"the index is a vector or a scalar, not {shown(shape_of(index))}")
    return prod(shape_of(index))


def as_vector(shape: tuple[int, ...]) -> tuple[int, ...]:
    """
    Return the shape, with a scalar's replaced by (1,), because `dim` treats a scalar as a vector.
    """
    return shape or (1,)


def check_within(
    index: tuple[int, ...], target: tuple[int, ...], what: str, but: int | None = None
) -> None:
    """
    Raise `VerifyException` unless the shape `index` has as many dimensions as the shape `target`
    and is not larger in any dimension except `but`.
    """
    if len(as_vector(index)) != len(as_vector(target)):
        raise VerifyException(
            f"the index of shape {shown(index)} needs as many dimensions as {what} of shape "
            f"{shown(target)}"
        )
    sizes = zip(as_vector(index), as_vector(target), strict=True)
    if any(i > t for dim, (i, t) in enumerate(sizes) if dim != but):
        raise VerifyException(
            f"the index of shape {shown(index)} is larger than {what} of shape {shown(target)}"
        )


def indexed_shape(
    input: tuple[int, ...], indices: Sequence[SSAValue], at: Sequence[int]
) -> tuple[tuple[int, ...], int, int]:
    """
    Return the shape of `input[..., indices, ...]`, then the position of the first dimension of the
    subscripts in it, and the number of their dimensions.

    `at` lists the indexed dimensions. If they are not adjacent, the subscripts' dimensions come
    first. Raises `VerifyException` if `indices` and `at` do not fit `input`.
    """
    for index in indices:
        check_index(index)
    if not at or len(at) != len(indices) or list(at) != sorted({*at}) or at[0] < 0:
        raise VerifyException(
            f"{len(indices)} tensors of subscripts need as many dimensions, ascending: "
            f"not {list(at)}"
        )
    if at[-1] >= len(input):
        raise VerifyException(f"there is no dimension {at[-1]} in {shown(input)}")
    for dim, index in zip(at, indices, strict=True):
        check_reachable(input[dim], index)
    subscripts = broadcast(*map(shape_of, indices))
    rest = [size for dim, size in enumerate(input) if dim not in at]
    adjacent = at[-1] - at[0] + 1 == len(at)
    start = at[0] if adjacent else 0
    return (*rest[:start], *subscripts, *rest[start:]), start, len(subscripts)


# --- Reading ---------------------------------------------------------------------------------


class ReadingOp(TensorOp):
    """Base class of ops that read elements of their first operand."""

    def result_element(self) -> Attribute:
        return element_of(self.operands[0])


@torch_op("embedding")
class EmbeddingOp(ReadingOp):
    """
    The row of weight at each index; the other arguments only affect gradients.

        %2 = torch.embedding %0, %1 : (tensor<100x8xf32>, tensor<4x5xi64>) -> tensor<4x5x8xf32>
    """

    weight = tensor()
    indices = tensor()
    padding_idx = integer(-1)
    scale_grad_by_freq = boolean(False)
    sparse = boolean(False)

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.indices)
        weight = shape_of(self.weight)
        if len(weight) != 2:
            raise VerifyException(f"the weight is a matrix, not {shown(weight)}")
        check_reachable(weight[0], self.indices)
        return (*shape_of(self.indices), weight[1])


@torch_op("gather")
class GatherOp(ReadingOp):
    """
    The elements of input at the coordinates of index's elements, with `dim`'s coordinate read from
    index.

        %2 = torch.gather %0, %1 dim 1 : (tensor<4x8xf32>, tensor<4x3xi64>) -> tensor<4x3xf32>
    """

    input = tensor()
    dim = integer()
    index = tensor()
    sparse_grad = boolean(False)

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.index)
        input, index = shape_of(self.input), shape_of(self.index)
        dim = wrap_dim(self.dim.value.data, len(input))
        if 0 not in index:
            check_within(index, input, "the input", dim)
            check_reachable(as_vector(input)[dim], self.index)
        return index


@torch_op("index_select")
class IndexSelectOp(ReadingOp):
    """
    The slices of input along `dim` at the positions in index, a vector.

        %2 = torch.index_select %0, %1 dim -1 : (tensor<4x8xf32>, tensor<3xi64>) -> tensor<4x3xf32>
    """

    input = tensor()
    dim = integer()
    index = tensor()

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.index)
        input, count = shape_of(self.input), check_vector(self.index)
        dim = wrap_dim(self.dim.value.data, len(input))
        if not input and count != 1:
            raise VerifyException(f"a scalar has only one element to select, not {count}")
        check_reachable(as_vector(input)[dim], self.index)
        return (*input[:dim], count, *input[dim + 1 :]) if input else ()


@torch_op("take")
class TakeOp(ReadingOp):
    """
    The elements of input at row-major positions in index; a negative index counts from the end.

        %2 = torch.take %0, %1 : (tensor<4x8xf32>, tensor<3x5xi64>) -> tensor<3x5xf32>
    """

    input = tensor()
    index = tensor()

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.index, i64)
        check_reachable(prod(shape_of(self.input)), self.index)
        return shape_of(self.index)


@torch_op("take_along_dim")
class TakeAlongDimOp(ReadingOp):
    """
    gather with broadcasting of input and indices in all dimensions except `dim`.

    Subscripts are taken modulo the size of `dim`. Without `dim`, both tensors are flattened, and
    subscripts are not taken modulo the size.

        %2 = torch.take_along_dim %0, %1 dim 1
            : (tensor<4x8xf32>, tensor<1x3xi64>) -> tensor<4x3xf32>
    """

    input = tensor()
    indices = tensor()
    dim = opt_integer()

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.indices, i64)
        input, indices = shape_of(self.input), shape_of(self.indices)
        if self.dim is None:
            check_reachable(prod(input), self.indices)
            return (prod(indices),)
        if len(input) != len(indices) or not input:
            raise VerifyException(
                f"input of shape {shown(input)} and indices of shape {shown(indices)} need as "
                "many dimensions, and at least one"
            )
        dim = wrap_dim(self.dim.value.data, len(input))
        check_reachable(input[dim], self.indices)
        others = [(*shape[:dim], *shape[dim + 1 :]) for shape in (input, indices)]
        shape = broadcast(*others)
        return (*shape[:dim], indices[dim], *shape[dim:])


class IndexLikeOp(ReadingOp):
    """
    Base class of indexing: elements of input at subscripts, one tensor for each dimension in
    `indices_at`.

    Subscript tensors broadcast to one shape; negative subscripts count from the end. Other
    dimensions are kept. The dimensions of the subscripts replace the indexed ones if these are
    adjacent; else they come first.
    """

    input = tensor()
    indices = tensors()
    indices_at = integers()

    def result_shape(self) -> tuple[int, ...]:
        at = self.indices_at.get_values()
        return indexed_shape(shape_of(self.input), self.indices, at)[0]


@torch_op("index.Tensor")
class IndexOp(IndexLikeOp):
    """
    input[:, indices].

        %2 = torch.index %0 indices(%1) indices_at [1]
            : (tensor<4x8xf32>, tensor<2x3xi64>) -> tensor<4x2x3xf32>
    """


@torch_op("_unsafe_index.Tensor")
class UnsafeIndexOp(IndexLikeOp):
    """
    input[:, indices], with indices that PyTorch's decompositions guarantee to be within bounds.

        %2 = torch._unsafe_index %0 indices(%1) indices_at [1]
            : (tensor<4x8xf32>, tensor<2x3xi64>) -> tensor<4x2x3xf32>
    """


@torch_op("one_hot")
class OneHotOp(TensorOp):
    """
    One-hot vectors along a new last dimension: 1 at the position that the element names, else 0.

        %1 = torch.one_hot %0 num_classes 10 : (tensor<4xi64>) -> tensor<4x10xi64>
    """

    input = tensor()
    num_classes = integer(-1)

    def result_shape(self) -> tuple[int, ...]:
        check_index(self.input, i64)
        classes = self.num_classes.value.data
        if classes < 1:
            raise VerifyException(
                "num_classes must be given: the largest element is only known when the program runs"
            )
        return (*shape_of(self.input), classes)

    def result_element(self) -> Attribute:
        return i64
