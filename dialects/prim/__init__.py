# SPDX-License-Identifier: Apache-2.0
"""
Tensor IR: whole-tensor programs in three primitives.

* `prim.elementwise` computes each element from the elements of its operands at the same position.
* `prim.reduce` folds axes.
* `prim.index_map` states which source element each element is (views, broadcasts, transposes,
  padding, concatenation).

The other ops express what these cannot: constants, positions and predicates of positions,
`prim.gather` and `prim.scatter`, whose subscripts are data, and `prim.scan`.

Arithmetic is on f32, f64, i1, i32 and i64; other types are cast before and after it.
"""

from xdsl.ir import Dialect

from tilewright.dialects.monoid import MonoidAttr
from tilewright.dialects.prim.elementwise import (
    ConstantMaterialization,
    ConstantOp,
    ElementwiseOp,
    elementwise_op,
)
from tilewright.dialects.prim.gather import GatherOp, ScatterOp
from tilewright.dialects.prim.index_map import IndexMapOp, Source
from tilewright.dialects.prim.positions import IotaOp, PredicateOp
from tilewright.dialects.prim.reduction import ReduceOp, ScanOp
from tilewright.dialects.scalar_function import ScalarFunction, ScalarFunctionAttr

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
    "elementwise_op",
]

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
    [ConstantMaterialization()],
)
