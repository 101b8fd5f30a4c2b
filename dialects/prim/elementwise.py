# SPDX-License-Identifier: Apache-2.0
"""Tensors computed element by element, and tensors of one value."""

from collections.abc import Sequence

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    TensorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    base,
    irdl_op_definition,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import ConstantLike, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import COMPUTE_FLOATS
from tilewright.dialects.prim.syntax import EqualTypes, PrimOp
from tilewright.dialects.scalar_function import (
    ScalarFunction,
    ScalarFunctionAttr,
    verify_function,
)
from tilewright.dialects.types import element_of, shape_of, tensor_of


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
        verify_function(
            self.function.data,
            [element_of(value) for value in self.inputs],
            element_of(self.result),
        )
        if any(shape_of(value) != shape_of(self.result) for value in self.inputs):
            raise VerifyException("operands and result have one shape: broadcast by prim.index_map")
        is_product = self.function.data is ScalarFunction.MUL
        if self.fastmath.data and not (is_product and element_of(self.result) in COMPUTE_FLOATS):
            raise VerifyException("only a product of floats has fast-math flags")


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
