# SPDX-License-Identifier: Apache-2.0
"""The shapes of kernels that fusion knows: a flat nest that stores one value at its own axes."""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects import loop
from tilewright.dialects.axes import MaskedOp


class FlatNest(NamedTuple):
    """A kernel of one output whose nest computes one value and stores it at the nest's axes."""

    axes: Sequence[SSAValue]
    body: Sequence[Operation]
    """Everything but the store, in order."""
    store: loop.StoreOp

    @property
    def reduces(self) -> bool:
        """Whether a reduction is part of it."""
        return any(isinstance(op, loop.ReduceOp) for op in self.body)


def flat_nest(kernel: loop.KernelOp) -> FlatNest | None:
    """`kernel` as a flat nest, or None when it is something else."""
    if len(kernel.outputs) != 1:
        return None
    block = nest_block(kernel)
    store = block.last_op
    if not isinstance(store, loop.StoreOp) or store.memref is not kernel.outputs[0]:
        return None
    axes = () if block is kernel.body.block else block.args
    body = [op for op in block.ops if op is not store]
    if any(isinstance(op, loop.ForOp | loop.StoreOp) for op in body):
        return None
    is_at_axes = list(store.indices) == list(axes) and store.map.data == AffineMap.identity(
        len(axes)
    )
    is_masked = any(isinstance(op, MaskedOp) and op.mask is not None for op in kernel.walk())
    return FlatNest(axes, body, store) if is_at_axes and not is_masked else None


def nest_block(kernel: loop.KernelOp) -> Block:
    """The body of the outermost nest; the kernel's own body when there are no free axes."""
    only = kernel.body.block.first_op
    if isinstance(only, loop.ForOp) and only is kernel.body.block.last_op:
        return only.body.block
    return kernel.body.block


class Subscript(NamedTuple):
    """Where a load reads: equal for loads that read the same element."""

    map: AffineMap
    indices: tuple[SSAValue, ...]


def common_subscript(loads: Sequence[loop.LoadOp]) -> Subscript | None:
    """The subscript of all of `loads`, unless they differ or are masked."""
    found = {Subscript(op.map.data, tuple(op.indices)) for op in loads}
    if len(found) != 1 or any(op.mask is not None for op in loads):
        return None
    return found.pop()
