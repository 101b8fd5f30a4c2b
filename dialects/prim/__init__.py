# SPDX-License-Identifier: Apache-2.0
"""
Tensor IR: whole-tensor programs in three primitives.

`prim.elementwise` computes each element from the same element of its operands, `prim.reduce`
folds axes away, `prim.index_map` says where each element comes from (views, broadcasts,
transposes, padding, concatenation). Beside them stands only what they cannot say: constants,
positions and predicates of positions, `prim.gather` and `prim.scatter`, whose subscripts are data,
and `prim.scan`.

Arithmetic is on f32, f64, i1, i32 and i64; a cast stands before and after it for other types.
"""

from collections.abc import Sequence

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    base,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import COMPUTE_FLOATS
from tilewright.dialects.monoid import MonoidAttr, verify_monoid
from tilewright.dialects.prim.gather import GatherOp, ScatterOp
from tilewright.dialects.prim.index_map import IndexMapOp, Source
from tilewright.dialects.prim.op import PrimOp
from tilewright.dialects.prim.positions import IotaOp, PredicateOp
from tilewright.dialects.prim.syntax import EqualTypes
from tilewright.dialects.scalar_function import (
    ScalarFunction,
    ScalarFunctionAttr,
    verify_function,
)
from tilewright.dialects.types import element_of, shape_of, tensor_of

__all__ = [
    "ConstantOp",
    "ElementwiseOp",
    "GatherOp",
    "IndexMapOp",
    "IotaOp",
    "PredicateOp",
    "Prim",
    "ReduceOp",
    "ScalarFunction",
    "ScanOp",
    "ScatterOp",
    "Source",
]


def _elements(values: Sequence[SSAValue]) -> list[Attribute]:
    return [element_of(value) for value in values]


@irdl_op_definition
class ElementwiseOp(PrimOp):
    """
    Computes every element of the result from the same element of each operand. `maximum` and
    `minimum` keep NaN, as PyTorch's do. A product of floats with
    `fastmath<nnan,ninf>` may be taken for 0 where a factor is 0, be the other infinite or NaN.

    ```mlir
    %c = prim.elementwise add(%a, %b) : tensor<16x64xf32>
    %p = prim.elementwise mul(%a, %b) fastmath<nnan,ninf> : tensor<16x64xf32>
    %d = prim.elementwise lt(%a, %b) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xi1>
    ```
    """

    name = "prim.elementwise"

    function = prop_def(ScalarFunctionAttr)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))
    inputs = var_operand_def(base(TensorType))
    result = result_def(base(TensorType))

    custom_directives = (EqualTypes,)
    assembly_format = (
        "$function `(` $inputs `)` (`fastmath` `` $fastmath^)? attr-dict "
        "`:` custom<EqualTypes>(type($inputs), type($result))"
    )

    def __init__(
        self,
        function: ScalarFunction,
        inputs: Sequence[SSAValue],
        element: Attribute,
        fastmath: FastMathFlagsAttr | None = None,
    ):
        super().__init__(
            operands=[inputs],
            properties={"function": ScalarFunctionAttr(function), "fastmath": fastmath},
            result_types=[tensor_of(element, shape_of(inputs[0]))],
        )

    def verify_(self) -> None:
        super().verify_()
        verify_function(self.function.data, _elements(self.inputs), element_of(self.result))
        if any(shape_of(value) != shape_of(self.result) for value in self.inputs):
            raise VerifyException("operands and result have one shape: broadcast by prim.index_map")
        is_product = self.function.data is ScalarFunction.MUL
        if self.fastmath.data and not (is_product and element_of(self.result) in COMPUTE_FLOATS):
            raise VerifyException("only a product of floats has fast-math flags")


@irdl_op_definition
class ReduceOp(PrimOp):
    """
    Folds the axes `dims` away with a monoid; an empty axis gives the monoid's identity. The order
    of joining is unspecified. Over several operands of one shape it folds each; `argmax` and
    `argmin` fold (value, index) pairs.

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
    Joins with each element all that stand before it along one axis.

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


@irdl_op_definition
class ConstantOp(PrimOp):
    """
    A tensor whose every element is one value.

    ```mlir
    %zero = prim.constant 0.000000e+00 : f32 -> tensor<16x16xf32>
    ```
    """

    name = "prim.constant"

    value = prop_def(base(FloatAttr) | base(IntegerAttr))
    result = result_def(base(TensorType))

    traits = traits_def(Pure(), ConstantLike())
    assembly_format = "$value attr-dict `->` type($result)"

    def __init__(self, value: FloatAttr | IntegerAttr, type: TensorType[Attribute]):
        super().__init__(properties={"value": value}, result_types=[type])

    def verify_(self) -> None:
        super().verify_()
        element_type = element_of(self.result)
        if self.value.type != element_type:
            raise VerifyException(f"the value is of {self.value.type}, not {element_type}")


Prim = Dialect(
    "prim",
    [
        ElementwiseOp,
        ReduceOp,
        ScanOp,
        IndexMapOp,
        GatherOp,
        ScatterOp,
        IotaOp,
        PredicateOp,
        ConstantOp,
    ],
    [MonoidAttr, ScalarFunctionAttr],
)
