# SPDX-License-Identifier: Apache-2.0
"""
Tile IR: a kernel scheduled on the GPU.

A `tile.launch` binds axes to levels of the machine; its body is Loop IR over those axes.
`tile.combine` joins values across axes, `tile.stage` holds a slab of a block's data on chip.
Register axes stay axes: nothing is replicated here.
"""

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    MemRefType,
    i64,
)
from xdsl.ir import (
    BlockArgument,
    Dialect,
    Operation,
    Region,
    SSAValue,
)
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    RangeOf,
    RangeVarConstraint,
    base,
    irdl_op_definition,
    lazy_traits_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import (
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SingleBlockImplicitTerminator,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import SlabAxes, Where, WithMonoid
from tilewright.dialects.axes import Access, AxesOp, MaskedOp, optional_mask
from tilewright.dialects.kernel_like import MAX_THREADS
from tilewright.dialects.loop import KernelOp, ReduceOp, StoreOp, YieldOp, is_scalar
from tilewright.dialects.monoid import MonoidAttr, verify_monoid
from tilewright.dialects.tile_axes import Axis, AxisAttr, LaunchAxes, Level, LevelAttr

SHARED = IntegerAttr(3, i64)
"""The memory space of shared memory, as NVPTX numbers it."""


@irdl_op_definition
class LaunchOp(AxesOp):
    """
    The whole body of a scheduled kernel. Block axes are linear in the grid and thread axes linear
    in the block, the last axis fastest.

    ```mlir
    tile.launch (%b = block 8, %t = thread 128) {
      %0 = loop.load %x[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
      loop.store %0, %out[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
    }
    ```
    """

    name = "tile.launch"

    axes = prop_def(ArrayAttr[AxisAttr])
    body = region_def("single_block", entry_args=RangeOf(base(IndexType)))

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    custom_directives = (LaunchAxes,)
    assembly_format = "custom<LaunchAxes>($axes, $body) attr-dict"

    def __init__(self, axes: Sequence[AxisAttr], body: Region):
        super().__init__(properties={"axes": ArrayAttr(axes)}, regions=[body])

    def axis_extents(self) -> Sequence[int]:
        return [axis.extent.data for axis in self.axes]

    def bound_axes(self) -> list[Axis]:
        """Every axis with its value and what it is bound to, in order."""
        return [
            Axis(value, axis.level.data, axis.extent.data, axis.role.data)
            for value, axis in zip(self.body.block.args, self.axes, strict=True)
        ]

    def axes_at(self, *levels: Level) -> list[Axis]:
        """The axes at one of `levels`, in order."""
        return [axis for axis in self.bound_axes() if axis.level in levels]

    def thread_axes(self) -> list[Axis]:
        """The axes whose steps are threads of one block, in order."""
        return [axis for axis in self.bound_axes() if axis.level.is_thread]

    @property
    def num_blocks(self) -> int:
        """Blocks in the grid."""
        return prod(axis.extent for axis in self.axes_at(Level.BLOCK))

    @property
    def num_threads(self) -> int:
        """Threads in a block."""
        return prod(axis.extent for axis in self.thread_axes())

    def scalars(self) -> list[Operation]:
        """What the kernel computes before the launch, in order."""
        assert self.parent is not None
        return [op for op in self.parent.ops if op is not self]

    def verify_(self) -> None:
        if len(self.axes) != len(self.body.block.args):
            raise VerifyException("bind each axis of the launch to a level")
        if any(extent < 1 for extent in self.axis_extents()):
            raise VerifyException("every axis of a launch takes at least one step")
        if self.num_threads > MAX_THREADS:
            raise VerifyException(
                f"{self.num_threads} threads a block; a block has at most {MAX_THREADS}"
            )
        if not isinstance(self.parent_op(), KernelOp):
            raise VerifyException("a launch is the body of a loop.kernel")
        if self.next_op is not None:
            raise VerifyException("a launch is the last op of its kernel; move the rest inside")
        for op in self.scalars():
            if not is_scalar(op):
                raise VerifyException(
                    f"before its launch a kernel computes scalars, no '{op.name}'"
                )
        for op in self.walk():
            if isinstance(op, StoreOp):
                _verify_store(op, self)


def _verify_store(store: StoreOp, launch: LaunchOp) -> None:
    """A store that misses a thread axis would be done by every thread of it: it needs a mask."""
    if isinstance(store.memref.owner, StageOp):
        raise VerifyException("a stage holds what its body computes; nothing stores to it")
    named = {*store.indices, *store.mask_operands}
    for axis in launch.thread_axes():
        if axis.extent > 1 and axis.value not in named:
            name = axis.value.name_hint or f"axis {axis.value.index}"
            raise VerifyException(
                f"every thread along %{name} stores the same element; "
                f"subscript with %{name} or add 'where [0 - %{name}]'"
            )


def launch_of(axis: SSAValue) -> LaunchOp | None:
    """The launch that `axis` is an axis of."""
    if not isinstance(axis, BlockArgument):
        return None
    op = axis.owner.parent_op()
    return op if isinstance(op, LaunchOp) else None


@irdl_op_definition
class CombineOp(MaskedOp):
    """
    Joins values across axes of any level; every step of those axes has the result. Where the mask
    fails, the identity joins. The order of joining is unspecified.

    ```mlir
    %s = tile.combine %v across %t with add where [99 - %t] : f32
    ```
    """

    name = "tile.combine"

    T: ClassVar = RangeVarConstraint("T", RangeOf(AnyAttr()))

    values = var_operand_def(T)
    axes = var_operand_def(IndexType)
    monoid = prop_def(MonoidAttr)
    results_ = var_result_def(T)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())
    custom_directives = (Where, WithMonoid)
    assembly_format = (
        "$values `across` $axes custom<WithMonoid>($monoid) "
        "custom<Where>($mask_operands, $mask) attr-dict `:` type($values)"
    )

    def __init__(
        self,
        values: Sequence[SSAValue],
        axes: Sequence[SSAValue],
        monoid: MonoidAttr,
        where: Access | None = None,
    ):
        mask_operands, mask = optional_mask(where)
        super().__init__(
            operands=[values, axes, mask_operands],
            properties={"monoid": monoid, "mask": mask},
            result_types=[[v.type for v in values]],
        )

    def verify_(self) -> None:
        self.verify_mask()
        verify_monoid(self.monoid, list(self.values.types))
        if not self.values or not self.axes:
            raise VerifyException("combine at least one value across at least one axis")
        if len(set(self.axes)) != len(self.axes):
            raise VerifyException("name each axis once")
        if any(launch_of(axis) is None for axis in self.axes):
            raise VerifyException("combine across axes of the enclosing tile.launch")


@irdl_op_definition
class StageOp(AxesOp):
    """
    A slab of values that a block holds in shared memory: a cache, computed by its body over slab
    coordinates and the same for every thread. Where the yield's mask fails the slab holds zero.

    ```mlir
    %s = tile.stage (%i, %k) in [16, 32] {
      %0 = loop.load %x[%b * 16 + %i, %k] : memref<64x32xf32>
      loop.yield %0 : f32
    } : memref<16x32xf32, 3 : i64>
    ```
    """

    name = "tile.stage"

    extents = prop_def(DenseArrayBase.constr(i64))
    body = region_def("single_block", entry_args=RangeOf(base(IndexType)))
    slab = result_def(base(MemRefType))

    traits = lazy_traits_def(
        lambda: (SingleBlockImplicitTerminator(YieldOp), RecursiveMemoryEffect())
    )
    custom_directives = (SlabAxes,)
    assembly_format = "custom<SlabAxes>($extents, $body) attr-dict `:` type($slab)"

    def __init__(self, extents: Sequence[int], body: Region):
        terminator = body.block.last_op
        assert isinstance(terminator, YieldOp)
        slab = MemRefType(terminator.values[0].type, extents, memory_space=SHARED)
        super().__init__(
            properties={"extents": DenseArrayBase.from_list(i64, extents)},
            regions=[body],
            result_types=[slab],
        )

    @property
    def yield_op(self) -> YieldOp:
        """The terminator of the body."""
        terminator = self.body.block.last_op
        assert isinstance(terminator, YieldOp)
        return terminator

    def axis_extents(self) -> Sequence[int]:
        return self.extents.get_values()

    def verify_(self) -> None:
        extents = tuple(self.axis_extents())
        if len(self.yield_op.values) != 1:
            raise VerifyException("the body of a stage yields one value")
        slab = MemRefType(self.yield_op.values[0].type, extents, memory_space=SHARED)
        if self.slab.type != slab:
            raise VerifyException(f"the slab must be {slab}, not {self.slab.type}")
        if len(self.body.block.args) != len(extents):
            raise VerifyException("give one extent for each slab coordinate")
        for op in self.body.walk():
            if isinstance(op, StoreOp):
                raise VerifyException("a stage computes values; it does not store")
            if isinstance(op, StageOp | CombineOp):
                raise VerifyException(f"threads do not meet inside a stage; move the {op.name} out")
        for axis in sorted(varies_along(self, {}), key=lambda axis: axis.index):
            launch = launch_of(axis)
            assert launch is not None
            level = launch.bound_axes()[axis.index].level
            if level is not Level.BLOCK:
                raise VerifyException(
                    f"a stage is the same for the whole block; it must not depend on the "
                    f"{level} axis %{axis.name_hint or axis.index}"
                )


Axes = frozenset[BlockArgument]


def varies_along(op: Operation, known: dict[Operation, Axes]) -> Axes:
    """The axes of the launch that the results of `op` depend on, through whatever it uses."""
    if op in known:
        return known[op]
    operands = op.yield_op.operands if isinstance(op, ReduceOp | StageOp) else op.operands
    found: Axes = frozenset()
    for operand in operands:
        if isinstance(operand.owner, Operation):
            found |= varies_along(operand.owner, known)
        elif isinstance(operand, BlockArgument) and launch_of(operand) is not None:
            found |= {operand}
    known[op] = found - set(op.axes) if isinstance(op, CombineOp) else found
    return known[op]


Tile = Dialect("tile", [LaunchOp, CombineOp, StageOp], [AxisAttr, LevelAttr])
