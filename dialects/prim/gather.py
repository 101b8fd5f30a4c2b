# SPDX-License-Identifier: Apache-2.0
"""Ops of Tensor IR that read or write at subscripts which are data of other tensors."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    AffineMapAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap, AffineSymExpr
from xdsl.irdl import (
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.index import Range, range_of
from tilewright.dialects.monoid import MonoidAttr, verify_monoid
from tilewright.dialects.prim.positions import verify_divisors
from tilewright.dialects.prim.syntax import PrimOp
from tilewright.dialects.types import element_of, shape_of

_TENSOR = base(TensorType)


def _verify_indexed(map: AffineMap, indices: Sequence[SSAValue], steps: SSAValue) -> None:
    """
    Raise `VerifyException` unless the map and the index tensors fit each other and `steps`.

    The map's dimensions are the coordinates of `steps`, and its symbols the values of the index
    tensors there.
    """
    shape = shape_of(steps)
    if map.num_dims != len(shape) or map.num_symbols != len(indices):
        raise VerifyException(
            f"the map must take {len(shape)} dimensions and {len(indices)} symbols, "
            "one for each tensor of subscripts"
        )
    verify_divisors(map)
    for index in indices:
        if shape_of(index) != shape:
            raise VerifyException(f"subscripts {index.type} must have the shape {list(shape)}")
        if element_of(index) not in (i32, i64):
            raise VerifyException(f"subscripts are i32 or i64, not {element_of(index)}")


def _verify_axes(map: AffineMap, tensor: SSAValue, steps: Sequence[int]) -> None:
    """
    Raise `VerifyException` unless the map has one valid subscript for each axis of `tensor`.

    A subscript is a single symbol, or an expression of dimensions that stays within the axis.
    """
    sizes, ranges = shape_of(tensor), [Range.extent(size) for size in steps]
    if len(map.results) != len(sizes):
        raise VerifyException(f"the map must give {len(sizes)} subscripts, one for each axis")
    for axis, (expr, size) in enumerate(zip(map.results, sizes, strict=True)):
        if isinstance(expr, AffineSymExpr):
            continue
        if any(isinstance(inner, AffineSymExpr) for inner in expr.dfs()):
            raise VerifyException(f"subscript {axis}, {expr}: a symbol must stand alone")
        if 0 not in steps and range_of(expr, ranges) not in Range(0, size - 1):
            raise VerifyException(f"subscript {axis}, {expr}, leaves the axis of size {size}")


@irdl_op_definition
class GatherOp(PrimOp):
    """
    Gather: each result element is the source element whose subscripts the map gives.

    Symbols of the map are the values of the index tensors, which have the result's shape. A value
    out of bounds is an error.

    ```mlir
    %e = prim.gather %weight[%ids] by affine_map<(d0, d1)[s0] -> (s0, d1)>
        : (tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
    ```
    """

    name = "prim.gather"

    source = operand_def(_TENSOR)
    indices = var_operand_def(_TENSOR)
    map = prop_def(AffineMapAttr)
    result = result_def(_TENSOR)

    assembly_format = (
        "$source `[` $indices `]` `by` $map attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self, source: SSAValue, indices: Sequence[SSAValue], map: AffineMap, shape: Sequence[int]
    ):
        super().__init__(
            operands=[source, indices],
            properties={"map": AffineMapAttr(map)},
            result_types=[TensorType(element_of(source), shape)],
        )

    def verify_(self) -> None:
        super().verify_()
        if not self.indices:
            raise VerifyException(
                "a gather has at least one tensor of subscripts; without any, use prim.index_map"
            )
        if element_of(self.source) != element_of(self.result):
            raise VerifyException(
                f"the source holds {element_of(self.source)}, the result {element_of(self.result)}"
            )
        _verify_indexed(self.map.data, self.indices, self.result)
        _verify_axes(self.map.data, self.source, shape_of(self.result))


@irdl_op_definition
class ScatterOp(PrimOp):
    """
    Scatter: the base, with each update combined into the element whose subscripts the map gives.

    Without a combiner, the update replaces the element; of several updates of one element the last
    in row-major order remains. Symbols of the map are the values of the index tensors, which have
    the updates' shape. A value out of bounds is an error.

    ```mlir
    %s = prim.scatter %updates to %base[%ids] with add by affine_map<(d0, d1)[s0] -> (s0, d1)>
        : (tensor<4x8xf32>, tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<100x8xf32>
    ```
    """

    name = "prim.scatter"

    T: ClassVar = VarConstraint("T", _TENSOR)

    updates = operand_def(_TENSOR)
    base = operand_def(T)
    indices = var_operand_def(_TENSOR)
    combiner = opt_prop_def(MonoidAttr)
    map = prop_def(AffineMapAttr)
    result = result_def(T)

    assembly_format = (
        "$updates `to` $base `[` $indices `]` (`with` $combiner^)? `by` $map attr-dict "
        "`:` functional-type(operands, results)"
    )

    def __init__(
        self,
        updates: SSAValue,
        base: SSAValue,
        indices: Sequence[SSAValue],
        map: AffineMap,
        combiner: MonoidAttr | None = None,
    ):
        super().__init__(
            operands=[updates, base, indices],
            properties={"map": AffineMapAttr(map), "combiner": combiner},
            result_types=[base.type],
        )

    def verify_(self) -> None:
        super().verify_()
        if element_of(self.updates) != element_of(self.base):
            raise VerifyException(
                f"the updates hold {element_of(self.updates)}, the base {element_of(self.base)}"
            )
        if self.combiner is not None:
            if not self.combiner.data.combines_each:
                raise VerifyException(f"'{self.combiner.data}' joins several values, not updates")
            verify_monoid(self.combiner, [element_of(self.base)])
        _verify_indexed(self.map.data, self.indices, self.updates)
        _verify_axes(self.map.data, self.base, shape_of(self.updates))
