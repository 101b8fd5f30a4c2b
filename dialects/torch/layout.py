# SPDX-License-Identifier: Apache-2.0
"""Torch ops that only rearrange elements; many are the identity on values."""

from math import prod

from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch.op import (
    TensorOp,
    boolean,
    integer,
    integers,
    opt_integer,
    opt_text,
    tensor,
    text,
    torch_op,
)
from tilewright.dialects.torch.shapes import resolve_size, shown, wrap_dim, wrap_dims
from tilewright.dialects.types import shape_of

# --- Same elements, same order --------------------------------------------------------------


class IdentityOp(TensorOp):
    """Base class of ops that return the input's values, perhaps in other memory."""

    input = tensor()

    def result_shape(self) -> tuple[int, ...]:
        return shape_of(self.input)


@torch_op("clone")
class CloneOp(IdentityOp):
    """
    A copy of the input.

        %1 = torch.clone %0 memory_format "contiguous_format" : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    memory_format = opt_text()


@torch_op("contiguous")
class ContiguousOp(IdentityOp):
    """
    The input in row-major memory.

        %1 = torch.contiguous %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    memory_format = text("contiguous_format")


@torch_op("alias")
class AliasOp(IdentityOp):
    """
    The input under another name.

        %1 = torch.alias %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("detach")
class DetachOp(IdentityOp):
    """
    The input without its gradient history.

        %1 = torch.detach %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("lift_fresh_copy")
class LiftFreshCopyOp(IdentityOp):
    """
    A copy of a constant, the input.

        %1 = torch.lift_fresh_copy %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
    """


@torch_op("reshape")
class ReshapeOp(TensorOp):
    """
    The elements in row-major order, with another shape; one size may be -1 and is inferred.

        %1 = torch.reshape %0 shape [2, -1] : (tensor<4x8xf32>) -> tensor<2x16xf32>
    """

    input = tensor()
    shape = integers()

    def result_shape(self) -> tuple[int, ...]:
        return resolve_size(self.shape.get_values(), prod(shape_of(self.input)))


@torch_op("view")
class ViewOp(TensorOp):
    """
    A reshape that shares memory with the input.

        %1 = torch.view %0 size [2, -1] : (tensor<4x8xf32>) -> tensor<2x16xf32>
    """

    input = tensor()
    size = integers()

    def result_shape(self) -> tuple[int, ...]:
        return resolve_size(self.size.get_values(), prod(shape_of(self.input)))


@torch_op("_unsafe_view")
class UnsafeViewOp(TensorOp):
    """
    A reshape of a temporary that nothing else refers to.

        %1 = torch._unsafe_view %0 size [2, -1] : (tensor<4x8xf32>) -> tensor<2x16xf32>
    """

    input = tensor()
    size = integers()

    def result_shape(self) -> tuple[int, ...]:
        return resolve_size(self.size.get_values(), prod(shape_of(self.input)))


@torch_op("flatten.using_ints")
class FlattenOp(TensorOp):
    """
    The input with the dimensions from `start_dim` to `end_dim` merged into one.

        %1 = torch.flatten.using_ints %0 start_dim 1 : (tensor<2x4x8xf32>) -> tensor<2x32xf32>
    """

    input = tensor()
    start_dim = integer(0)
    end_dim = integer(-1)

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        start = wrap_dim(self.start_dim.value.data, len(shape), "start_dim")
        end = wrap_dim(self.end_dim.value.data, len(shape), "end_dim")
        if start > end:
            raise VerifyException(f"start_dim {start} comes after end_dim {end}")
        return (*shape[:start], prod(shape[start : end + 1]), *shape[end + 1 :])


@torch_op("unsqueeze")
class UnsqueezeOp(TensorOp):
    """
    The input with a new dimension of size 1, which becomes dimension `dim`.

        %1 = torch.unsqueeze %0 dim 1 : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
    """

    input = tensor()
    dim = integer()

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        dim = wrap_dim(self.dim.value.data, len(shape) + 1)
        return (*shape[:dim], 1, *shape[dim:])


@torch_op("squeeze")
class SqueezeOp(TensorOp):
    """
    The input without its dimensions of size 1.

        %1 = torch.squeeze %0 : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()

    def result_shape(self) -> tuple[int, ...]:
        return tuple(size for size in shape_of(self.input) if size != 1)


@torch_op("squeeze.dim")
class SqueezeDimOp(TensorOp):
    """
    The input without dimension `dim`, if its size is 1.

        %1 = torch.squeeze.dim %0 dim 1 : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    dim = integer()

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        dims = (wrap_dim(self.dim.value.data, len(shape)),)
        return tuple(size for i, size in enumerate(shape) if size != 1 or i not in dims)


@torch_op("squeeze.dims")
class SqueezeDimsOp(TensorOp):
    """
    The input without those dimensions in `dim` whose size is 1.

        %1 = torch.squeeze.dims %0 dim [0, 2] : (tensor<1x4x1xf32>) -> tensor<4xf32>
    """

    input = tensor()
    dim = integers()

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        dims = wrap_dims(self.dim.get_values(), len(shape))
        return tuple(size for i, size in enumerate(shape) if size != 1 or i not in dims)


# --- Same elements, other order -------------------------------------------------------------


@torch_op("t")
class TOp(TensorOp):
    """
    A matrix transposed; a vector or a scalar unchanged.

        %1 = torch.t %0 : (tensor<4x8xf32>) -> tensor<8x4xf32>
    """

    input = tensor()

    def result_shape(self) -> tuple[int, ...]:
        shape = shape_of(self.input)
        if len(shape) > 2:
            raise VerifyException(f"t takes at most two dimensions, not {shown(shape)}")
        return shape[::-1]


@torch_op("transpose.int")
class TransposeOp(TensorOp):
    """
    The input with dimensions `dim0` and `dim1` swapped.

        %1 = torch.transpose.int %0 dim0 1 dim1 -1 : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
    """

    input = tensor()
    dim0 = integer()
    dim1 = integer()

    def result_shape(self) -> tuple[int, ...]:
        shape = [*shape_of(self.input)]
        first = wrap_dim(self.dim0.value.data, len(shape), "dim0")
        second = wrap_dim(self.dim1.value.data, len(shape), "dim1")
        if shape:
            shape[first], shape[second] = shape[second], shape[first]
        return tuple(shape)


@torch_op("permute")
class PermuteOp(TensorOp):
    """
    The input with permuted dimensions: dimension i of the result is dimension `dims[i]` of the
    input.

        %1 = torch.permute %0 dims [2, 0, 1] : (tensor<2x4x8xf32>) -> tensor<8x2x4xf32>
    """

    input = tensor()
    dims = integers()

    def result_shape(self) -> tuple[int, ...]:
        shape, dims = shape_of(self.input), self.dims.get_values()
        if len(dims) != len(shape):
            raise VerifyException(f"dims {list(dims)} must name each of {len(shape)} dims once")
        return tuple(shape[dim] for dim in wrap_dims(dims, len(shape), "dims"))


@torch_op("expand")
class ExpandOp(TensorOp):
    """
    The input broadcast to `size`: dimensions of size 1 repeat, new ones come first; -1 keeps a
    size.

        %1 = torch.expand %0 size [2, -1, 8] : (tensor<4x1xf32>) -> tensor<2x4x8xf32>
    """

    input = tensor()
    size = integers()
    implicit = boolean(False)

    def result_shape(self) -> tuple[int, ...]:
        shape, size = shape_of(self.input), self.size.get_values()
        new = len(size) - len(shape)
        if new < 0 or -1 in size[:new]:
            raise VerifyException(f"size {list(size)} must name every dimension of {shown(shape)}")
        result = (*size[:new], *(o if s == -1 else s for o, s in zip(shape, size[new:])))
        if any(o not in (1, s) for o, s in zip(shape, result[new:])):
            raise VerifyException(f"{shown(shape)} does not expand to {list(size)}")
        return result


@torch_op("repeat")
class RepeatOp(TensorOp):
    """
    The input repeated `repeats[i]` times along each dimension i; new dimensions come first.

        %1 = torch.repeat %0 repeats [2, 1, 3] : (tensor<4x8xf32>) -> tensor<2x4x24xf32>
    """

    input = tensor()
    repeats = integers()

    def result_shape(self) -> tuple[int, ...]:
        shape, repeats = shape_of(self.input), self.repeats.get_values()
        if len(repeats) < len(shape) or any(count < 0 for count in repeats):
            raise VerifyException(
                f"repeats {list(repeats)} must give a count for each of {len(shape)} dimensions"
            )
        whole = (1,) * (len(repeats) - len(shape)) + shape
        return tuple(n * count for n, count in zip(whole, repeats, strict=True))


@torch_op("repeat_interleave.self_int")
class RepeatInterleaveOp(TensorOp):
    """
    Each element `repeats` times in a row along `dim`; without `dim`, of the flattened input.

        %1 = torch.repeat_interleave.self_int %0 repeats 3 dim 1
            : (tensor<4x8xf32>) -> tensor<4x24xf32>
    """

    input = tensor()
    repeats = integer()
    dim = opt_integer()
    output_size = opt_integer()

    def result_shape(self) -> tuple[int, ...]:
        shape, repeats = shape_of(self.input), self.repeats.value.data
        if repeats < 0:
            raise VerifyException(f"repeats must not be negative, but is {repeats}")
        if self.dim is None:
            shape = (prod(shape),)
        if not shape:
            raise VerifyException("a tensor without dimensions has no dim")
        dim = 0 if self.dim is None else wrap_dim(self.dim.value.data, len(shape))
        size = shape[dim] * repeats
        if self.output_size is not None and self.output_size.value.data != size:
            raise VerifyException(f"output_size must be {size}, not {self.output_size.value.data}")
        return (*shape[:dim], size, *shape[dim + 1 :])
