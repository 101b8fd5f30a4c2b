# SPDX-License-Identifier: Apache-2.0
"""
Splitting of thread axes, so that each thread does several of their steps:

    %tm = thread 128 m

becomes, with 2 strips of vectors of 4,

    %tm = thread 16 m, ... %sm = register 2 m, %vm = register 4 m

and `%sm * 64 + %tm * 4 + %vm` replaces the old axis. The vector of a thread is contiguous, so that
one access can move it. The vectors of neighbouring threads are adjacent.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import tile
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.passes.tile.rebind import NewAxis, Rebinding


class AxisSplit(NamedTuple):
    """Split of an axis: each thread does `strips` strips of `vector` adjacent steps."""

    axis: Axis
    strips: int
    vector: int

    @property
    def elements(self) -> int:
        """Steps of the axis that each thread does."""
        return self.strips * self.vector


def threads_with(launch: tile.LaunchOp, splits: Sequence[AxisSplit]) -> int:
    """Return the number of threads of a block after the splits."""
    left = launch.num_threads
    for split in splits:
        left = left // split.axis.extent * (split.axis.extent // split.elements)
    return left


def steps_of(splits: Sequence[AxisSplit]) -> dict[SSAValue, int]:
    """Return, by axis, the number of steps that each thread does."""
    return {split.axis.value: split.elements for split in splits}


def split_thread_axes(launch: tile.LaunchOp, splits: Sequence[AxisSplit]) -> Rebinding:
    """Return a rebinding with parts in the place of the split axes, register axes last."""
    rebinding, by_axis = Rebinding(), {split.axis.value: split for split in splits}
    threads: dict[SSAValue, int] = {}
    for axis in launch.bound_axes():
        split = by_axis.get(axis.value)
        if split is None:
            rebinding.keep(axis)
            continue
        threads[axis.value] = len(rebinding.axes)
        name = axis.value.name_hint or "t"
        rebinding.add(NewAxis(name, axis.level, axis.extent // split.elements, axis.role))
    for split in splits:
        _bind_parts(rebinding, split, threads[split.axis.value])
    return rebinding


def _bind_parts(rebinding: Rebinding, split: AxisSplit, thread: int) -> None:
    """Replace the axis by `strip * reach + thread * vector + element`."""
    axis, strips, vector = split
    parts: list[SSAValue] = [rebinding.body.args[thread]]
    index = AffineExpr.dimension(thread) * vector
    for kind, extent, factor in (("s", strips, axis.extent // strips), ("v", vector, 1)):
        if extent > 1:
            name = _part_name(kind, axis)
            index = index + rebinding.add(NewAxis(name, Level.REGISTER, extent, axis.role)) * factor
            parts.append(rebinding.body.args[-1])
    rebinding.substitute([axis], index, overruns=False)
    rebinding.substitution.parts[axis.value] = parts


def _part_name(kind: str, axis: Axis) -> str:
    """
    Return the name of a part. `%tm` has strips `%sm` and elements `%vm`; `%t` has `%i` and `%v`.
    """
    name = axis.value.name_hint or "t"
    if name == "t":
        return {"s": "i", "v": "v"}[kind]
    return kind + name.removeprefix("t")
