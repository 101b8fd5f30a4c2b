# SPDX-License-Identifier: Apache-2.0
"""Torch ops that take a part of a tensor, or reorder its elements along a dimension."""

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import (
    TensorOp,
    TorchOp,
    integer,
    integers,
    opt_integer,
    tensor,
    torch_op,
)
from tilewright.dialects.torch.shapes import shown, wrap_dim, wrap_dims
from tilewright.dialects.types import shape_of

# --- Parts -----------------------------------------------------------------------------------

_Integer = IntegerAttr[IntegerType]


def dim_of(op: TorchOp, dim: int, shape: tuple[int, ...], what: str = "dim") -> int:
    """
    Return `dim` counted from the front; raise `VerifyException` for a tensor without dimensions.
    """
    if not shape:
        raise VerifyException(f"{op.name} takes no tensor without dimensions")
    return wrap_dim(dim, len(shape), what)


def wrap_index(index: int, size: int) -> int:
    """
    Return `index` counted from the front of a dimension of `size`; raise `VerifyException` if out
    of range.
    """
    if not -size <= index < size:
        raise VerifyException(f"index {index} is out of range for a dimension of size {size}")
    return index % size


def sliced(start: _Integer | None, end: _Integer | None, step: _Integer, size: int) -> range:
    """Return the positions that a slice takes along a dimension of `size`."""
    if step.value.data < 1:
        raise VerifyException(f"step {step.value.data} must be at least 1")
    first, last = (None if bound is None else bound.value.data for bound in (start, end))
    return range(*slice(first, last, step.value.data).indices(size))


@torch_op("slice.Tensor")
class SliceOp(TensorOp):
    """
    Every `step`-th element along `dim` from `start` up to `end`, excluded; both are clamped to the
    size.

        %1 = torch.slice %0 dim 1 start -6 end 9223372036854775807 step 2
            : (tensor<4x8xf32>) -> tensor<4x3xf32>
    """

    input = tensor()
    dim = integer(0)
    start = opt_integer()
    end = opt_integer()
    step = integer(1)

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        dim = dim_of(self, self.dim.value.data, shape)
        positions = sliced(self.start, self.end, self.step, shape[dim])
        return (*shape[:dim], len(positions), *shape[dim + 1 :])


@torch_op("select.int")
class SelectOp(TensorOp):
    """
    The elements at position `index` of dimension `dim`, which the result lacks.

        %1 = torch.select.int %0 dim 0 index -1 : (tensor<4x8xf32>) -> tensor<8xf32>
    """

    input = tensor()
    dim = integer()
    index = integer()

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        dim = dim_of(self, self.dim.value.data, shape)
        wrap_index(self.index.value.data, shape[dim])
        return (*shape[:dim], *shape[dim + 1 :])


def two_dims(dim1: _Integer, dim2: _Integer, rank: int) -> tuple[int, ...]:
    """Return two dimensions counted from the front; raise `VerifyException` if they are equal."""
    if rank < 2:
        raise VerifyException(f"a diagonal needs two dimensions, not {rank}")
    return wrap_dims((dim1.value.data, dim2.value.data), rank, "dim1, dim2")


def diagonal_size(rows: int, columns: int, offset: int) -> int:
    """Return the number of elements of a matrix's diagonal that is `offset` above the main one."""
    return max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)


@torch_op("diagonal")
class DiagonalOp(TensorOp):
    """
    The diagonals, where the coordinate of `dim2` is that of `dim1` + `offset`, as the last
    dimension.

        %1 = torch.diagonal %0 offset 1 dim1 1 dim2 2 : (tensor<2x4x4xf32>) -> tensor<2x3xf32>
    """

    input = tensor()
    offset = integer(0)
    dim1 = integer(0)
    dim2 = integer(1)

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        row, column = two_dims(self.dim1, self.dim2, len(shape))
        size = diagonal_size(shape[row], shape[column], self.offset.value.data)
        return (*(n for i, n in enumerate(shape) if i not in (row, column)), size)


class TriangleOp(TensorOp):
    """Base class of triangles: a part of each matrix, and zeros elsewhere."""

    input = tensor()
    diagonal = integer(0)

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        if len(shape) < 2:
            raise VerifyException(f"{self.name} takes matrices, not {shown(shape)}")
        return shape


@torch_op("tril")
class TrilOp(TriangleOp):
    """
    Each matrix on and below the diagonal that is `diagonal` above the main one; zeros elsewhere.

        %1 = torch.tril %0 diagonal -1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("triu")
class TriuOp(TriangleOp):
    """
    Each matrix on and above the diagonal that is `diagonal` above the main one; zeros elsewhere.

        %1 = torch.triu %0 diagonal 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("diag_embed")
class DiagEmbedOp(TensorOp):
    """
    Matrices along `dim1` and `dim2` with the input's last dimension as a diagonal; zeros elsewhere.

        %1 = torch.diag_embed %0 offset 1 : (tensor<2x3xf32>) -> tensor<2x4x4xf32>
    """

    input = tensor()
    offset = integer(0)
    dim1 = integer(-2)
    dim2 = integer(-1)

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        dim_of(self, -1, shape)
        row, column = two_dims(self.dim1, self.dim2, len(shape) + 1)
        size, batch = shape[-1] + abs(self.offset.value.data), iter(shape[:-1])
        return tuple(size if d in (row, column) else next(batch) for d in range(len(shape) + 1))


@torch_op("unfold")
class UnfoldOp(TensorOp):
    """
    Windows of `size` elements along `dimension`, one every `step`; their elements are the last
    dimension.

        %1 = torch.unfold %0 dimension 1 size 3 step 2 : (tensor<4x8xf32>) -> tensor<4x3x3xf32>
    """

    input = tensor()
    dimension = integer()
    size = integer()
    step = integer()

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        dim = wrap_dim(self.dimension.value.data, len(shape), "dimension")
        windows = self.windows(shape[dim] if shape else 1)
        return (
            *shape[:dim],
            *([windows] if shape else []),
            *shape[dim + 1 :],
            self.size.value.data,
        )

    def windows(self, length: int) -> int:
        """Return the number of windows in a dimension of size `length`."""
        size, step = self.size.value.data, self.step.value.data
        if not 0 <= size <= length or step < 1:
            raise VerifyException(f"size {size} must be within {length}, and step {step} above 0")
        return (length - size) // step + 1


# --- Other orders ----------------------------------------------------------------------------


@torch_op("flip")
class FlipOp(TensorOp):
    """
    The elements in reverse order along each of `dims`.

        %1 = torch.flip %0 dims [0, -1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    dims = integers()

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        wrap_dims(self.dims.get_values(), len(shape), "dims")
        return shape


@torch_op("roll")
class RollOp(TensorOp):
    """
    The elements rotated along each of `dims` by the corresponding number of `shifts`.

    Elements shifted past the end reappear at the front. Without `dims`, the flattened input is
    rotated.

        %1 = torch.roll %0 shifts [1, -2] dims [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    shifts = integers()
    dims = integers(())

    def result_shape(self) -> tuple[int, ...]:
        shape, shifts, dims = shape_of(self.input), self.shifts.get_values(), self.dims.get_values()
        if not shifts or (len(shifts) != len(dims) and (dims or len(shifts) != 1)):
            raise VerifyException(f"shifts {list(shifts)} and dims {list(dims)} must pair up")
        for dim in dims:
            dim_of(self, dim, shape, "dims")
        return shape
