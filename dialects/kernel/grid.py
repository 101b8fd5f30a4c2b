# SPDX-License-Identifier: Apache-2.0
"""
How blocks of a launch find each other: those of a cluster, which run at the same time, in each
other's shared memory; all others in global memory, whatever order they run in.
"""

from typing import ClassVar

from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr, MemRefType, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
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
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Subscripts, Where, WithMonoid
from tilewright.dialects.axes import (
    Access,
    MaskedOp,
    canonical_access,
    verify_subscripts,
)
from tilewright.dialects.faster_xdsl.segments import segmented
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.monoid import Monoid, MonoidAttr, verify_monoid
from tilewright.dialects.tile import SHARED
from tilewright.dialects.types import memref_type

_ATOMIC_TYPES: dict[Monoid, tuple[str, ...]] = {
    Monoid.ADD: ("f32", "f64", "i32", "i64"),
    Monoid.MAX: ("i32", "i64"),
    Monoid.MIN: ("i32", "i64"),
}
"""What every target updates at once (CUDA C++ Programming Guide, atomic functions)."""


@irdl_op_definition
class ClusterBarrierOp(FormedOp):
    """
    Waits for every thread of the cluster and makes their shared memory writes visible to all of
    them. A block must not end before others have read its shared memory: they meet once more.

    ```mlir
    kernel.cluster_barrier
    ```
    """

    name = "kernel.cluster_barrier"

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"


@irdl_op_definition
class RemoteOp(FormedOp):
    """
    The array that lies at the same place in the shared memory of another block of the cluster: of
    that rank, which is the block's number modulo the blocks of a cluster. It may be read.

    ```mlir
    %theirs = kernel.remote %partial of %rank : memref<8x256xf32, 3 : i64>
    ```
    """

    name = "kernel.remote"

    T: ClassVar = VarConstraint("T", base(MemRefType))

    source = operand_def(T)
    rank = operand_def(IndexType())
    memref = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$source `of` $rank attr-dict `:` type($source)"

    def __init__(self, source: SSAValue, rank: SSAValue):
        super().__init__(operands=[source, rank], result_types=[source.type])

    def verify_(self) -> None:
        if memref_type(self.source).memory_space != SHARED:
            raise VerifyException("what other blocks have at the same place is shared memory")


@irdl_op_definition
class ArriveOp(FormedOp):
    """
    The block arrives at a counter, which was 0 before the first of `of` blocks: whether it is the
    last of them. That one sees all that the others had written to global memory when they arrived,
    and the counter is 0 again. All threads of the block come to it, and have the same result.

    ```mlir
    %last = kernel.arrive %arrived[%tile] of 4 : memref<64xi32>
    ```
    """

    name = "kernel.arrive"

    counter = operand_def(base(MemRefType))
    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    blocks = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    is_last = result_def(i1)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    custom_directives = (Subscripts,)
    assembly_format = (
        "$counter custom<Subscripts>($indices, $map) `of` $blocks attr-dict `:` type($counter)"
    )

    def __init__(self, counter: SSAValue, subscripts: Access, blocks: int):
        map, indices = canonical_access(*subscripts)
        super().__init__(
            operands=[counter, indices],
            properties={"map": AffineMapAttr(map), "blocks": IntegerAttr(blocks, i64)},
            result_types=[i1],
        )

    def verify_(self) -> None:
        verify_subscripts(self.counter, self.map.data, self.indices)
        if memref_type(self.counter).element_type != i32:
            raise VerifyException("blocks are counted in i32")


@segmented
@irdl_op_definition
class AtomicOp(FormedOp, MaskedOp):
    """
    Joins a value into an element, where the mask holds: no other thread comes between. Floats are
    added in the order in which threads happen to come.

    ```mlir
    kernel.atomic %v into %out[%i, %j] with add where [69 - %i] : memref<70x50xf32>
    ```
    """

    name = "kernel.atomic"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(T)
    memref = operand_def(MemRefType.constr(T))
    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    monoid = prop_def(MonoidAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    custom_directives = (Subscripts, Where, WithMonoid)
    assembly_format = (
        "$value `into` $memref custom<Subscripts>($indices, $map) custom<WithMonoid>($monoid) "
        "custom<Where>($mask_operands, $mask) attr-dict `:` type($memref)"
    )

    def __init__(
        self,
        value: SSAValue,
        memref: SSAValue,
        subscripts: Access,
        monoid: MonoidAttr,
        where: Access | None = None,
    ):
        map, indices = canonical_access(*subscripts)
        super().__init__(
            operands=[[value], [memref], indices],
            where=where,
            properties={"map": AffineMapAttr(map), "monoid": monoid},
        )

    def verify_(self) -> None:
        verify_subscripts(self.memref, self.map.data, self.indices)
        self.verify_mask()
        verify_monoid(self.monoid, [self.value.type])
        if not is_atomic(self.monoid.data, self.value.type):
            raise VerifyException(
                f"no target joins {self.value.type} with {self.monoid.data} at once"
            )


def is_atomic(monoid: Monoid, type: Attribute) -> bool:
    """True if there is an atomic update that joins values of `type`."""
    return str(type) in _ATOMIC_TYPES.get(monoid, ())
