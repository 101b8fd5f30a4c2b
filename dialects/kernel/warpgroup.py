# SPDX-License-Identifier: Apache-2.0
"""
Ops by which the four warps of a warpgroup multiply matrices in shared memory, asynchronously.

    kernel.group_fence           the sums in registers are ready for the tensor cores
    kernel.group_multiply ...    start a multiplication; any number of them
    kernel.group_commit          the multiplications since the last commit are one group
    kernel.group_wait 0          all groups are done: the sums can be used, the slabs overwritten

Between a multiplication and the wait for it, its sums must not be touched, and its slabs must not
be written. Slabs that threads have written need a `kernel.proxy_fence` before the fence.

PTX ISA, "Asynchronous warpgroup-level matrix instructions" (sm_90a).
"""

from abc import ABC
from collections.abc import Hashable, Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    f32,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AtLeast,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Subscripts
from tilewright.dialects.axes import Access, canonical_access, verify_subscripts
from tilewright.dialects.faster_xdsl.segments import SegmentedOp, segmented
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.kernel.barrier import block_around
from tilewright.dialects.kernel.grid import RemoteOp
from tilewright.dialects.kernel.matrix import Fragment, verify_fragment
from tilewright.dialects.kernel.matrix_descriptor import MatrixDescriptor, descriptor_of
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.matrix_instruction import (
    GROUP_THREADS,
    GROUP_WARPS,
    MOST_COLUMNS,
    MatrixInstruction,
    MatrixInstructionAttr,
)
from tilewright.dialects.tile import SHARED
from tilewright.dialects.types import memref_type

GROUP_ROWS = 16 * GROUP_WARPS
"""Rows of D in a multiplication by a warpgroup."""


class _WarpgroupOp(FormedOp, ABC):
    """Base of ops that all threads of a warpgroup execute together."""

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def surroundings(self) -> Hashable:
        return block_around(self)

    def verify_(self) -> None:
        _verify_groups(self)


@irdl_op_definition
class GroupFenceOp(_WarpgroupOp):
    """
    Order of the accesses to sums in registers before the multiplications after the fence.

    ```mlir
    kernel.group_fence
    ```
    """

    name = "kernel.group_fence"

    assembly_format = "attr-dict"


@irdl_op_definition
class GroupCommitOp(_WarpgroupOp):
    """
    Commit of the multiplications since the last commit, as one group.

    ```mlir
    kernel.group_commit
    ```
    """

    name = "kernel.group_commit"

    assembly_format = "attr-dict"


@irdl_op_definition
class GroupWaitOp(_WarpgroupOp):
    """
    Wait until at most `pending` committed groups of the thread are not done, the latest ones.

    ```mlir
    kernel.group_wait 0
    ```
    """

    name = "kernel.group_wait"

    pending = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(0)))

    assembly_format = "$pending attr-dict"

    def __init__(self, pending: int = 0):
        super().__init__(properties={"pending": IntegerAttr(pending, i64)})


@irdl_op_definition
class ProxyFenceOp(FormedOp):
    """
    Order of earlier accesses of threads to shared memory before later reads by multiplications.

    Barriers and fences of threads do not order what tensor cores and TMA do (PTX ISA,
    `fence.proxy.async`).

    ```mlir
    kernel.proxy_fence
    ```
    """

    name = "kernel.proxy_fence"

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"


class GroupFactor(NamedTuple):
    """A or B of a multiplication: a matrix in a slab."""

    name: str
    memref: SSAValue
    map: AffineMapAttr
    indices: tuple[SSAValue, ...]
    axes: tuple[int, int]
    """Axes of the slab along A's rows (or B's columns) and along K."""
    extents: tuple[int, int]
    """Extents of the matrix along both."""

    @property
    def descriptor(self) -> MatrixDescriptor | str:
        """The matrix's descriptor, or the reason why it has none."""
        return descriptor_of(memref_type(self.memref), self.axes, self.extents)


@segmented
@irdl_op_definition
class GroupMultiplyOp(FormedOp, SegmentedOp):
    """
    Start of the multiplication of A, 64 x K, by B, K x N, whose product is added to D.

    Both factors lie in swizzled slabs. Their subscripts are those of the first element, which are
    equal in all threads of a warpgroup. `along` gives the slab's axes along A's rows (or B's
    columns) and along K. D is in registers: each warp has 16 rows, and each thread two rows of two
    adjacent columns in each tile of eight columns (`matrix_instruction.py`).

    ```mlir
    kernel.group_multiply m64nNk16_bf16 columns 128 %a[0, 0] along [0, 1], %b[0, 0] along [1, 0],
      %d[0] : memref<64x64xbf16, #tile.layout<swizzle 128>, 3 : i64>,
      memref<64x128xbf16, #tile.layout<inner 64, swizzle 128>, 3 : i64>, memref<64xf32, 5 : i64>
    ```
    """

    name = "kernel.group_multiply"

    instruction = prop_def(MatrixInstructionAttr)
    columns = prop_def(IntegerAttr.constr(type=eq(i64)))
    a = operand_def(base(MemRefType))
    a_indices = var_operand_def(IndexType)
    a_map = prop_def(AffineMapAttr)
    a_axes = prop_def(DenseArrayBase.constr(i64))
    b = operand_def(base(MemRefType))
    b_indices = var_operand_def(IndexType)
    b_map = prop_def(AffineMapAttr)
    b_axes = prop_def(DenseArrayBase.constr(i64))
    d = operand_def(base(MemRefType))
    d_indices = var_operand_def(IndexType)
    d_map = prop_def(AffineMapAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    custom_directives = (Subscripts,)
    assembly_format = (
        "$instruction `columns` $columns $a custom<Subscripts>($a_indices, $a_map) "
        "`along` $a_axes `,` $b custom<Subscripts>($b_indices, $b_map) `along` $b_axes `,` "
        "$d custom<Subscripts>($d_indices, $d_map) attr-dict "
        "`:` type($a) `,` type($b) `,` type($d)"
    )

    def __init__(
        self,
        instruction: MatrixInstruction,
        columns: int,
        a: SSAValue,
        a_subscripts: Access,
        a_axes: tuple[int, int],
        b: SSAValue,
        b_subscripts: Access,
        b_axes: tuple[int, int],
        d: SSAValue,
        d_subscripts: Access,
    ):
        a_map, a_indices = canonical_access(*a_subscripts)
        b_map, b_indices = canonical_access(*b_subscripts)
        d_map, d_indices = canonical_access(*d_subscripts)
        super().__init__(
            operands=[[a], a_indices, [b], b_indices, [d], d_indices],
            properties={
                "instruction": MatrixInstructionAttr(instruction),
                "columns": IntegerAttr(columns, i64),
                "a_map": AffineMapAttr(a_map),
                "a_axes": DenseArrayBase.from_list(i64, a_axes),
                "b_map": AffineMapAttr(b_map),
                "b_axes": DenseArrayBase.from_list(i64, b_axes),
                "d_map": AffineMapAttr(d_map),
            },
        )

    @property
    def k(self) -> int:
        """Steps of K in a multiplication."""
        return self.instruction.data.fragments.k

    @property
    def products(self) -> int:
        """Number of products of two elements per thread."""
        return GROUP_ROWS * self.columns.value.data * self.k // GROUP_THREADS

    def factors(self) -> Iterator[GroupFactor]:
        """Yield A and B."""
        a, b = (GROUP_ROWS, self.k), (self.columns.value.data, self.k)
        yield GroupFactor("A", self.a, self.a_map, (*self.a_indices,), _pair(self.a_axes), a)
        yield GroupFactor("B", self.b, self.b_map, (*self.b_indices,), _pair(self.b_axes), b)

    @property
    def sums(self) -> Fragment:
        """Elements of D that a thread holds."""
        elements = GROUP_ROWS * self.columns.value.data // GROUP_THREADS
        return Fragment(self.d, self.d_map, (*self.d_indices,), elements)

    def surroundings(self) -> Hashable:
        remote = [isinstance(memref.owner, RemoteOp) for memref in (self.a, self.b)]
        return *remote, block_around(self)

    def verify_(self) -> None:
        verify_group(self.instruction.data, self.columns.value.data)
        for factor in self.factors():
            self._verify_factor(factor)
        sums = self.sums
        verify_subscripts(sums.memref, sums.map.data, sums.indices)
        memory = memref_type(sums.memref)
        if memory.memory_space != LOCAL or memory.element_type != f32:
            raise VerifyException(
                f"D is f32 in registers, not {memory}; go through kernel.registers"
            )
        verify_fragment(sums.memref, sums.elements)
        _verify_groups(self)

    def _verify_factor(self, factor: GroupFactor) -> None:
        verify_subscripts(factor.memref, factor.map.data, factor.indices)
        memory, name = memref_type(factor.memref), factor.name
        element = self.instruction.data.fragments.element
        if memory.memory_space != SHARED or isinstance(factor.memref.owner, RemoteOp):
            raise VerifyException(f"{name} is read from shared memory of the block; stage it there")
        if memory.element_type != element:
            raise VerifyException(
                f"{name} of {self.instruction.data} has elements {element}, not "
                f"{memory.element_type}"
            )
        rank = memory.get_num_dims()
        if len({axis for axis in factor.axes if 0 <= axis < rank}) != 2:
            raise VerifyException(f"{name} lies along two different axes of its slab")
        if isinstance(descriptor := factor.descriptor, str):
            raise VerifyException(
                f"{name} {descriptor}; give its slab a swizzle over its innermost axis, such as "
                "'#tile.layout<swizzle 128>'"
            )


def verify_group(instruction: MatrixInstruction, columns: int) -> None:
    """Raise `VerifyException` unless `instruction` is one of warpgroups, for `columns` of D."""
    if not instruction.is_grouped:
        raise VerifyException(
            f"{instruction} is an instruction of one warp; use kernel.matrix_multiply"
        )
    if columns % 8 or not 8 <= columns <= MOST_COLUMNS:
        raise VerifyException(f"D has a multiple of 8 columns up to {MOST_COLUMNS}, not {columns}")


def _pair(axes: DenseArrayBase[IntegerType]) -> tuple[int, int]:
    values = [int(axis) for axis in axes.get_values()]
    return (values[0], values[1]) if len(values) == 2 else (-1, -1)


def _verify_groups(op: Operation) -> None:
    """Raise `VerifyException` if the block around an op of warpgroups has a partial one."""
    threads = block_around(op)
    if threads is not None and threads % GROUP_THREADS:
        raise VerifyException(
            f"a block of {threads} threads is not whole warpgroups, which execute this op; give it "
            f"a multiple of {GROUP_THREADS}"
        )
