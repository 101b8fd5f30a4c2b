# SPDX-License-Identifier: Apache-2.0
"""The op that binds a kernel's axes to levels of the machine, and the base of its exchange ops."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from math import prod

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, ModuleOp, i64
from xdsl.ir import BlockArgument, Operation, Region, SSAValue
from xdsl.irdl import (
    AtLeast,
    RangeOf,
    base,
    eq,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import NoTerminator, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.axes import AxesOp, Role
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.loop import KernelOp, StoreOp, is_scalar
from tilewright.dialects.tile.attributes import Axis, AxisAttr, Level
from tilewright.dialects.tile.syntax import LaunchAxes


@irdl_op_definition
class LaunchOp(AxesOp):
    """
    Whole body of a scheduled kernel, with its axes bound to levels of the machine.

    Block axes are linear in the grid and thread axes linear in the block, the last axis fastest.
    `min_blocks` is the number of blocks that must fit on one SM at once, which limits the registers
    of a thread (CUDA C++ Programming Guide, launch bounds).

    ```mlir
    tile.launch (%b = block 8, %t = thread 128) min_blocks 4 {
      %0 = loop.load %x[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
      loop.store %0, %out[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
    }
    ```
    """

    name = "tile.launch"

    axes = prop_def(ArrayAttr[AxisAttr])
    min_blocks = opt_prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    body = region_def("single_block", entry_args=RangeOf(base(IndexType)))

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())
    custom_directives = (LaunchAxes,)
    assembly_format = "custom<LaunchAxes>($axes, $min_blocks, $body) attr-dict"

    def __init__(self, axes: Sequence[AxisAttr], body: Region, *, min_blocks: int | None = None):
        super().__init__(
            properties={
                "axes": ArrayAttr(axes),
                "min_blocks": None if min_blocks is None else IntegerAttr(min_blocks, i64),
            },
            regions=[body],
        )

    def axis_extents(self) -> Sequence[int]:
        return [axis.extent.data for axis in self.axes]

    def axis_extent(self, at: int) -> int:
        return self.axes.data[at].extent.data

    def bound_axes(self) -> list[Axis]:
        """Return every axis with its value and its binding, in order."""
        return self.axes_at(*Level)

    def axes_at(self, *levels: Level) -> list[Axis]:
        """Return the axes at one of `levels`, in order."""
        args = self.body.block.args
        return [Axis(args[at], *bound) for at, bound in _bound_at(self.axes, levels)]

    def thread_axes(self) -> list[Axis]:
        """Return the axes whose steps are threads of one block, in order."""
        return self.axes_at(*_THREAD_LEVELS)

    @property
    def num_blocks(self) -> int:
        """Number of blocks in the grid."""
        return _steps_at(self.axes, (Level.BLOCK,))

    @property
    def num_threads(self) -> int:
        """Number of threads in a block."""
        return _steps_at(self.axes, _THREAD_LEVELS)

    @property
    def kernel(self) -> KernelOp:
        """The kernel that the launch schedules."""
        kernel = self.parent_op()
        assert isinstance(kernel, KernelOp)
        return kernel

    def scalars(self) -> list[Operation]:
        """Return the ops that the kernel computes before the launch, in order."""
        assert self.parent is not None
        return [op for op in self.parent.ops if op is not self]

    def verify_(self) -> None:
        if len(self.axes) != len(self.body.block.args):
            raise VerifyException("bind each axis of the launch to a level")
        if any(extent < 1 for extent in self.axis_extents()):
            raise VerifyException("every axis of a launch takes at least one step")
        if not isinstance(self.parent_op(), KernelOp):
            raise VerifyException("a launch is the body of a loop.kernel")
        if self.next_op is not None:
            raise VerifyException("a launch is the last op of its kernel; move the rest inside")
        for op in self.scalars():
            if not is_scalar(op):
                raise VerifyException(
                    f"before its launch a kernel only computes scalars; move '{op.name}' inside"
                )
        for op in ops_in(self):
            if isinstance(op, StoreOp):
                _verify_store(op, self)


_Bound = tuple[Level, int, Role]

_THREAD_LEVELS = tuple(level for level in Level if level.is_thread)


@lru_cache(maxsize=1 << 12)  # passes query the axes of a launch many times
def _bound_at(axes: ArrayAttr[AxisAttr], levels: tuple[Level, ...]) -> Sequence[tuple[int, _Bound]]:
    """Return the positions of the axes at one of `levels`, and their bindings."""
    bound = [(axis.level.data, axis.extent.data, axis.role.data) for axis in axes]
    return [(at, each) for at, each in enumerate(bound) if each[0] in levels]


def _steps_at(axes: ArrayAttr[AxisAttr], levels: tuple[Level, ...]) -> int:
    return prod(extent for _, (_, extent, _) in _bound_at(axes, levels))


def _verify_store(store: StoreOp, launch: LaunchOp) -> None:
    """
    Raise `VerifyException` for a store that depends on a thread axis neither by subscript nor by
    mask.

    Every thread along that axis would store the same element.
    """
    named = {*store.indices, *store.mask_operands}
    for axis in launch.thread_axes():
        if axis.extent > 1 and axis.value not in named:
            name = axis.value.name_hint or f"axis {axis.value.index}"
            raise VerifyException(
                f"every thread along %{name} stores the same element; "
                f"subscript with %{name} or add 'where [0 - %{name}]'"
            )


Axes = frozenset[BlockArgument]


class MeetingOp(ABC):
    """
    Base class of ops without a body at which threads or blocks exchange values and get common
    results.
    """

    @abstractmethod
    def varies_among(self, axes: Axes) -> Axes:
        """
        Return the axes among `axes` along which the results differ, for operands that differ along
        all of `axes`.
        """


def launches_of(module: ModuleOp) -> list[LaunchOp]:
    """
    Return every `tile.launch` of a module, in the order of the kernels; each is the last op of its
    kernel.
    """
    last = [op.body.block.last_op for op in module.ops if isinstance(op, KernelOp)]
    return [op for op in last if isinstance(op, LaunchOp)]


def launch_of(axis: SSAValue) -> LaunchOp | None:
    """Return the launch that `axis` is an axis of; None if it is not one."""
    if not isinstance(axis, BlockArgument):
        return None
    op = axis.owner.parent_op()
    return op if isinstance(op, LaunchOp) else None


def level_of(axis: BlockArgument) -> Level:
    """Return the level that an axis of a launch is bound to."""
    launch = launch_of(axis)
    assert launch is not None
    return launch.axes.data[axis.index].level.data
