# SPDX-License-Identifier: Apache-2.0
"""
Rings: slots in shared memory that are filled ahead of their use.

Fills are counted from 0; fill number `count` goes to slot `count mod depth`. The count is an
operand because a kernel may run one loop several times, and a slot's parity depends on all earlier
fills. A pipelined loop has these ops, in order:

    ring_wait     wait until fill `count` is visible to every thread
    ring_acquire  wait until every thread has released the slot of a later fill
    copy_async / tma_copy / store, ring_commit   start that later fill
    ...           read fill `count`
    ring_release  promise not to read fill `count` again
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    IndexType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    i64,
)
from xdsl.ir import (
    Attribute,
    ParametrizedAttribute,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    AtLeast,
    IRDLOperation,
    base,
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryAllocEffect, MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Subscripts
from tilewright.dialects.axes import Access, canonical_access, verify_subscripts
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.kernel.boxes import box_problem
from tilewright.dialects.tile import SHARED, Transport, TransportAttr
from tilewright.dialects.tile.attributes import verify_slots
from tilewright.dialects.types import memref_type


@irdl_attr_definition
class RingType(ParametrizedAttribute, TypeAttribute):
    """Type of a ring with `depth` slots that `transport` fills."""

    name = "kernel.ring"

    depth: IntAttr
    transport: TransportAttr

    @staticmethod
    def get(depth: int, transport: Transport) -> "RingType":
        """Return the type of a ring with `depth` slots that `transport` fills."""
        return RingType(IntAttr(depth), TransportAttr(transport))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            depth = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_punctuation(",")
            return cls.get(depth, parser.parse_str_enum(Transport)).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.depth.data}, {self.transport.data}")

    def verify(self) -> None:
        if self.depth.data < 1:
            raise VerifyException("a ring has at least one slot")
        verify_slots(self.depth.data)


@irdl_op_definition
class RingOp(FormedOp):
    """
    Ring of slots in shared memory, all of them free at first.

    `bytes` is the number of bytes in a fill; with the transport `tma`, the hardware counts them.

    ```mlir
    %ring = kernel.ring bytes 16384 : !kernel.ring<4, tma>
    ```
    """

    name = "kernel.ring"

    bytes = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    ring = result_def(base(RingType))

    traits = traits_def(MemoryAllocEffect())
    assembly_format = "`bytes` $bytes attr-dict `:` type($ring)"

    def __init__(self, depth: int, transport: Transport, bytes: int):
        super().__init__(
            properties={"bytes": IntegerAttr(bytes, i64)},
            result_types=[RingType.get(depth, transport)],
        )


class FillOp(FormedOp):
    """Base class of ops that concern fill number `count` of a ring."""

    ring = operand_def(base(RingType))
    count = operand_def(base(IndexType))

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$ring `,` $count attr-dict `:` type($ring)"

    def __init__(self, ring: SSAValue, count: SSAValue):
        super().__init__(operands=[ring, count])


@irdl_op_definition
class RingAcquireOp(FillOp):
    """
    Wait until the slot of fill `count` is free: every thread has released fill `count - depth`.

    ```mlir
    kernel.ring_acquire %ring, %next : !kernel.ring<4, tma>
    ```
    """

    name = "kernel.ring_acquire"


@irdl_op_definition
class RingCommitOp(FillOp):
    """
    Commit of fill `count`: all its copies have started.

    After the last fill, a loop commits empty ones, because each step needs one commit.

    ```mlir
    kernel.ring_commit %ring, %next : !kernel.ring<4, tma>
    ```
    """

    name = "kernel.ring_commit"


@irdl_op_definition
class RingWaitOp(FillOp):
    """
    Wait until fill `count` is visible to all threads of the block.

    Up to `pending` fills that were committed later may still be in flight.

    ```mlir
    kernel.ring_wait %ring, %ko pending 2 : !kernel.ring<4, tma>
    ```
    """

    name = "kernel.ring_wait"

    pending = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(0)))

    assembly_format = "$ring `,` $count `pending` $pending attr-dict `:` type($ring)"

    def __init__(self, ring: SSAValue, count: SSAValue, pending: int):
        IRDLOperation.__init__(
            self, operands=[ring, count], properties={"pending": IntegerAttr(pending, i64)}
        )

    def verify_(self) -> None:
        assert isinstance(self.ring.type, RingType)
        depth, pending = self.ring.type.depth.data, self.pending.value.data
        if pending >= depth:
            raise VerifyException(
                f"one of {depth} slots is being read: at most {depth - 1} later fills are in "
                f"flight, not {pending}"
            )


@irdl_op_definition
class RingReleaseOp(FillOp):
    """
    Release of fill `count`: the thread does not read it again.

    ```mlir
    kernel.ring_release %ring, %ko : !kernel.ring<4, tma>
    ```
    """

    name = "kernel.ring_release"


@irdl_op_definition
class TmaCopyOp(FormedOp):
    """
    TMA copy of a box of global memory to a slot (PTX ISA, `cp.async.bulk.tensor`).

    The subscripts address the box's first element; elements outside the tensor are zero. All
    threads execute the op, and one of them starts the copy. Axes along which the box has one
    element are not axes of the slot. If the slot stores its innermost axis in pieces, or deals its
    rows out to piles, the hardware copies each part as a box.

    ```mlir
    kernel.tma_copy %x[%g, %row, %k] box [1, 128, 16] to %s[%slot] on %ring, %count
      : memref<6x256x128xf32>, memref<4x128x16xf32, 3 : i64>, !kernel.ring<4, tma>
    ```
    """

    name = "kernel.tma_copy"

    source = operand_def(base(MemRefType))
    indices = var_operand_def(IndexType)
    map = prop_def(AffineMapAttr)
    box = prop_def(DenseArrayBase.constr(i64))
    target = operand_def(base(MemRefType))
    slot = operand_def(IndexType())
    ring = operand_def(base(RingType))
    count = operand_def(IndexType())

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    custom_directives = (Subscripts,)
    assembly_format = (
        "$source custom<Subscripts>($indices, $map) `box` $box `to` $target `[` $slot `]` "
        "`on` $ring `,` $count attr-dict `:` type($source) `,` type($target) `,` type($ring)"
    )

    def __init__(
        self,
        source: SSAValue,
        subscripts: Access,
        box: Sequence[int],
        target: SSAValue,
        slot: SSAValue,
        ring: SSAValue,
        count: SSAValue,
    ):
        map, indices = canonical_access(*subscripts)
        super().__init__(
            operands=[source, indices, target, slot, ring, count],
            properties={
                "map": AffineMapAttr(map),
                "box": DenseArrayBase.from_list(i64, box),
            },
        )

    def verify_(self) -> None:
        verify_subscripts(self.source, self.map.data, self.indices)
        source, target = memref_type(self.source), memref_type(self.target)
        box = [int(extent) for extent in self.box.get_values()]
        if target.memory_space != SHARED:
            raise VerifyException(f"a box is copied to shared memory, not to {target}")
        if len(box) != source.get_num_dims():
            raise VerifyException("give one extent of the box for each axis of the source")
        expected = [extent for extent in box if extent > 1]
        given = [extent for extent in target.get_shape()[1:] if extent > 1]
        if expected != given:
            raise VerifyException(f"a box of {expected} does not fill a slot of {given}")
        if (problem := box_problem(source.get_shape(), box, target)) is not None:
            raise VerifyException(problem)
