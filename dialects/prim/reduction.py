# SPDX-License-Identifier: Apache-2.0
"""Reductions and scans: a monoid combines elements along axes."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    base,
    irdl_op_definition,
    prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.monoid import MonoidAttr, verify_monoid
from tilewright.dialects.prim.syntax import PrimOp
from tilewright.dialects.types import element_of, shape_of, tensor_of


def _elements(values: Sequence[SSAValue]) -> list[Attribute]:
    return [element_of(value) for value in values]


@irdl_op_definition
class ReduceOp(PrimOp):
    """
    Reduction over the axes `dims`; the result lacks these axes.

    An empty axis gives the monoid's identity. The order is unspecified. Several operands of one
    shape are reduced separately, except that `argmax` and `argmin` reduce (value, index) pairs.

    ```mlir
    %s = prim.reduce add(%a) dims [1] : (tensor<16x64xf32>) -> tensor<16xf32>
    %v, %i = prim.reduce argmax(%a, %positions) dims [1]
        : (tensor<16x64xf32>, tensor<16x64xi64>) -> (tensor<16xf32>, tensor<16xi64>)
    ```
    """

    name = "prim.reduce"

    monoid = prop_def(MonoidAttr)
    dims = prop_def(DenseArrayBase.constr(i64))
    inputs = var_operand_def(base(TensorType))
    results_ = var_result_def(base(TensorType))

    assembly_format = (
        "$monoid `(` $inputs `)` `dims` $dims attr-dict `:` functional-type($inputs, $results_)"
    )

    def __init__(self, monoid: MonoidAttr, inputs: Sequence[SSAValue], dims: Sequence[int]):
        super().__init__(
            operands=[inputs],
            properties={"monoid": monoid, "dims": DenseArrayBase.from_list(i64, dims)},
            result_types=[[_reduced_type(v, dims) for v in inputs]],
        )

    def verify_(self) -> None:
        super().verify_()
        _verify_operands(self.inputs, self.results_)
        shape, dims = shape_of(self.inputs[0]), self.dims.get_values()
        if list(dims) != sorted(set(dims)) or any(d not in range(len(shape)) for d in dims):
            raise VerifyException(
                f"dims {list(dims)} must be distinct, ascending and within rank {len(shape)}"
            )
        for operand, result in zip(self.inputs, self.results_, strict=True):
            expected = _reduced_type(operand, tuple(dims))
            if result.type != expected:
                raise VerifyException(f"the result must be {expected}, not {result.type}")
        verify_monoid(self.monoid, _elements(self.inputs))


def _verify_operands(inputs: Sequence[SSAValue], results: Sequence[SSAValue]) -> None:
    if not inputs or len(inputs) != len(results):
        raise VerifyException("give one result for each operand, and at least one operand")
    if any(shape_of(operand) != shape_of(inputs[0]) for operand in inputs):
        raise VerifyException("all operands have one shape")


def _reduced_type(value: SSAValue, dims: Sequence[int]) -> TensorType[Attribute]:
    kept = tuple(size for axis, size in enumerate(shape_of(value)) if axis not in dims)
    return tensor_of(element_of(value), kept)


@irdl_op_definition
class ScanOp(PrimOp):
    """
    Inclusive scan along one axis: each element is combined with all elements before it.

    ```mlir
    %s = prim.scan add(%a) dim 1 : (tensor<16x64xf32>) -> tensor<16x64xf32>
    ```
    """

    name = "prim.scan"

    monoid = prop_def(MonoidAttr)
    dim = prop_def(IntegerAttr.constr(i64))
    inputs = var_operand_def(base(TensorType))
    results_ = var_result_def(base(TensorType))

    assembly_format = (
        "$monoid `(` $inputs `)` `dim` $dim attr-dict `:` functional-type($inputs, $results_)"
    )

    def __init__(self, monoid: MonoidAttr, inputs: Sequence[SSAValue], dim: int):
        super().__init__(
            operands=[inputs],
            properties={"monoid": monoid, "dim": IntegerAttr(dim, i64)},
            result_types=[[value.type for value in inputs]],
        )

    def verify_(self) -> None:
        super().verify_()
        _verify_operands(self.inputs, self.results_)
        if list(self.inputs.types) != list(self.results_.types):
            raise VerifyException("each result has its operand's type")
        rank, dim = len(shape_of(self.inputs[0])), self.dim.value.data
        if dim not in range(rank):
            raise VerifyException(f"dim {dim} must be within rank {rank}")
        verify_monoid(self.monoid, _elements(self.inputs))
