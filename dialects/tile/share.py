# SPDX-License-Identifier: Apache-2.0
"""The op by which threads make their values visible to the other threads of the block."""

from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Subscripts
from tilewright.dialects.axes import (
    Access,
    canonical_access,
    extent_of,
    map_attr,
    range_of_value,
    verify_subscripts,
)
from tilewright.dialects.canonicalization import SIMPLIFIED_ACCESSES
from tilewright.dialects.index import sum_of
from tilewright.dialects.tile.attributes import Level
from tilewright.dialects.tile.launch import Axes, MeetingOp, launch_of, level_of
from tilewright.dialects.tile.layout import layout_of
from tilewright.dialects.tile.stage import SHARED, value_varies_along
from tilewright.dialects.types import memref_type


@irdl_op_definition
class ShareOp(IRDLOperation, MeetingOp):
    """
    Slab of values that the threads of a block hold, for all of them to read.

    The slab holds a value for each step of the axes in the subscripts, which are thread and
    register axes. Together, these axes number all elements of the slab. The value must not vary
    along other axes of the block.

    ```mlir
    %ms = tile.share %max at [%sm * 64 + %tm * 4 + %vm] : memref<128xf32, 3 : i64>
    ```
    """

    name = "tile.share"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(T)
    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    slab = result_def(MemRefType.constr(T))

    traits = traits_def(Pure(), SIMPLIFIED_ACCESSES)
    custom_directives = (Subscripts,)
    assembly_format = "$value `at` ` ` custom<Subscripts>($indices, $map) attr-dict `:` type($slab)"

    def __init__(self, value: SSAValue, subscripts: Access, slab: MemRefType):
        map, indices = canonical_access(*subscripts)
        super().__init__(
            operands=[value, indices],
            properties={"map": map_attr(map)},
            result_types=[slab],
        )

    def varies_among(self, axes: Axes) -> Axes:
        return frozenset(axis for axis in axes if level_of(axis) is Level.BLOCK)

    def verify_(self) -> None:
        slab = memref_type(self.slab)
        if slab.memory_space != SHARED:
            raise VerifyException(f"the slab is in shared memory (3 : i64), not {slab}")
        if (layout := layout_of(slab)).has_slots:
            raise VerifyException("a shared slab is not in a ring; remove 'slots' from the layout")
        layout.verify_for(slab)
        verify_subscripts(self.slab, self.map.data, self.indices)
        self._verify_axes()
        for subscript, size in zip(self.map.data.results, slab.get_shape(), strict=True):
            self._verify_number(subscript, size)
        used = [d for subscript in self.map.data.results for d in subscript.used_dims()]
        if len(used) != len(self.indices):
            raise VerifyException("each axis is a part of one subscript")

    def _verify_axes(self) -> None:
        """
        Raise `VerifyException` unless subscripts name axes of the block, and all that the value
        varies along.
        """
        if not all(map(_is_within_block, self.indices)):
            raise VerifyException("share along thread and register axes of the tile.launch")
        for axis in sorted(value_varies_along(self.value, {}), key=lambda axis: axis.index):
            if _is_within_block(axis) and extent_of(axis) != 1 and axis not in self.indices:
                raise VerifyException(
                    f"the value differs along %{axis.name_hint or axis.index}, which is in no "
                    "subscript"
                )

    def _verify_number(self, subscript: AffineExpr, size: int) -> None:
        """
        Raise `VerifyException` unless `subscript` takes each value below `size` exactly once.

        The subscript's axes must be the digits of a mixed-radix number.
        """
        number = sum_of(subscript, [range_of_value(index) for index in self.indices])
        digits = [
            (factor, extent_of(self.indices[axis.position]) or 0)
            for axis, factor in number.terms.items()
            if isinstance(axis, AffineDimExpr)
        ]
        expected = 1
        for factor, extent in sorted(digits):
            if factor != expected:
                break
            expected *= extent
        is_whole = expected == size == prod(extent for _, extent in digits)
        if not is_whole or number.constant or len(digits) != len(number.terms):
            raise VerifyException(
                f"the axes of a subscript number each of its {size} elements once"
            )


def _is_within_block(axis: SSAValue) -> bool:
    """True if `axis` is a thread or register axis of a launch."""
    if not isinstance(axis, BlockArgument) or launch_of(axis) is None:
        return False
    return level_of(axis) is not Level.BLOCK
