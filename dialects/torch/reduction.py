# SPDX-License-Identifier: Apache-2.0
"""Torch ops that reduce dimensions: sums, products, means, and tests for any or all elements."""

from collections.abc import Sequence

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import FLOATS, ui8
from tilewright.dialects.torch.op import (
    TensorOp,
    TorchOp,
    boolean,
    integer,
    integers,
    opt_dtype,
    opt_integer,
    opt_integers,
    python_value,
    tensor,
    torch_op,
)
from tilewright.dialects.torch.promotion import sum_type
from tilewright.dialects.torch.shapes import wrap_dims
from tilewright.dialects.types import element_of, shape_of


class ReducingOp(TorchOp):
    """
    Base class of ops that reduce the dimensions `dim` of input; with `keepdim` they remain with
    size 1.
    """

    input = tensor()

    def reduced(self) -> tuple[int, ...]:
        """
        Return the reduced dimensions, counted from the front, in order.

        Without `dim`, or if it is empty, all dimensions are reduced. A scalar has none, though
        `dim` may name one.
        """
        rank = len(shape_of(self.input))
        named = wrap_dims(self._named_dims(), rank)
        return tuple(sorted(named)) if named and rank else tuple(range(rank))

    def _named_dims(self) -> Sequence[int]:
        if "dim" not in self.properties:
            return ()
        dim = python_value(self.properties["dim"])
        return [int(d) for d in (dim if isinstance(dim, tuple) else (dim,))]

    def reduced_shape(self) -> tuple[int, ...]:
        """Return the shape after the reduction."""
        shape, reduced = shape_of(self.input), self.reduced()
        if "keepdim" in self.properties and python_value(self.properties["keepdim"]):
            return tuple(1 if i in reduced else size for i, size in enumerate(shape))
        return tuple(size for i, size in enumerate(shape) if i not in reduced)


class ReductionOp(ReducingOp, TensorOp):
    """Base class of reductions with one tensor as their result."""

    def result_shape(self) -> tuple[int, ...]:
        return self.reduced_shape()


def check_float(op: TorchOp, element: Attribute) -> None:
    """Raise `VerifyException` if the op would compute in a type that is not a float."""
    if element not in FLOATS:
        raise VerifyException(f"{op.name} is of floats, not of {element}: cast the input")


# --- Sums, products and means ----------------------------------------------------------------


class SumLikeOp(ReductionOp):
    """
    Base class of sums and products, computed in `dtype`; by default, integers and bools in i64.
    """

    def result_element(self) -> Attribute:
        return self.properties.get("dtype") or sum_type(element_of(self.input))


class MeanLikeOp(ReductionOp):
    """Base class of means, computed in `dtype` or the input's type."""

    def result_element(self) -> Attribute:
        element = self.properties.get("dtype") or element_of(self.input)
        if element not in FLOATS:
            raise VerifyException(f"a mean is a float: give a dtype such as f32, not {element}")
        return element


@torch_op("sum")
class SumOp(SumLikeOp):
    """
    The sum of all elements.

        %1 = torch.sum %0 : (tensor<4x8xf32>) -> tensor<f32>
    """

    dtype = opt_dtype()


@torch_op("sum.dim_IntList")
class SumDimOp(SumLikeOp):
    """
    The sum along dimensions `dim`.

        %1 = torch.sum.dim_IntList %0 dim [-1] keepdim true : (tensor<4x8xf32>) -> tensor<4x1xf32>
    """

    dim = opt_integers()
    keepdim = boolean(False)
    dtype = opt_dtype()


@torch_op("nansum")
class NansumOp(SumLikeOp):
    """
    The sum along dimensions `dim` of the elements that are not NaN.

        %1 = torch.nansum %0 dim [0] : (tensor<4x8xf32>) -> tensor<8xf32>
    """

    dim = opt_integers()
    keepdim = boolean(False)
    dtype = opt_dtype()


@torch_op("prod")
class ProdOp(SumLikeOp):
    """
    The product of all elements.

        %1 = torch.prod %0 : (tensor<4x8xi32>) -> tensor<i64>
    """

    dtype = opt_dtype()


@torch_op("prod.dim_int")
class ProdDimOp(SumLikeOp):
    """
    The product along dimension `dim`.

        %1 = torch.prod.dim_int %0 dim 1 : (tensor<4x8xf32>) -> tensor<4xf32>
    """

    dim = integer()
    keepdim = boolean(False)
    dtype = opt_dtype()


@torch_op("mean")
class MeanOp(MeanLikeOp):
    """
    The mean of all elements.

        %1 = torch.mean %0 : (tensor<4x8xf32>) -> tensor<f32>
    """

    dtype = opt_dtype()


@torch_op("mean.dim")
class MeanDimOp(MeanLikeOp):
    """
    The mean along dimensions `dim`.

        %1 = torch.mean.dim %0 dim [0, 2] : (tensor<2x4x8xf32>) -> tensor<4xf32>
    """

    dim = opt_integers()
    keepdim = boolean(False)
    dtype = opt_dtype()


@torch_op("nanmean")
class NanmeanOp(MeanLikeOp):
    """
    The mean along dimensions `dim` of the elements that are not NaN.

        %1 = torch.nanmean %0 dim [0] : (tensor<4x8xf32>) -> tensor<8xf32>
    """

    dim = opt_integers()
    keepdim = boolean(False)
    dtype = opt_dtype()

    def result_element(self) -> Attribute:
        check_float(self, element_of(self.input))
        return super().result_element()


# --- Truth -----------------------------------------------------------------------------------


class TruthOp(ReductionOp):
    """
    Base class of any and all: the result is an i1, or a ui8 for a ui8 input; every element except 0
    counts as true.
    """

    def result_element(self) -> Attribute:
        return ui8 if element_of(self.input) == ui8 else i1


class TruthDimsOp(TruthOp):
    """
    Base class of `any` and `all` along dimensions `dim`; an empty list reduces no dimension, a
    missing list reduces all.
    """

    dim = opt_integers()
    keepdim = boolean(False)

    def reduced(self) -> tuple[int, ...]:
        is_empty = self.dim is not None and not self.dim.get_values()
        return () if is_empty else super().reduced()


@torch_op("any")
class AnyOp(TruthOp):
    """
    True if any element is not 0.

        %1 = torch.any %0 : (tensor<4x8xi1>) -> tensor<i1>
    """


@torch_op("any.dim")
class AnyDimOp(TruthOp):
    """
    True if any element along dimension `dim` is not 0.

        %1 = torch.any.dim %0 dim -1 : (tensor<4x8xf32>) -> tensor<4xi1>
    """

    dim = integer()
    keepdim = boolean(False)


@torch_op("any.dims")
class AnyDimsOp(TruthDimsOp):
    """
    True if any element along dimensions `dim` is not 0.

        %1 = torch.any.dims %0 dim [0, 1] keepdim true : (tensor<4x8xi1>) -> tensor<1x1xi1>
    """


@torch_op("all")
class AllOp(TruthOp):
    """
    True if no element is 0.

        %1 = torch.all %0 : (tensor<4x8xi1>) -> tensor<i1>
    """


@torch_op("all.dim")
class AllDimOp(TruthOp):
    """
    True if no element along dimension `dim` is 0.

        %1 = torch.all.dim %0 dim -1 : (tensor<4x8xui8>) -> tensor<4xui8>
    """

    dim = integer()
    keepdim = boolean(False)


@torch_op("all.dims")
class AllDimsOp(TruthDimsOp):
    """
    True if no element along dimensions `dim` is 0.

        %1 = torch.all.dims %0 dim [0, 1] : (tensor<4x8xi1>) -> tensor<i1>
    """


class CountOp(ReductionOp):
    """Base class of ops that count the elements that are not 0."""

    def common_element(self) -> Attribute:
        return i1

    def result_element(self) -> Attribute:
        return i64


@torch_op("count_nonzero")
class CountNonzeroOp(CountOp):
    """
    The number of elements that are not 0, along dimension `dim` or in the whole tensor.

        %1 = torch.count_nonzero %0 dim 1 : (tensor<4x8xf32>) -> tensor<4xi64>
    """

    dim = opt_integer()


@torch_op("count_nonzero.dim_IntList")
class CountNonzeroDimsOp(CountOp):
    """
    The number of elements along dimensions `dim` that are not 0.

        %1 = torch.count_nonzero.dim_IntList %0 dim [0, 1] : (tensor<4x8xf32>) -> tensor<i64>
    """

    dim = integers()
