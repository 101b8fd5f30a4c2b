# SPDX-License-Identifier: Apache-2.0
"""
Steps of a small kernel of Tile IR, enumerated one by one: what the prover has to agree with.

Nothing is shared with the prover but the IR: maps are evaluated by xDSL.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.axes import Access, AxesOp
from tilewright.dialects.loop import KernelOp, LoadOp, ReduceOp, StoreOp
from tilewright.dialects.tile import LaunchOp
from tilewright.dialects.types import memref_type

Step = Mapping[SSAValue, int]


def steps(op: Operation) -> Iterator[Step]:
    """Yield each step of the axes around `op` that runs, by the value of each axis."""
    around, parent = list[AxesOp](), op.parent_op()
    while parent is not None:
        around += [parent] if isinstance(parent, AxesOp) else []
        parent = parent.parent_op()
    axes: list[SSAValue] = [axis for each in around for axis in each.regions[0].block.args]
    extents = [extent for each in around for extent in each.axis_extents()]
    loops = [each for each in around if isinstance(each, ReduceOp) and each.is_bounded]
    for at in product(*map(range, extents)):
        step = dict(zip(axes, at, strict=True))
        if all(min(evaluated(loop.done_where, step)) >= 0 for loop in loops):
            yield step


def evaluated(access: Access, step: Step) -> list[int]:
    """Return the values of subscripts or conditions at a step."""
    exprs, operands = access
    return [expr.eval([step[value] for value in operands], ()) for expr in exprs]


def elements(op: LoadOp | StoreOp) -> list[tuple[int, ...]]:
    """Return the subscripts at each step at which the mask is true."""
    found = (_element(op, step) for step in steps(op))
    return [element for element in found if element is not None]


def is_within(op: LoadOp | StoreOp) -> bool:
    """True if every access is within bounds."""
    shape = memref_type(op.memref).get_shape()
    return all(
        0 <= subscript < size
        for element in elements(op)
        for subscript, size in zip(element, shape, strict=True)
    )


Loaded = tuple[int, ...] | None
"""Element that a load reads; None for the zero of a mask that is false."""


def stored(kernel: KernelOp) -> Mapping[tuple[int, ...], set[Loaded]]:
    """
    Return the values that are stored to each element of the kernel's only output, by its only
    store: elements that its only load reads.
    """
    (store,) = [op for op in kernel.walk() if isinstance(op, StoreOp)]
    found = defaultdict[tuple[int, ...], set[Loaded]](set)
    for step in steps(store):
        if (element := _element(store, step)) is not None:
            load = store.value.owner
            assert isinstance(load, LoadOp)
            found[element].add(_element(load, step))
    return found


def _element(op: LoadOp | StoreOp, step: Step) -> Loaded:
    """Return the subscripts at a step, or None if the mask is false."""
    if op.where is not None and min(evaluated(op.where, step)) < 0:
        return None
    return tuple(evaluated((op.map.data.results, op.indices), step))


def all_elements(kernel: KernelOp) -> Sequence[tuple[int, ...]]:
    """Return the elements of the kernel's only output."""
    (output,) = kernel.outputs
    return [*product(*map(range, memref_type(output).get_shape()))]


def launch_of(kernel: KernelOp) -> LaunchOp:
    """Return the launch of a kernel."""
    launch = kernel.body.block.last_op
    assert isinstance(launch, LaunchOp)
    return launch
