# SPDX-License-Identifier: Apache-2.0
"""
How many wavefronts an access to shared memory takes, from its subscripts alone.

The model (`banks.py`) is exact for warp 0 of block 0 in the first step of every loop; as subscripts
are affine, other warps and steps shift it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.index import linearize
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.types import memref_type
from tilewright.passes.banks import lanes_per_phase, phase_wavefronts
from tilewright.passes.footprint import element_bytes


class Wavefronts(NamedTuple):
    """What one warp's access takes, and what it would take without conflicts."""

    actual: int
    ideal: int


def is_shared(op: loop.LoadOp | loop.StoreOp) -> bool:
    """Whether the access is to shared memory."""
    return memref_type(op.memref).memory_space == tile.SHARED


def wavefronts(op: loop.LoadOp | loop.StoreOp, threads: int) -> Wavefronts:
    """The wavefronts of a shared memory access by a block of `threads` threads."""
    size = element_bytes(op.memref)
    lanes_at_once = lanes_per_phase(size)
    actual = ideal = 0
    for first in range(0, min(threads, WARP_SIZE), lanes_at_once):
        lanes = range(first, min(first + lanes_at_once, threads))
        addresses = [a for lane in lanes if (a := address(op, lane, threads)) is not None]
        if addresses:
            actual += phase_wavefronts(addresses, size)
            ideal += 1
    return Wavefronts(actual, ideal)


def address(op: loop.LoadOp | loop.StoreOp, lane: int, threads: int) -> int | None:
    """The byte that `lane` accesses, counted from the start of the memref; None if it does not."""
    if op.mask is not None:
        if any(m < 0 for m in _evaluate(op.mask.data, op.mask_operands, lane, threads)):
            return None
    shape = memref_type(op.memref).get_shape()
    offset = AffineMap(op.map.data.num_dims, 0, (linearize(op.map.data.results, shape),))
    (element,) = _evaluate(offset, op.indices, lane, threads)
    return element * element_bytes(op.memref)


def _evaluate(
    map: AffineMap, operands: Sequence[SSAValue], lane: int, threads: int
) -> Iterator[int]:
    dims = [_index(operand, lane, threads) for operand in operands]
    return (expr.eval(dims, ()) for expr in map.results)


def _index(value: SSAValue, lane: int, threads: int) -> int:
    """The index for `lane`: thread axes and ids say who it is, everything else starts at 0."""
    match value.owner:
        case kernel.ThreadIdOp():
            return lane
        case kernel.IndexOp() as op:
            (index,) = _evaluate(op.map.data, op.indices, lane, threads)
            return index
        case ConstantOp(value=IntegerAttr() as constant):
            return constant.value.data
        case _:
            return _thread_axis(value, lane)


def _thread_axis(value: SSAValue, lane: int) -> int:
    launch = tile.launch_of(value)
    if launch is None:
        return 0
    for axis in reversed(launch.thread_axes()):
        if axis.value is value:
            return lane % axis.extent
        lane //= axis.extent
    return 0
