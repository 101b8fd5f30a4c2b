# SPDX-License-Identifier: Apache-2.0
"""Torch ops that fold dimensions: sums, products, means, and whether any or all hold."""

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
    """Folds the dimensions of `input` that `dim` names; with `keepdim` they stay, of size 1."""

    input = tensor()

    def reduced(self) -> tuple[int, ...]:
        """
        Return the dimensions that are folded, from the front and in order. No `dim`, or an empty
        one, means all; a scalar has none, though `dim` may name one.
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
        """Return the shape of what is left."""
        shape, reduced = shape_of(self.input), self.reduced()
        if "keepdim" in self.properties and python_value(self.properties["keepdim"]):
            return tuple(1 if i in reduced else size for i, size in enumerate(shape))
        return tuple(size for i, size in enumerate(shape) if i not in reduced)


class ReductionOp(ReducingOp, TensorOp):
    """A fold to one tensor."""

    def result_shape(self) -> tuple[int, ...]:
        return self.reduced_shape()


def check_float(op: TorchOp, element: Attribute) -> None:
    """Refuse to compute in a type without fractions."""
    if element not in FLOATS:
        raise VerifyException(f"{op.name} is of floats, not of {element}: cast the input")


# --- Sums, products and means ----------------------------------------------------------------


class SumLikeOp(ReductionOp):
    """A sum or a product, in `dtype`; integers and bools add up in i64 if there is none."""

    def result_element(self) -> Attribute:
        return self.properties.get("dtype") or sum_type(element_of(self.input))


class MeanLikeOp(ReductionOp):
    """A mean, in `dtype` or the input's type."""

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
    The sum along dimensions.

        %1 = torch.sum.dim_IntList %0 dim [-1] keepdim true : (tensor<4x8xf32>) -> tensor<4x1xf32>
    """

    dim = opt_integers()
    keepdim = boolean(False)
    dtype = opt_dtype()


@torch_op("nansum")
class NansumOp(SumLikeOp):
    """
    The sum along dimensions of what is not NaN.

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
    The product along a dimension.

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
    The mean along dimensions.

        %1 = torch.mean.dim %0 dim [0, 2] : (tensor<2x4x8xf32>) -> tensor<4xf32>
    """

    dim = opt_integers()
    keepdim = boolean(False)
    dtype = opt_dtype()


@torch_op("nanmean")
class NanmeanOp(MeanLikeOp):
    """
    The mean along dimensions of what is not NaN.

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
    """A bool, for which only 0 is false; of ui8 it is ui8 again, 0 or 1."""

    def result_element(self) -> Attribute:
        return ui8 if element_of(self.input) == ui8 else i1


class TruthDimsOp(TruthOp):
    """Along the dimensions `dim`: an empty list is no dimension here, and an absent one is all."""

    dim = opt_integers()
    keepdim = boolean(False)

    def reduced(self) -> tuple[int, ...]:
        is_empty = self.dim is not None and not self.dim.get_values()
        return () if is_empty else super().reduced()


@torch_op("any")
class AnyOp(TruthOp):
    """
    Whether any element is not 0.

        %1 = torch.any %0 : (tensor<4x8xi1>) -> tensor<i1>
    """


@torch_op("any.dim")
class AnyDimOp(TruthOp):
    """
    Whether any element along a dimension is not 0.

        %1 = torch.any.dim %0 dim -1 : (tensor<4x8xf32>) -> tensor<4xi1>
    """

    dim = integer()
    keepdim = boolean(False)


@torch_op("any.dims")
class AnyDimsOp(TruthDimsOp):
    """
    Whether any element along dimensions is not 0.

        %1 = torch.any.dims %0 dim [0, 1] keepdim true : (tensor<4x8xi1>) -> tensor<1x1xi1>
    """


@torch_op("all")
class AllOp(TruthOp):
    """
    Whether no element is 0.

        %1 = torch.all %0 : (tensor<4x8xi1>) -> tensor<i1>
    """


@torch_op("all.dim")
class AllDimOp(TruthOp):
    """
    Whether no element along a dimension is 0.

        %1 = torch.all.dim %0 dim -1 : (tensor<4x8xui8>) -> tensor<4xui8>
    """

    dim = integer()
    keepdim = boolean(False)


@torch_op("all.dims")
class AllDimsOp(TruthDimsOp):
    """
    Whether no element along dimensions is 0.

        %1 = torch.all.dims %0 dim [0, 1] : (tensor<4x8xi1>) -> tensor<i1>
    """


class CountOp(ReductionOp):
    """How many elements are not 0."""

    def common_element(self) -> Attribute:
        return i1

    def result_element(self) -> Attribute:
        return i64


@torch_op("count_nonzero")
class CountNonzeroOp(CountOp):
    """
    How many elements, in all or along a dimension, are not 0.

        %1 = torch.count_nonzero %0 dim 1 : (tensor<4x8xf32>) -> tensor<4xi64>
    """

    dim = opt_integer()


@torch_op("count_nonzero.dim_IntList")
class CountNonzeroDimsOp(CountOp):
    """
    How many elements along dimensions are not 0.

        %1 = torch.count_nonzero.dim_IntList %0 dim [0, 1] : (tensor<4x8xf32>) -> tensor<i64>
    """

    dim = integers()
