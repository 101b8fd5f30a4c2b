# SPDX-License-Identifier: Apache-2.0
"""Ops of Tensor IR whose elements are functions of their own coordinates."""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AffineMapAttr,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineMap
from xdsl.irdl import (
    base,
    irdl_op_definition,
    prop_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.index import Range, range_of
from tilewright.dialects.prim.syntax import PrimOp
from tilewright.dialects.types import element_of, shape_of


def verify_coordinates(map: AffineMap, result: SSAValue) -> None:
    """Raise `VerifyException` unless the map takes the coordinates of `result`."""
    rank = len(shape_of(result))
    if map.num_dims != rank or map.num_symbols:
        raise VerifyException(f"the map must take {rank} dimensions, one for each result axis")
    verify_divisors(map)


def verify_divisors(map: AffineMap) -> None:
    """Raise `VerifyException` for a division by anything but a positive constant."""
    for expr in (inner for result in map.results for inner in result.dfs()):
        match expr:
            case AffineBinaryOpExpr(AffineBinaryOpKind.Add | AffineBinaryOpKind.Mul):
                pass
            case AffineBinaryOpExpr(_, _, AffineConstantExpr(value)) if value > 0:
                pass
            case AffineBinaryOpExpr():
                raise VerifyException(f"the divisor in '{expr}' must be a positive constant")
            case _:
                pass


class PositionsOp(PrimOp):
    """
    Base class of ops whose elements are affine expressions, or conditions, of their coordinates.
    """

    map = prop_def(AffineMapAttr)
    result = result_def(base(TensorType))

    assembly_format = "$map attr-dict `:` type($result)"

    def verify_(self) -> None:
        super().verify_()
        verify_coordinates(self.map.data, self.result)


@irdl_op_definition
class IotaOp(PositionsOp):
    """
    Tensor of positions: each element is an affine expression of its own coordinates.

    ```mlir
    %i = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<16x64xi64>
    ```
    """

    name = "prim.iota"

    def __init__(self, map: AffineMap, type: TensorType[Attribute]):
        super().__init__(properties={"map": AffineMapAttr(map)}, result_types=[type])

    def verify_(self) -> None:
        super().verify_()
        if len(self.map.data.results) != 1:
            raise VerifyException("the map must give one number")
        element = element_of(self.result)
        if element not in (i32, i64):
            raise VerifyException(f"positions are i32 or i64, not {element}")
        ranges = [Range.extent(size) for size in shape_of(self.result)]
        (expr,) = self.map.data.results
        if element == i32 and range_of(expr, ranges) not in Range(-(2**31), 2**31 - 1):
            raise VerifyException(f"{expr} does not fit i32: make it i64")


@irdl_op_definition
class PredicateOp(PositionsOp):
    """
    Tensor of i1: true where every expression of the element's coordinates is at least 0.

    ```mlir
    %causal = prim.predicate affine_map<(d0, d1) -> ((d0 + (d1 * -1)))> : tensor<128x128xi1>
    ```
    """

    name = "prim.predicate"

    def __init__(self, map: AffineMap, shape: Sequence[int]):
        super().__init__(
            properties={"map": AffineMapAttr(map)}, result_types=[TensorType(i1, shape)]
        )

    def verify_(self) -> None:
        super().verify_()
        if element_of(self.result) != i1:
            raise VerifyException(f"a predicate is of i1, not {element_of(self.result)}")
