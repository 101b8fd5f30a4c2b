# SPDX-License-Identifier: Apache-2.0
"""Scalar functions that MLIR's `arith` and `math` dialects have, but xDSL's do not."""

from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloatConstr
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.scalar_function import ScalarFunction


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

_F = ScalarFunction

FLOAT_OPS: Mapping[ScalarFunction, type[Operation]] = {
    _F.ADD: arith.AddfOp,
    _F.SUB: arith.SubfOp,
    _F.MUL: arith.MulfOp,
    _F.DIV: arith.DivfOp,
    _F.FMOD: FmodOp,
    _F.POW: math.PowFOp,
    _F.MAXIMUM: arith.MaximumfOp,
    _F.MINIMUM: arith.MinimumfOp,
    _F.ATAN2: math.Atan2Op,
    _F.NEG: arith.NegfOp,
    _F.ABS: math.AbsFOp,
    _F.EXP: math.ExpOp,
    _F.EXP2: math.Exp2Op,
    _F.EXPM1: math.ExpM1Op,
    _F.LOG: math.LogOp,
    _F.LOG2: math.Log2Op,
    _F.LOG10: math.Log10Op,
    _F.LOG1P: math.Log1pOp,
    _F.SQRT: math.SqrtOp,
    _F.RSQRT: math.RsqrtOp,
    _F.SIN: math.SinOp,
    _F.COS: math.CosOp,
    _F.TAN: math.TanOp,
    _F.ASIN: math.AsinOp,
    _F.ACOS: math.AcosOp,
    _F.ATAN: math.AtanOp,
    _F.SINH: math.SinhOp,
    _F.COSH: math.CoshOp,
    _F.TANH: math.TanhOp,
    _F.ASINH: math.AsinhOp,
    _F.ACOSH: math.AcoshOp,
    _F.ATANH: math.AtanhOp,
    _F.ERF: math.ErfOp,
    _F.ERFC: ErfcOp,
    _F.FLOOR: math.FloorOp,
    _F.CEIL: math.CeilOp,
    _F.ROUND: math.RoundEvenOp,
    _F.TRUNC: math.TruncOp,
}
"""Op on floats of each function of `prim.elementwise` that takes and gives floats."""
