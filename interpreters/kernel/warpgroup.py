# SPDX-License-Identifier: Apache-2.0
"""
Multiplications by warpgroups, simulated in the order that is worst for threads that do not wait.

The sums of a multiplication are lost when it starts, and stay lost until a wait for its group. Its
factors are read when it starts. They must still be the same when it is waited for, because tensor
cores may read them at any time in between.
"""

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.kernel.matrix_descriptor import MatrixDescriptor
from tilewright.dialects.kernel.warpgroup import (
    GROUP_ROWS,
    GroupCommitOp,
    GroupFactor,
    GroupFenceOp,
    GroupMultiplyOp,
    GroupWaitOp,
    ProxyFenceOp,
)
from tilewright.dialects.matrix_instruction import GROUP_THREADS, GROUP_WARPS
from tilewright.dialects.target import WARP_SIZE
from tilewright.interpreters.access import Place, offsets, read
from tilewright.interpreters.buffer import Buffer
from tilewright.interpreters.errors import fail
from tilewright.interpreters.kernel.matrix import multiply_matrices
from tilewright.interpreters.kernel.threads import Threads
from tilewright.interpreters.kernel.warpgroup_state import FactorElements, Multiplication
from tilewright.interpreters.machine import Handlers, evaluate
from tilewright.interpreters.race import Accessors
from tilewright.interpreters.types import Array, is_same


def _fence(machine: Threads, op: GroupFenceOp) -> None:
    machine.warpgroups.fenced |= _arriving(machine, op)


def _commit(machine: Threads, op: GroupCommitOp) -> None:
    machine.warpgroups.committed += _arriving(machine, op)


def _proxy_fence(machine: Threads, op: ProxyFenceOp) -> None:
    machine.time += 1
    blocks = machine.arriving(op, "fence")[:, None]
    state = machine.warpgroups
    state.proxied = np.where(blocks, machine.time, state.proxied)


def _wait(machine: Threads, op: GroupWaitOp) -> None:
    state, groups = machine.warpgroups, _arriving(machine, op)
    limit = state.committed - op.pending.value.data
    for each in state.started:
        done = each.running & groups & (each.group < limit)
        if done.any():
            _finish(machine, each, done)
            each.running = each.running & ~done
    state.started = [each for each in state.started if each.running.any()]
    for each in state.started:  # a later multiplication may still add to sums that are done
        buffer, elements = each.sums
        buffer.set_under_way(elements[_spread(each.running, elements)])
    state.fenced &= ~groups


def _finish(machine: Threads, each: Multiplication, done: Array) -> None:
    """Store the sums of warpgroups; raise `InterpreterError` if their factors have changed."""
    for factor in each.factors:
        mask = _spread(done, factor.offsets)
        elements = factor.offsets[mask]
        written = factor.buffer.written
        changed = ~is_same(factor.buffer.data[elements], factor.values[mask])
        if written is not None:
            changed |= ~written[elements]
        if changed.any():
            where = factor.buffer.element(elements[changed][0])
            name = factor.factor.memref.name_hint or "slab"
            raise fail(
                each.op,
                f"element {where} of %{name} is overwritten while a multiplication reads it",
                remedy="put kernel.group_wait before the slab's release or next write",
            )
        read(each.op, factor.buffer, factor.offsets, mask, _accessors(machine))
    buffer, elements = each.sums
    buffer.set_written(elements[_spread(done, elements)])


def _multiply(machine: Threads, op: GroupMultiplyOp) -> None:
    groups, state = _arriving(machine, op), machine.warpgroups
    unfenced = groups & ~state.fenced
    if unfenced.any():
        raise fail(
            op,
            "starts without a fence since the last wait, which orders its sums in registers",
            remedy="put kernel.group_fence before it",
        )
    a, b = (_factor(machine, op, factor, groups) for factor in op.factors())
    buffer, elements = _sums(machine, op)
    chosen = _spread(groups, elements)
    _check_sums(op, buffer, elements[chosen])
    right = np.asarray(b.values, np.float64).swapaxes(-1, -2)
    left, added = np.asarray(a.values, np.float64), np.asarray(buffer.data[elements], np.float64)
    left, right = (_like(factor, added) for factor in (left, right))
    result = multiply_matrices(machine.types, op.instruction.data, left, right, added)
    buffer.data[elements[chosen]] = result[chosen]
    if not is_same(buffer.data[elements[chosen]], result[chosen].astype(buffer.data.dtype)).all():
        raise fail(
            op,
            "several steps of a nest add to the same sums",
            remedy="multiply them one after the other, in a loop",
        )
    buffer.set_under_way(elements[chosen])
    numbers = state.committed.copy()
    state.started.append(Multiplication(op, [a, b], (buffer, elements), groups.copy(), numbers))


def _like(factor: Array, sums: Array) -> Array:
    """Return the matrices of a factor for each matrix of sums."""
    return np.broadcast_to(factor, (*sums.shape[:-2], *factor.shape[-2:]))


def _factor(
    machine: Threads, op: GroupMultiplyOp, factor: GroupFactor, groups: Array
) -> FactorElements:
    """Return the elements of a factor; raise `InterpreterError` if they cannot be read."""
    buffer: Buffer = machine.values[factor.memref]
    descriptor = factor.descriptor
    assert isinstance(descriptor, MatrixDescriptor)
    subscripts = machine.indices(factor.map.data, factor.indices)
    starts = [_by_group(machine, op, index, factor) for index in subscripts]
    multiples = descriptor.first_multiple, op.k
    steps = np.arange(factor.extents[0])[:, None], np.arange(factor.extents[1])
    for axis, multiple, step in zip(factor.axes, multiples, steps, strict=True):
        _check_start(op, factor, axis, starts[axis], multiple, groups)
        starts[axis] = starts[axis] + step
    for axis, (index, size) in enumerate(zip(starts, buffer.shape, strict=True)):
        outside = np.any((index < 0) | (index >= size), axis=(-1, -2)) & groups
        if outside.any():
            raise fail(
                op,
                f"{factor.name} reaches beyond axis {axis} of %{factor.memref.name_hint}, which "
                f"has {size} elements",
            )
        starts[axis] = np.clip(index, 0, size - 1)
    offset = np.ravel_multi_index(np.broadcast_arrays(*starts), buffer.shape)
    offset = offset + np.reshape(buffer.slot, (-1, 1, 1, 1))
    mask = _spread(groups, offset)
    fenced = np.broadcast_to(machine.warpgroups.proxied[..., None, None], offset.shape)
    _check_proxy(op, factor, buffer, offset[mask], fenced[mask])
    return FactorElements(
        factor, buffer, offset, read(op, buffer, offset, mask, _accessors(machine))
    )


def _by_group(machine: Threads, op: GroupMultiplyOp, index: Array, factor: GroupFactor) -> Array:
    """
    Return a subscript by (..., block, warpgroup, 1, 1); raise `InterpreterError` if it differs
    between the threads of a warpgroup.
    """
    whole = np.broadcast_to(index, machine.shape)
    by_thread = whole.reshape(*whole.shape[:-1], -1, GROUP_THREADS)
    if (by_thread != by_thread[..., :1]).any():
        raise fail(
            op,
            f"the subscripts of {factor.name} differ between the threads of a warpgroup",
            remedy="make them depend on the warpgroup, %thread floordiv 128, only",
        )
    return by_thread[..., :1, None]


def _check_start(
    op: GroupMultiplyOp, factor: GroupFactor, axis: int, at: Array, multiple: int, groups: Array
) -> None:
    bad = (at % multiple != 0)[..., 0, 0] & groups
    if bad.any():
        raise fail(
            op,
            f"{factor.name} begins at {at[..., 0, 0][bad][0]} along axis {axis}, which is no "
            f"multiple of {multiple}",
            remedy="begin where the pattern of the swizzle begins",
        )


def _check_proxy(
    op: GroupMultiplyOp, factor: GroupFactor, buffer: Buffer, elements: Array, fenced: Array
) -> None:
    """Raise `InterpreterError` if threads wrote an element after the proxy fence at `fenced`."""
    if buffer.accesses is None:
        return
    last = buffer.accesses.writes
    unfenced = (last.thread[elements] >= 0) & (last.epoch[elements] >= fenced)
    if unfenced.any():
        where = buffer.element(elements[unfenced][0])
        raise fail(
            op,
            f"{factor.name} reads element {where}, which a thread wrote with no proxy fence since",
            remedy="put kernel.proxy_fence between the barrier after the writes and this op",
        )


def _sums(machine: Threads, op: GroupMultiplyOp) -> tuple[Buffer, Array]:
    """Return the array of the sums, and the offsets of D's elements by (..., row, column)."""
    fragment, columns = op.sums, op.columns.value.data
    buffer: Buffer = machine.values[fragment.memref]
    place = Place(fragment.memref, fragment.map.data, fragment.indices, None, fragment.elements)
    by_element = np.broadcast_to(
        offsets(machine, op, place, machine.active), (fragment.elements, *machine.shape)
    )
    by_group = np.moveaxis(by_element, 0, -1).reshape(
        *machine.shape[:-1], -1, GROUP_WARPS, WARP_SIZE, fragment.elements
    )
    tile = op.instruction.data.fragments
    lane, element = np.arange(WARP_SIZE)[:, None], np.arange(fragment.elements)
    number, within = element // tile.elements_d, element % tile.elements_d
    row, column = (evaluate(expr, (lane, within)) for expr in tile.d.results)
    warp = np.arange(GROUP_WARPS)[:, None, None]
    result = np.zeros((*by_group.shape[:-3], GROUP_ROWS, columns), int)
    result[..., warp * tile.m + row, number * tile.n + column] = by_group
    return buffer, result


def _check_sums(op: GroupMultiplyOp, buffer: Buffer, elements: Array) -> None:
    assert buffer.written is not None
    unwritten = ~buffer.written[elements] & ~buffer.is_under_way(elements)
    if unwritten.any():
        where = buffer.element(elements[unwritten][0])
        raise fail(op, f"adds to element {where} of the sums, which nothing has written")


def _arriving(machine: Threads, op: Operation) -> Array:
    """
    Return a mask of the warpgroups that reach `op`, by (block, warpgroup). Raises
    `InterpreterError` if only some warps of one do.
    """
    by_nest = machine.arriving_warps(op, "op")
    warps: Array = np.any(by_nest.reshape(-1, *by_nest.shape[-2:]), axis=0)
    by_group = warps.reshape(len(warps), -1, GROUP_WARPS)
    some: Array = np.any(by_group, axis=-1)
    if (some & ~by_group.all(axis=-1)).any():
        raise fail(
            op,
            "only some warps of a warpgroup reach this op",
            remedy="move it out of branches that differ between the warps of a warpgroup",
        )
    return some


def _spread(groups: Array, elements: Array) -> Array:
    """Return a mask of warpgroups as one of their elements."""
    return np.broadcast_to(groups[..., None, None], elements.shape)


def _accessors(machine: Threads) -> Accessors:
    """Return the identity of warpgroups that read: that of their first threads."""
    mine = machine.accessors()
    first = machine.thread_id[::GROUP_THREADS, None, None]
    return Accessors(first, mine.block[..., None, None], mine.epoch, mine.since[..., None, None])


def check_multiplied(machine: Threads) -> None:
    """Raise `InterpreterError` if a multiplication is not waited for when the kernel ends."""
    for each in machine.warpgroups.started:
        raise fail(
            each.op,
            "a multiplication is still under way when the kernel ends",
            remedy="put kernel.group_wait 0 after the last one",
        )


WARPGROUPS: Handlers = {
    GroupFenceOp: _fence,
    GroupMultiplyOp: _multiply,
    GroupCommitOp: _commit,
    GroupWaitOp: _wait,
    ProxyFenceOp: _proxy_fence,
}
