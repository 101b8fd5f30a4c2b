# SPDX-License-Identifier: Apache-2.0
"""Statements of CUDA IR that declare memory: arrays of one thread, and shared memory of a block."""

from collections.abc import Hashable, Sequence

from xdsl.dialects.builtin import (
    FixedBitwidthType,
    IntegerAttr,
    IntegerType,
    Signedness,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AtLeast,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.statements import StatementOp
from tilewright.dialects.cuda.types import ArrayType, PointerType, number
from tilewright.dialects.types import size_of

POOL_ALIGNMENT = 1024
"""
Alignment of the pool in bytes, which TMA requires of swizzled boxes.

Every kernel of a source text has the same alignment, because all of them name one array.
"""

_BYTE = IntegerType(8, Signedness.UNSIGNED)


def _alignment(bytes: int | None) -> IntegerAttr | None:
    return None if bytes is None else number(bytes)


def _verify_alignment(alignment: IntegerAttr | None) -> None:
    if alignment is not None and alignment.value.data & (alignment.value.data - 1):
        raise VerifyException(f"alignments are powers of two, not {alignment.value.data}")


@irdl_op_definition
class LocalOp(StatementOp):
    """
    An array private to the thread: `float acc[4][8];`.

    The op prints with `align 16` as `__align__(16) float r[4];`, with `zeroed` as `float acc[4][8]
    = {};`.

    ```mlir
    %acc = cuda.local zeroed : !cuda.array<4x8xf32>
    ```
    """

    name = "cuda.local"

    align = opt_prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    zeroed = opt_prop_def(UnitAttr)
    array = result_def(base(ArrayType))

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "(`align` $align^)? (`zeroed` $zeroed^)? attr-dict `:` type($array)"

    def __init__(
        self,
        shape: Sequence[int],
        element: Attribute,
        name: str,
        *,
        align: int | None = None,
        zeroed: bool = False,
    ):
        super().__init__(
            properties={"align": _alignment(align), "zeroed": UnitAttr() if zeroed else None},
            result_types=[ArrayType.get(tuple(shape), element)],
        )
        self.array.name_hint = name

    def verify_(self) -> None:
        _verify_alignment(self.align)


@irdl_op_definition
class SharedOp(StatementOp):
    """
    An array in shared memory: `__shared__ float s[8];`.

    The op prints with `align 16` as `__shared__ __align__(16) float s[8];`.

    ```mlir
    %s = cuda.shared 8 align 16 : !cuda.ptr<f32>
    ```
    """

    name = "cuda.shared"

    size = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    align = opt_prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    pointer = result_def(base(PointerType))

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$size (`align` $align^)? attr-dict `:` type($pointer)"

    def __init__(
        self, size: int, element: Attribute, name: str | None = None, *, align: int | None = None
    ):
        super().__init__(
            properties={"size": number(size), "align": _alignment(align)},
            result_types=[PointerType.get(element)],
        )
        self.pointer.name_hint = name

    @property
    def num_bytes(self) -> int:
        """Size of the array in bytes."""
        return self.size.value.data * size_of(_element(self.pointer))

    def verify_(self) -> None:
        _verify_alignment(self.align)
        _verify_shared(self.pointer)


@irdl_op_definition
class PoolOp(StatementOp):
    """
    Shared memory whose size the launch sets, because it exceeds what a kernel may declare.

    The op prints as `extern __shared__ __align__(1024) unsigned char pool[];`.

    ```mlir
    %pool = cuda.pool 65536 : !cuda.ptr<ui8>
    ```
    """

    name = "cuda.pool"

    size = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    pointer = result_def(eq(PointerType.get(_BYTE)))

    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$size attr-dict `:` type($pointer)"

    def __init__(self, size: int):
        super().__init__(properties={"size": number(size)}, result_types=[PointerType.get(_BYTE)])
        self.pointer.name_hint = "pool"


@irdl_op_definition
class PooledOp(StatementOp):
    """
    An array at a byte offset of the pool.

    The op prints as `float *const s = reinterpret_cast<float *>(pool + 1024);`.

    ```mlir
    %s = cuda.pooled %pool at 1024 : !cuda.ptr<ui8> to !cuda.ptr<f32>
    ```
    """

    name = "cuda.pooled"

    pool = operand_def(base(PointerType))
    offset = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(0)))
    pointer = result_def(base(PointerType))

    traits = traits_def(Pure())
    assembly_format = "$pool `at` $offset attr-dict `:` type($pool) `to` type($pointer)"

    def __init__(self, pool: SSAValue, offset: int, element: Attribute, name: str):
        super().__init__(
            operands=[pool],
            properties={"offset": number(offset)},
            result_types=[PointerType.get(element)],
        )
        self.pointer.name_hint = name

    def surroundings(self) -> Hashable:
        return isinstance(self.pool.owner, PoolOp)

    def verify_(self) -> None:
        _verify_shared(self.pointer)
        if not self.surroundings():
            raise VerifyException("a pooled array needs a cuda.pool")
        if (size := size_of(_element(self.pointer))) and self.offset.value.data % size:
            raise VerifyException(
                f"elements of {size} bytes do not begin at {self.offset.value.data}"
            )


def _element(pointer: SSAValue) -> Attribute:
    assert isinstance(pointer.type, PointerType)
    return pointer.type.element


def _verify_shared(pointer: SSAValue) -> None:
    type = pointer.type
    assert isinstance(type, PointerType)
    if type.is_const:
        raise VerifyException("shared memory is written before it is read: not const")
    if not isinstance(type.element, FixedBitwidthType):
        raise VerifyException(f"an array of {type.element} has no size")


MEMORY_STATEMENTS: list[type[StatementOp]] = [LocalOp, SharedOp, PoolOp, PooledOp]
