# SPDX-License-Identifier: Apache-2.0
"""Loads and stores with affine subscripts, and a mask of the points at which they act."""

from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from typing import ClassVar

from xdsl.dialects.arith import SelectOp
from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    EffectInstance,
    MemoryEffect,
    MemoryEffectKind,
    MemoryWriteEffect,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Subscripts, Where
from tilewright.dialects.axes import (
    Access,
    MaskedOp,
    canonical_access,
    map_attr,
    verify_subscripts,
)
from tilewright.dialects.canonicalization import SIMPLIFIED_ACCESSES
from tilewright.dialects.faster_xdsl.segments import segmented
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.loop.kernel import kernel_of_argument
from tilewright.dialects.loop.values import PredicateOp
from tilewright.dialects.types import memref_type

_READS = frozenset((EffectInstance(MemoryEffectKind.READ),))


class ReadsUnlessInput(MemoryEffect):
    """Memory effect of a load: none from a kernel's input, which nothing writes; else a read."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        assert isinstance(op, LoadOp)
        memref = op.operands[0]  # ten times as fast as by name, in a hot path
        if kernel_of_argument(memref) is not None:
            return frozenset()
        return _READS


@segmented
@irdl_op_definition
class LoadOp(FormedOp, MaskedOp):
    """
    Load of one element; where the mask is false, nothing is read and the value is zero.

    An unmasked subscript out of bounds is an error.

    ```mlir
    %v = loop.load %x[%i * 4 + %j, %k] where [99 - %k] : memref<16x100xf32>
    ```
    """

    name = "loop.load"

    T: ClassVar = VarConstraint("T", AnyAttr())

    memref = operand_def(MemRefType.constr(T))
    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    result = result_def(T)

    traits = traits_def(ReadsUnlessInput(), SIMPLIFIED_ACCESSES)
    custom_directives = (Subscripts, Where)
    assembly_format = (
        "$memref custom<Subscripts>($indices, $map) custom<Where>($mask_operands, $mask) "
        "attr-dict `:` type($memref)"
    )

    def __init__(self, memref: SSAValue, subscripts: Access, where: Access | None = None):
        map, indices = canonical_access(*subscripts)
        super().__init__(
            operands=[[memref], indices],
            where=where,
            properties={"map": map_attr(map)},
            result_types=[memref_type(memref).element_type],
        )

    def selection(self) -> SelectOp | None:
        """
        Return the load's only user, if that is a select by exactly the load's mask; else None.

        If there is such a select, the value of the load where its mask is false does not matter.

        ```mlir
        %v = loop.load %x[%i - 3] where [%i - 3] : memref<97xf32>
        %p = loop.predicate [%i - 3] : i1
        %s = arith.select %p, %v, %fill : f32
        ```
        """
        select = self.result.get_user_of_unique_use()
        if not isinstance(select, SelectOp) or select.lhs is not self.result:
            return None
        predicate = select.cond.owner
        if not isinstance(predicate, PredicateOp) or self.mask != predicate.map:
            return None
        return select if tuple(self.mask_operands) == tuple(predicate.indices) else None

    def surroundings(self) -> Hashable:
        kernel = kernel_of_argument(self.memref)
        return kernel is not None and self.memref in kernel.outputs

    def verify_(self) -> None:
        verify_subscripts(self.memref, self.map.data, self.indices)
        self.verify_mask()
        if self.surroundings():
            raise VerifyException(
                f"reads %{self.memref.name_hint or 'memref'}, which is an output; "
                "only later launches can read what a kernel stores"
            )


@segmented
@irdl_op_definition
class StoreOp(FormedOp, MaskedOp):
    """
    Store of one element, where the mask is true.

    ```mlir
    loop.store %v, %out[%i * 4 + %j] where [99 - %i * 4 - %j] : memref<100xf32>
    ```
    """

    name = "loop.store"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(T)
    memref = operand_def(MemRefType.constr(T))
    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)

    traits = traits_def(MemoryWriteEffect(), SIMPLIFIED_ACCESSES)
    custom_directives = (Subscripts, Where)
    assembly_format = (
        "$value `,` $memref custom<Subscripts>($indices, $map) "
        "custom<Where>($mask_operands, $mask) attr-dict `:` type($memref)"
    )

    def __init__(
        self,
        value: SSAValue,
        memref: SSAValue,
        subscripts: Access,
        where: Access | None = None,
    ):
        map, indices = canonical_access(*subscripts)
        super().__init__(
            operands=[[value], [memref], indices],
            where=where,
            properties={"map": map_attr(map)},
        )

    def surroundings(self) -> Hashable:
        kernel = kernel_of_argument(self.memref)
        return kernel is not None and self.memref in kernel.inputs

    def verify_(self) -> None:
        verify_subscripts(self.memref, self.map.data, self.indices)
        self.verify_mask()
        if self.surroundings():
            raise VerifyException(
                f"stores to %{self.memref.name_hint or 'memref'}, which is an input; "
                "a kernel writes its outputs"
            )
