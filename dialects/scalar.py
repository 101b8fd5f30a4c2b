# SPDX-License-Identifier: Apache-2.0
"""Scalar functions that MLIR's `arith` and `math` dialects have, but xDSL's do not."""

from typing import ClassVar

from xdsl.dialects.builtin import AnyFloatConstr
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tilewright.dialects.faster_xdsl.verify_once import FormedOp


@irdl_op_definition
class ErfcOp(FormedOp):
    """
    1 - erf(x), exact also where erf(x) is nearly 1.

    ```mlir
    %1 = scalar.erfc %0 : f32
    ```
    """

    name = "scalar.erfc"

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    operand = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$operand attr-dict `:` type($result)"

    def __init__(self, operand: SSAValue):
        super().__init__(operands=[operand], result_types=[operand.type])


@irdl_op_definition
class FmodOp(FormedOp):
    """
    Remainder of `lhs` divided by `rhs`, with the sign of `lhs`; exact, as C's `fmod`.

    ```mlir
    %2 = scalar.fmod %0, %1 : f32
    ```
    """

    name = "scalar.fmod"

    T: ClassVar = VarConstraint("T", AnyFloatConstr)

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($result)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[lhs, rhs], result_types=[lhs.type])


Scalar = Dialect("scalar", [ErfcOp, FmodOp], [])
