# SPDX-License-Identifier: Apache-2.0
"""Torch ops that split a tensor, concatenate several, or insert one into another."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import groupby

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute
from xdsl.irdl import var_result_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import (
    TENSOR,
    TensorOp,
    TorchOp,
    boolean,
    integer,
    integers,
    opt_integer,
    tensor,
    tensors,
    torch_op,
)
from tilewright.dialects.torch.shapes import check_expands, shown, wrap_dim
from tilewright.dialects.torch.slicing import (
    diagonal_size,
    dim_of,
    sliced,
    two_dims,
    wrap_index,
)
from tilewright.dialects.types import element_of, shape_of

MOST_PARTS = 1 << 16
"""Most results of an op; this rejects, for example, one result for each row of 2^40 rows."""

# --- Splitting --------------------------------------------------------------------------------


class SplittingOp(TorchOp, ABC):
    """Base class of ops that split a tensor along a dimension into consecutive parts."""

    input = tensor()
    dim = integer(0)

    parts = var_result_def(TENSOR)

    @abstractmethod
    def sizes(self, whole: int) -> Sequence[int]:
        """Return the size of each part along `dim`, whose size is `whole`."""

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        shape, element = shape_of(self.input), element_of(self.input)
        dim = dim_of(self, self.dim.value.data, shape)
        sizes = self.sizes(shape[dim])
        return [TensorType(element, [*shape[:dim], n, *shape[dim + 1 :]]) for n in sizes]


@torch_op("split.Tensor")
class SplitOp(SplittingOp):
    """
    Consecutive parts of size `split_size` along `dim`; the last may be smaller.

        %1, %2 = torch.split %0 split_size 5 dim 1
            : (tensor<4x8xf32>) -> (tensor<4x5xf32>, tensor<4x3xf32>)
    """

    split_size = integer()

    def sizes(self, whole: int) -> Sequence[int]:
        size = self.split_size.value.data
        if size < 0 or (not size and whole):
            raise VerifyException(f"split_size must be positive, not {size}")
        count = -(-whole // size) if whole else 1
        if count > MOST_PARTS:
            raise VerifyException(f"{count} parts; at most {MOST_PARTS} are supported")
        return [min(size, whole - part * size) for part in range(count)]


@torch_op("split_with_sizes")
class SplitWithSizesOp(SplittingOp):
    """
    Consecutive parts of the sizes `split_sizes` along `dim`.

        %1, %2 = torch.split_with_sizes %0 split_sizes [2, 6] dim -1
            : (tensor<4x8xf32>) -> (tensor<4x2xf32>, tensor<4x6xf32>)
    """

    split_sizes = integers()

    def sizes(self, whole: int) -> Sequence[int]:
        sizes = self.split_sizes.get_values()
        if sum(sizes) != whole or any(size < 0 for size in sizes):
            raise VerifyException(f"split_sizes {list(sizes)} must add up to {whole}")
        return sizes


@torch_op("unbind.int")
class UnbindOp(TorchOp):
    """
    One tensor for each position along `dim`, without that dimension.

        %1, %2 = torch.unbind.int %0 dim 1 : (tensor<4x2xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    """

    input = tensor()
    dim = integer(0)

    parts = var_result_def(TENSOR)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        shape, element = shape_of(self.input), element_of(self.input)
        dim = dim_of(self, self.dim.value.data, shape)
        if shape[dim] > MOST_PARTS:
            raise VerifyException(f"{shape[dim]} parts; at most {MOST_PARTS} are supported")
        return [TensorType(element, [*shape[:dim], *shape[dim + 1 :]])] * shape[dim]


# --- Concatenation ----------------------------------------------------------------------------


@torch_op("cat")
class CatOp(TensorOp):
    """
    Concatenation of the tensors along `dim`; tensors of shape (0,) are ignored.

        %2 = torch.cat %0, %1 dim 1 : (tensor<4x8xf32>, tensor<4x2xf32>) -> tensor<4x10xf32>
    """

    tensors = tensors()
    dim = integer(0)

    def result_shape(self) -> tuple[int, ...]:
        shapes = [shape_of(value) for value in self.tensors]
        if not shapes or () in shapes:
            raise VerifyException("cat takes tensors with dimensions, and at least one")
        shapes = [shape for shape in shapes if shape != (0,)] or shapes[:1]
        dim = wrap_dim(self.dim.value.data, len(shapes[0]))
        kept = [key for key, _ in groupby((*s[:dim], "dim", *s[dim + 1 :]) for s in shapes)]
        if len(kept) > 1 or any(len(s) != len(shapes[0]) for s in shapes):
            raise VerifyException(
                f"{' and '.join(map(shown, shapes))} must be equal except in dim {dim}"
            )
        return (*shapes[0][:dim], sum(s[dim] for s in shapes), *shapes[0][dim + 1 :])


@torch_op("stack")
class StackOp(TensorOp):
    """
    Tensors of one shape stacked along a new dimension `dim`.

        %2 = torch.stack %0, %1 dim -1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8x2xf32>
    """

    tensors = tensors()
    dim = integer(0)

    def result_shape(self) -> tuple[int, ...]:
        shapes = [shape_of(value) for value in self.tensors]
        if len({*shapes}) != 1:
            raise VerifyException("stack takes tensors of one shape, and at least one")
        dim = wrap_dim(self.dim.value.data, len(shapes[0]) + 1)
        return (*shapes[0][:dim], len(shapes), *shapes[0][dim:])


# --- Insertion --------------------------------------------------------------------------------


class ScatteringOp(TensorOp, ABC):
    """
    Base class of ops that return the input with a part of it replaced by `src`, cast to its type.
    """

    input = tensor()
    src = tensor()

    @abstractmethod
    def replaced_shape(self) -> tuple[int, ...]:
        """Return the shape of the part of the input that `src` replaces."""

    def result_shape(self) -> tuple[int, ...]:
        if (src := shape_of(self.src)) != (replaced := self.replaced_shape()):
            raise VerifyException(
                f"src has shape {shown(src)}, the part that it replaces {shown(replaced)}"
            )
        return shape_of(self.input)

    def result_element(self) -> Attribute:
        return element_of(self.input)


@torch_op("select_scatter")
class SelectScatterOp(ScatteringOp):
    """
    The input with `src` in place of position `index` of `dim`.

        %2 = torch.select_scatter %0, %1 dim 0 index 2
            : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    dim = integer()
    index = integer()

    def replaced_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        dim = dim_of(self, self.dim.value.data, shape)
        wrap_index(self.index.value.data, shape[dim])
        return (*shape[:dim], *shape[dim + 1 :])


@torch_op("slice_scatter")
class SliceScatterOp(ScatteringOp):
    """
    The input with `src` in place of a slice along `dim`.

        %2 = torch.slice_scatter %0, %1 dim 1 start 2 end 5
            : (tensor<4x8xf32>, tensor<4x3xf32>) -> tensor<4x8xf32>
    """

    dim = integer(0)
    start = opt_integer()
    end = opt_integer()
    step = integer(1)

    def replaced_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        dim = dim_of(self, self.dim.value.data, shape)
        positions = sliced(self.start, self.end, self.step, shape[dim])
        return (*shape[:dim], len(positions), *shape[dim + 1 :])


@torch_op("diagonal_scatter")
class DiagonalScatterOp(ScatteringOp):
    """
    The input with `src` in place of a diagonal.

        %2 = torch.diagonal_scatter %0, %1 offset -1
            : (tensor<4x4xf32>, tensor<3xf32>) -> tensor<4x4xf32>
    """

    offset = integer(0)
    dim1 = integer(0)
    dim2 = integer(1)

    def replaced_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        row, column = two_dims(self.dim1, self.dim2, len(shape))
        size = diagonal_size(shape[row], shape[column], self.offset.value.data)
        return (*(n for i, n in enumerate(shape) if i not in (row, column)), size)


@torch_op("copy")
class CopyOp(TensorOp):
    """
    `src`, expanded to the input's shape and cast to its type.

        %2 = torch.copy %0, %1 : (tensor<4x8xf16>, tensor<8xf32>) -> tensor<4x8xf16>
    """

    input = tensor()
    src = tensor()
    non_blocking = boolean(False)

    def result_shape(self) -> tuple[int, ...]:
        check_expands(shape_of(self.src), shape_of(self.input), "src")
        return shape_of(self.input)

    def result_element(self) -> Attribute:
        return element_of(self.input)
