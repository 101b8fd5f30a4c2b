# SPDX-License-Identifier: Apache-2.0
"""Conversions between indices and values: an index as an integer, a mask as an i1, and back."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr, IntegerType, i1, i64
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import (
    AtLeast,
    VarConstraint,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Subscripts, Where
from tilewright.dialects.axes import (
    Access,
    MaskedOp,
    RangedIndex,
    canonical_access,
    map_attr,
    optional_mask,
    verify_affine,
)
from tilewright.dialects.canonicalization import SIMPLIFIED_ACCESSES
from tilewright.dialects.element_types import COMPUTE_INTEGERS
from tilewright.dialects.faster_xdsl.segments import segmented
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.index import Range


@irdl_op_definition
class IndexOp(FormedOp):
    """
    Affine expression of indices as an integer value; in i32 it wraps.

    ```mlir
    %v = loop.index [%i * 64 + %j] : i64
    ```
    """

    name = "loop.index"

    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    result = result_def(base(IntegerType))

    traits = traits_def(Pure(), SIMPLIFIED_ACCESSES)
    custom_directives = (Subscripts,)
    assembly_format = "` ` custom<Subscripts>($indices, $map) attr-dict `:` type($result)"

    def __init__(self, value: Access, type: Attribute):
        map, indices = canonical_access(*value)
        super().__init__(operands=[indices], properties={"map": map_attr(map)}, result_types=[type])

    def verify_(self) -> None:
        _verify_map(self.map.data, self.indices)
        _verify_integer(self.result.type)
        if (exprs := len(self.map.data.results)) != 1:
            raise VerifyException(f"an index is one expression, not {exprs}")


@irdl_op_definition
class PredicateOp(HasFolderInterface, FormedOp):
    """
    Value of a mask: true where every expression is at least 0.

    Expressions that the ranges of the indices prove are dropped when the op is built; without
    expressions it is true.

    ```mlir
    %p = loop.predicate [99 - %k, %k - 3] : i1
    ```
    """

    name = "loop.predicate"

    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    result = result_def(i1)

    traits = traits_def(Pure(), SIMPLIFIED_ACCESSES)
    custom_directives = (Subscripts,)
    assembly_format = "` ` custom<Subscripts>($indices, $map) attr-dict `:` type($result)"

    def __init__(self, where: Access):
        indices, needed = optional_mask(where)
        map = needed or map_attr(AffineMap(0, 0, ()))
        super().__init__(operands=[indices], properties={"map": map}, result_types=[i1])

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """Return true, if the ranges of the indices prove every expression; else None."""
        _, needed = optional_mask((self.map.data.results, self.indices))
        return (IntegerAttr(1, i1),) if needed is None else None

    def verify_(self) -> None:
        _verify_map(self.map.data, self.indices)


def _verify_map(map: AffineMap, indices: Sequence[SSAValue]) -> None:
    if map.num_dims != len(indices):
        raise VerifyException(f"the map takes {map.num_dims} indices, got {len(indices)}")
    verify_affine(map)


@segmented
@irdl_op_definition
class ToIndexOp(RangedIndex, FormedOp, MaskedOp):
    """
    Conversion of an integer value to an index below a bound.

    Where the mask is false, the value does not matter and the index is 0. Elsewhere, a value out of
    bounds is an error, which stops a kernel on the GPU.

    ```mlir
    %s = loop.to_index %v below 4096 where [99 - %k] : i64
    ```
    """

    name = "loop.to_index"

    T: ClassVar = VarConstraint("T", base(IntegerType))

    value = operand_def(T)
    bound = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    result = result_def(IndexType())

    traits = traits_def(NoMemoryEffect(), SIMPLIFIED_ACCESSES)
    custom_directives = (Where,)
    assembly_format = (
        "$value `below` $bound custom<Where>($mask_operands, $mask) attr-dict `:` type($value)"
    )

    def __init__(self, value: SSAValue, bound: int, where: Access | None = None):
        super().__init__(
            operands=[[value]],
            where=where,
            properties={"bound": IntegerAttr(bound, i64)},
            result_types=[IndexType()],
        )

    def result_range(self) -> Range | None:
        return Range.extent(self.bound.value.data)

    def verify_(self) -> None:
        self.verify_mask()
        _verify_integer(self.value.type)


def _verify_integer(type: Attribute) -> None:
    if type not in COMPUTE_INTEGERS:
        raise VerifyException(
            f"an index is of {' or '.join(map(str, COMPUTE_INTEGERS))}, not of {type}"
        )
