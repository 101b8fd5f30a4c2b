# SPDX-License-Identifier: Apache-2.0
"""
Communication between blocks of a launch.

Blocks of a cluster run at the same time and read each other's shared memory. All other blocks
communicate through global memory, in whatever order they run.
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
"""
Types that every target can update atomically, by monoid (CUDA C++ Programming Guide, atomic
functions).
"""


@irdl_op_definition
class ClusterBarrierOp(FormedOp):
    """
    Barrier of all threads of the cluster, which makes their shared memory writes visible to all of
    them.

    A block must not end before other blocks have read its shared memory, which takes one more
    barrier.

    ```mlir
    kernel.cluster_barrier
    ```
    """

    name = "kernel.cluster_barrier"

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"


@irdl_op_definition
class ClusterArriveOp(FormedOp):
    """
    First half of a barrier of the cluster: all threads of the block arrive and continue at once.

    A thread that has passed `kernel.cluster_wait` sees what others did before they arrived, and
    nothing of what they did since. A block whose last reads of other blocks precede its arrival
    can store results before it waits.

    ```mlir
    kernel.cluster_arrive
    ```
    """

    name = "kernel.cluster_arrive"

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"


@irdl_op_definition
class ClusterWaitOp(FormedOp):
    """
    Second half of a barrier of the cluster: waits until all threads of the cluster have arrived.

    ```mlir
    kernel.cluster_wait
    ```
    """

    name = "kernel.cluster_wait"

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"


@irdl_op_definition
class RemoteOp(FormedOp):
    """
    Read-only view of the same array in the shared memory of another block of the cluster.

    `rank` selects the block: its number modulo the number of blocks in a cluster.

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
            raise VerifyException("only arrays in shared memory have a remote address")


@irdl_op_definition
class ArriveOp(FormedOp):
    """
    Arrival of the block at a counter; the result is true in the last of `of` blocks.

    The counter must be 0 before the first block arrives, and is 0 again after the last. The last
    block sees everything that the other blocks wrote to global memory before they arrived. All
    threads of the block execute the op and get the same result.

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
    Atomic update of an element with a value, where the mask is true.

    The order of updates, and therefore the rounding of float sums, varies between runs.

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
                f"no target has an atomic {self.monoid.data} of {self.value.type}"
            )


def is_atomic(monoid: Monoid, type: Attribute) -> bool:
    """True if every target has an atomic update that combines values of `type` with `monoid`."""
    return str(type) in _ATOMIC_TYPES.get(monoid, ())
