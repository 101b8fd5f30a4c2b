# SPDX-License-Identifier: Apache-2.0
"""
Tensor IR: whole-tensor programs in three primitives.

`prim.elementwise` computes each element from the same element of its operands, `prim.reduce`
folds axes away, `prim.index_map` says where each element comes from (views, broadcasts,
transposes). Constants stand beside them.
"""

from typing import ClassVar

from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    TensorType,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Dialect, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.index import Range, range_of
from tilewright.dialects.monoid import MonoidAttr, verify_floats
from tilewright.dialects.types import tensor_type


class ScalarFunction(StrEnum):
    """What `prim.elementwise` computes for each element."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    NEG = "neg"
    ABS = "abs"
    EXP = "exp"
    LOG = "log"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    TANH = "tanh"
    ERF = "erf"
    TRUNC = "trunc"
    POW = "pow"
    FLOORDIV = "floordiv"
    """The quotient rounded down, as Python's `//` (and PyTorch's) has it: not floor(a / b)."""
    MAXIMUM = "maximum"
    MINIMUM = "minimum"

    @property
    def arity(self) -> int:
        """How many operands the function takes."""
        return 2 if self in _BINARY else 1


_BINARY = frozenset(
    {
        ScalarFunction.ADD,
        ScalarFunction.SUB,
        ScalarFunction.MUL,
        ScalarFunction.DIV,
        ScalarFunction.POW,
        ScalarFunction.FLOORDIV,
        ScalarFunction.MAXIMUM,
        ScalarFunction.MINIMUM,
    }
)


@irdl_attr_definition
class ScalarFunctionAttr(EnumAttribute[ScalarFunction], SpacedOpaqueSyntaxAttribute):
    """The scalar function of a `prim.elementwise`."""

    name = "prim.function"


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tensor_type(value).get_shape()


@irdl_op_definition
class ElementwiseOp(IRDLOperation):
    """
    Computes every element of the result from the same element of each operand. `maximum` and
    `minimum` keep NaN, as PyTorch's do.

    ```mlir
    %c = prim.elementwise add(%a, %b) : tensor<16x64xf32>
    ```
    """

    name = "prim.elementwise"

    T: ClassVar = VarConstraint("T", base(TensorType))

    function = prop_def(ScalarFunctionAttr)
    inputs = var_operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$function `(` $inputs `)` attr-dict `:` type($result)"

    def __init__(self, function: ScalarFunction, *inputs: SSAValue):
        super().__init__(
            operands=[inputs],
            properties={"function": ScalarFunctionAttr(function)},
            result_types=[inputs[0].type],
        )

    def verify_(self) -> None:
        function = self.function.data
        if len(self.inputs) != function.arity:
            raise VerifyException(
                f"'{function}' takes {function.arity} operand(s), got {len(self.inputs)}"
            )


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """
    Folds the axes `dims` away with a monoid; an empty axis gives the monoid's identity. The order
    of joining is unspecified. Over several operands of one shape it folds each.

    ```mlir
    %s = prim.reduce add(%a) dims [1] : (tensor<16x64xf32>) -> tensor<16xf32>
    ```
    """

    name = "prim.reduce"

    monoid = prop_def(MonoidAttr)
    dims = prop_def(DenseArrayBase.constr(i64))
    inputs = var_operand_def(base(TensorType))
    results_ = var_result_def(base(TensorType))

    traits = traits_def(Pure())
    assembly_format = (
        "$monoid `(` $inputs `)` `dims` $dims attr-dict `:` functional-type($inputs, $results_)"
    )

    def __init__(self, monoid: MonoidAttr, inputs: list[SSAValue], dims: tuple[int, ...]):
        super().__init__(
            operands=[inputs],
            properties={"monoid": monoid, "dims": DenseArrayBase.from_list(i64, dims)},
            result_types=[[_reduced_type(v, dims) for v in inputs]],
        )

    def verify_(self) -> None:
        if not self.inputs or len(self.inputs) != len(self.results_):
            raise VerifyException("give one result for each operand, and at least one operand")
        shape, dims = _shape(self.inputs[0]), self.dims.get_values()
        if list(dims) != sorted(set(dims)) or any(d not in range(len(shape)) for d in dims):
            raise VerifyException(
                f"dims {list(dims)} must be distinct, ascending and within rank {len(shape)}"
            )
        for operand, result in zip(self.inputs, self.results_, strict=True):
            if _shape(operand) != shape:
                raise VerifyException("all operands of a reduction have one shape")
            expected = _reduced_type(operand, tuple(dims))
            if result.type != expected:
                raise VerifyException(f"the result must be {expected}, not {result.type}")
        verify_floats(tensor_type(operand).element_type for operand in self.inputs)


def _reduced_type(value: SSAValue, dims: tuple[int, ...]) -> TensorType[Attribute]:
    type = tensor_type(value)
    kept = [size for axis, size in enumerate(type.get_shape()) if axis not in dims]
    return TensorType(type.element_type, kept)


@irdl_op_definition
class IndexMapOp(IRDLOperation):
    """
    Reads each element of the result from the element of the operand that the map names: views,
    broadcasts, transposes, slices. The map takes result coordinates to operand coordinates.

    ```mlir
    %b = prim.index_map %bias by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
    ```
    """

    name = "prim.index_map"

    T: ClassVar = VarConstraint("T", base(TensorType))

    input = operand_def(base(TensorType))
    map = prop_def(AffineMapAttr)
    result = result_def(base(TensorType))

    traits = traits_def(Pure())
    assembly_format = "$input `by` $map attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue, map: AffineMap, shape: tuple[int, ...]):
        super().__init__(
            operands=[input],
            properties={"map": AffineMapAttr(map)},
            result_types=[TensorType(tensor_type(input).element_type, shape)],
        )

    def verify_(self) -> None:
        map, shape = self.map.data, _shape(self.result)
        if map.num_dims != len(shape) or map.num_symbols:
            raise VerifyException(f"the map must take {len(shape)} dimensions, one a result axis")
        source = _shape(self.input)
        if len(map.results) != len(source):
            raise VerifyException(f"the map must give {len(source)} subscripts, one an input axis")
        if 0 in shape:
            return
        ranges = [Range.extent(size) for size in shape]
        for axis, (expr, size) in enumerate(zip(map.results, source, strict=True)):
            if range_of(expr, ranges) not in Range(0, size - 1):
                raise VerifyException(f"subscript {axis}, {expr}, leaves the axis of size {size}")


@irdl_op_definition
class ConstantOp(IRDLOperation):
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
        element_type = tensor_type(self.result).element_type
        if self.value.type != element_type:
            raise VerifyException(f"the value is of {self.value.type}, not {element_type}")


Prim = Dialect(
    "prim",
    [ElementwiseOp, ReduceOp, IndexMapOp, ConstantOp],
    [MonoidAttr, ScalarFunctionAttr],
)
