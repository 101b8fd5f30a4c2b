# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops on tensors, and tensors whose elements are all equal."""

from collections.abc import Sequence

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    TensorType,
)
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Operation, SSAValue
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
from xdsl.utils.hints import isa

from tilewright.dialects.canonicalization import CanonicalizedBy
from tilewright.dialects.element_types import COMPUTE_FLOATS
from tilewright.dialects.prim.computed import computed
from tilewright.dialects.prim.identities import (
    FLOAT_NEUTRALS,
    IDEMPOTENT_BINARY,
    IDEMPOTENT_UNARY,
    INTEGER_NEUTRALS,
    INVOLUTIONS,
)
from tilewright.dialects.prim.syntax import EqualTypes, PrimOp
from tilewright.dialects.scalar_function import (
    ScalarFunction,
    ScalarFunctionAttr,
    verify_function,
)
from tilewright.dialects.types import element_of, shape_of, tensor_of


@irdl_op_definition
class ElementwiseOp(HasFolderInterface, PrimOp):
    """
    Elementwise function: every result element is computed from the operands' elements at its
    position.

    `maximum` and `minimum` propagate NaN, as PyTorch's do. A float product with
    `fastmath<nnan,ninf>` may be replaced by 0 if one factor is 0, even if the other is infinite or
    NaN. The factors of a float32 product with `fastmath<afn>` may be rounded to tf32 if a reduction
    adds the product.

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

    traits = traits_def(CanonicalizedBy("tensor.fold_elementwise:FoldCasts"))
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

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """Return the operand or the constant that the result is known to equal; else None."""
        for fold in (
            ElementwiseOp.equal_operand,
            ElementwiseOp.selected_operand,
            ElementwiseOp.uncast_operand,
            ElementwiseOp.constant_result,
        ):
            if (known := fold(self)) is not None:
                return (known,)
        return None

    def equal_operand(self) -> SSAValue | None:
        """
        Return the operand, or an operand's operand, that the result equals by an identity; else
        None.
        """
        function, first = self.function.data, self.inputs[0]
        if function in IDEMPOTENT_BINARY and self.inputs[0] is self.inputs[1]:
            return first
        if function in INVOLUTIONS and (inner := elementwise_op(first, function)) is not None:
            return inner.inputs[0]
        if function in IDEMPOTENT_UNARY and elementwise_op(first, function) is not None:
            return first
        neutrals = FLOAT_NEUTRALS if element_of(self.result) in COMPUTE_FLOATS else INTEGER_NEUTRALS
        for position, value in enumerate(self.inputs if len(self.inputs) == 2 else ()):
            number = _number(value)
            if number is not None and any(n.is_met(function, position, number) for n in neutrals):
                return self.inputs[1 - position]
        return None

    def selected_operand(self) -> SSAValue | None:
        """
        Return the chosen operand of a select whose choices are equal or whose condition is
        constant.

        None otherwise.
        """
        if self.function.data is not ScalarFunction.SELECT:
            return None
        condition, then, otherwise = self.inputs
        known = _number(condition)
        if known is None and then is not otherwise:
            return None
        return otherwise if known == 0 else then

    def uncast_operand(self) -> SSAValue | None:
        """Return the operand of a cast to its own type; else None."""
        is_cast = self.function.data is ScalarFunction.CAST
        return self.inputs[0] if is_cast and self.inputs[0].type == self.result.type else None

    def constant_result(self) -> FloatAttr | IntegerAttr | None:
        """
        Return the value of each element, if all operands are constants and it is exact; else None.
        """
        numbers = [number for value in self.inputs if (number := _number(value)) is not None]
        if len(numbers) < len(self.inputs):
            return None
        element, result = element_of(self.inputs[0]), element_of(self.result)
        return computed(self.function.data, numbers, element, result)


def elementwise_op(value: SSAValue, function: ScalarFunction) -> ElementwiseOp | None:
    """Return the op that defines `value`, if it computes `function`; else None."""
    op = value.owner
    return op if isinstance(op, ElementwiseOp) and op.function.data is function else None


def _number(value: SSAValue) -> int | float | None:
    """
    Return the number that every element of `value` has, if it is a constant; else None.

    True is -1, as in an i1 attribute.
    """
    op = value.owner
    return op.value.value.data if isinstance(op, ConstantOp) else None


@irdl_op_definition
class ConstantOp(HasFolderInterface, PrimOp):
    """
    Tensor whose elements are all one value.

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

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """Return the value of each element."""
        return (self.value,)

    def verify_(self) -> None:
        super().verify_()
        element_type = element_of(self.result)
        if self.value.type != element_type:
            raise VerifyException(f"the value is of {self.value.type}, not {element_type}")


class ConstantMaterialization(ConstantMaterializationInterface):
    """Conversion of constants, as folds of tensor ops return them, to ops."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        """
        Return a tensor constant of that value in each element; None for other values and types.
        """
        if not isa(value, FloatAttr | IntegerAttr) or not isa(type, TensorType):
            return None
        return ConstantOp(value, type)
