# SPDX-License-Identifier: Apache-2.0
"""
Kernel IR: one thread's program in hardware primitives.

Ids, shared memory, barriers and shuffles stand here; arithmetic is `arith` and `math`, control
flow `scf`, memory access `loop.load` and `loop.store` with their affine subscripts and masks, which
`loop.predicate` makes values.
"""

from typing import ClassVar

from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    IntegerAttr,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Dialect, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AtLeast,
    VarConstraint,
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import (
    MemoryReadEffect,
    Pure,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.assembly import Subscripts
from tilewright.dialects.axes import (
    Access,
    RangedIndex,
    canonical_access,
    range_of_value,
    verify_affine,
)
from tilewright.dialects.form import FormedOp
from tilewright.dialects.index import Range, range_of
from tilewright.dialects.kernel.barrier import BarrierOp, NamedBarrierOp, WarpBarrierOp
from tilewright.dialects.kernel.comment import CommentOp
from tilewright.dialects.kernel.copy import CopyAsyncOp, CopyOp
from tilewright.dialects.kernel.grid import ArriveOp, AtomicOp, ClusterBarrierOp, RemoteOp
from tilewright.dialects.kernel.registers import RegistersOp, UnrollOp
from tilewright.dialects.kernel.ring import (
    RingAcquireOp,
    RingCommitOp,
    RingOp,
    RingReleaseOp,
    RingType,
    RingWaitOp,
    TmaCopyOp,
)
from tilewright.dialects.kernel.shared import SharedOp
from tilewright.dialects.kernel_like import ThreadFuncOp
from tilewright.dialects.target import WARP_SIZE


@irdl_op_definition
class FuncOp(ThreadFuncOp):
    """
    What one thread of a kernel does, with the launch it is made for: `grid` blocks of `block`
    threads, both linear.

    ```mlir
    kernel.func grid 8 block 128 @copy(%x: memref<1024xf32>) -> (%out: memref<1024xf32>) {
      %b = kernel.block_id
      %t = kernel.thread_id
      %0 = loop.load %x[%b * 128 + %t] : memref<1024xf32>
      loop.store %0, %out[%b * 128 + %t] : memref<1024xf32>
    }
    ```
    """

    name = "kernel.func"

    def verify_(self) -> None:
        self.verify_launch()


def function_of(op: Operation) -> FuncOp:
    """The function that `op` is part of."""
    parent = op.parent_op()
    assert parent is not None
    return parent if isinstance(parent, FuncOp) else function_of(parent)


class IdOp(RangedIndex, FormedOp):
    """An index that tells threads apart, from 0 up to what the enclosing function launches."""

    result = result_def(IndexType())

    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    LAUNCH_PROPERTY: ClassVar[str]

    def __init__(self) -> None:
        super().__init__(result_types=[IndexType()])

    def result_range(self) -> Range | None:
        op = self.parent_op()
        while op is not None and not isinstance(op, FuncOp):
            op = op.parent_op()
        if op is None:
            return None
        extent = op.properties[self.LAUNCH_PROPERTY]
        assert isinstance(extent, IntegerAttr)
        return Range.extent(extent.value.data)


@irdl_op_definition
class BlockIdOp(IdOp):
    """
    The block's number in the grid.

    ```mlir
    %b = kernel.block_id
    ```
    """

    name = "kernel.block_id"
    LAUNCH_PROPERTY: ClassVar[str] = "grid"


@irdl_op_definition
class ThreadIdOp(IdOp):
    """
    The thread's number in its block.

    ```mlir
    %t = kernel.thread_id
    ```
    """

    name = "kernel.thread_id"
    LAUNCH_PROPERTY: ClassVar[str] = "block"


@irdl_op_definition
class IndexOp(RangedIndex, FormedOp):
    """
    A named index: an affine expression of others.

    ```mlir
    %row = kernel.index [%b * 4 + %t floordiv 32]
    ```
    """

    name = "kernel.index"

    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure())
    custom_directives = (Subscripts,)
    assembly_format = "` ` custom<Subscripts>($indices, $map) attr-dict"

    def __init__(self, value: Access):
        map, indices = canonical_access(*value)
        super().__init__(
            operands=[indices],
            properties={"map": AffineMapAttr(map)},
            result_types=[IndexType()],
        )

    def result_range(self) -> Range | None:
        (expr,) = self.map.data.results
        return range_of(expr, [range_of_value(v) for v in self.indices])

    def verify_(self) -> None:
        if self.map.data.num_dims != len(self.indices):
            dims = self.map.data.num_dims
            raise VerifyException(f"the map takes {dims} indices, got {len(self.indices)}")
        verify_affine(self.map.data)
        if len(self.map.data.results) != 1:
            raise VerifyException("an index is one expression")


class ShuffleMode(StrEnum):
    """Which lane a shuffle reads: `xor` own id ^ offset, `idx` the lane of that number."""

    XOR = "xor"
    IDX = "idx"


@irdl_attr_definition
class ShuffleModeAttr(EnumAttribute[ShuffleMode], SpacedOpaqueSyntaxAttribute):
    """Which lane a shuffle reads."""

    name = "kernel.shuffle_mode"


def verify_segment(offset: int, width: int) -> None:
    """Raise `VerifyException` unless lanes of segments of `width` can read across `offset`."""
    if width not in (1, 2, 4, 8, 16, 32):
        raise VerifyException(f"the width {width} must be a power of two up to {WARP_SIZE}")
    if offset >= width:
        raise VerifyException(f"the offset {offset} leaves the segment of {width} lanes")


@irdl_op_definition
class ShuffleOp(FormedOp):
    """
    The value that another lane of the warp holds; all lanes take part (PTX ISA, `shfl.sync`).
    Lanes form segments of `width`, a power of two; `idx` counts within the segment.

    ```mlir
    %o = kernel.shuffle xor %v, 16 width 32 : f32
    ```
    """

    name = "kernel.shuffle"

    T: ClassVar = VarConstraint("T", AnyAttr())

    mode = prop_def(ShuffleModeAttr)
    value = operand_def(T)
    offset = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(0)))
    width = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    result = result_def(T)

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$mode $value `,` $offset `width` $width attr-dict `:` type($value)"

    def __init__(self, mode: ShuffleMode, value: SSAValue, offset: int, width: int = WARP_SIZE):
        super().__init__(
            operands=[value],
            properties={
                "mode": ShuffleModeAttr(mode),
                "offset": IntegerAttr(offset, i64),
                "width": IntegerAttr(width, i64),
            },
            result_types=[value.type],
        )

    def verify_(self) -> None:
        verify_segment(self.offset.value.data, self.width.value.data)


Kernel = Dialect(
    "kernel",
    [
        FuncOp,
        BlockIdOp,
        ThreadIdOp,
        IndexOp,
        SharedOp,
        RegistersOp,
        UnrollOp,
        CopyOp,
        CopyAsyncOp,
        TmaCopyOp,
        RingOp,
        RingAcquireOp,
        RingCommitOp,
        RingWaitOp,
        RingReleaseOp,
        BarrierOp,
        WarpBarrierOp,
        NamedBarrierOp,
        ShuffleOp,
        ClusterBarrierOp,
        RemoteOp,
        ArriveOp,
        AtomicOp,
        CommentOp,
    ],
    [ShuffleModeAttr, RingType],
)
