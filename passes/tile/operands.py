# SPDX-License-Identifier: Apache-2.0
"""
Operands of a launch: values that its blocks read more than once, by name, with the ways to stage
them.

An operand includes as much elementwise work as possible: for `x + bias` it is the sum. Its name is
that of the argument it is loaded from. If there are several, the first that differs along all of
its axes counts. A second operand of an argument `x` is `x-1`. Operands of loops that contain loops
come first, then those of the launch's body.

An operand of a loop whose steps all read the same elements is staged once, before the loop. Queries
of attention are an example: each step over keys reads all of them. Slices of long queries are
staged again in each step, as are slices of keys and of values.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import MOST_ROW_BYTES
from tilewright.passes.cost.shared_budget import slab_bytes
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.nest import nested_chunk, softmax_around
from tilewright.passes.tile.block_values import BlockValues
from tilewright.passes.tile.reuse import Place, Reuse, is_in
from tilewright.passes.tile.slabs import Slab

_CASTS = (
    arith.ExtFOp,
    arith.TruncFOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.TruncIOp,
    arith.SIToFPOp,
    arith.UIToFPOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
)


class Kind(StrEnum):
    """Way to stage an operand."""

    NONE = "none"
    """No stage: the operand is loaded and computed where it is used."""
    RAW = "raw"
    """A stage for each load that the operand is computed from."""
    COMPUTED = "computed"
    """A stage for the operand itself, with all work on it."""


class Operand(NamedTuple):
    """Value that a block reads more than once, in each place where its loops compute it."""

    name: str
    argument: SSAValue
    """Argument that the operand is loaded from, which gives it its name."""
    site: Block
    """Block of ops in which the slabs of the operand are filled."""
    kinds: Sequence[Kind]
    """Ways to stage the operand, the best guess first."""
    places: Mapping[Kind, Sequence[Place]]
    """Values that each way stages, with their slabs and subscripts."""

    def slabs(self, kind: Kind) -> list[Slab]:
        """Return the slabs that a way of staging takes, without duplicates."""
        return list(dict.fromkeys(place.slab for place in self.places[kind]))


@memoised
def find_operands(launch: tile.LaunchOp) -> Sequence[Operand]:
    """Return the operands of a launch, each with the places to stage."""
    blocks = _steps(launch)
    slices = [Reuse(launch, inner) for block in blocks for inner in _slices(launch, block)]
    slices = [reuse for reuse in slices if reuse.operands]
    steps = [Reuse(launch, block, without=[reuse.site for reuse in slices]) for block in blocks]
    steps = [*slices, *(reuse for reuse in steps if reuse.operands)]
    body = Reuse(launch, launch.body.block, without=[reuse.site for reuse in steps])
    found: dict[str, Operand] = {}
    for reuse in (*steps, body):
        for values in reuse.operands:
            argument = reuse.source(values[0]).memref
            name = _name(argument, found)
            kinds = _kinds(reuse, values[0], is_beside=bool(steps) and reuse is body)
            site = _site(reuse, values)
            found[name] = Operand(name, argument, site, kinds, _places(reuse, values))
    return list(found.values())


def _steps(launch: tile.LaunchOp) -> list[Block]:
    """
    Return the bodies of the outermost reductions that contain reductions, and whose steps are the
    same for all threads.
    """
    found: list[Block] = []
    for op in ops_in(launch):
        if not isinstance(op, loop.ReduceOp) or any(is_in(op, block) for block in found):
            continue
        block = op.body.block
        if any(isinstance(i, loop.ReduceOp) for i in block.ops) and _is_uniform(launch, block):
            found.append(block)
    return found


def _slices(launch: tile.LaunchOp, block: Block) -> list[Block]:
    """
    Return the bodies of the sums in chunks in a step of a softmax, if `block` is the body
    of a softmax. They add the products of a score, or of weights and values, in slices.
    """
    sums = (op for op in block.ops if isinstance(op, loop.ReduceOp) and softmax_around(op))
    return [
        op.body.block
        for op in sums
        if nested_chunk(op) is not None and _is_uniform(launch, op.body.block)
    ]


def _site(reuse: Reuse, values: Sequence[SSAValue]) -> Block:
    """
    Return the block in which the slabs of `values` are filled: the site itself, or the block around
    its loops of several steps in which the values stay the same.
    """
    ops = {op for value in values for op in reuse.values.ops_of(value)}
    given = [v.owner for op in ops for v in op.operands if v.owner not in ops]
    used = {owner if isinstance(owner, Block) else owner.parent for owner in given}
    site = reuse.site
    while site not in used and isinstance(around := site.parent_op(), loop.ReduceOp):
        if around.axis_extents()[0] == 1 or around.parent is None:
            break
        site = around.parent
    return site


def _is_uniform(launch: tile.LaunchOp, block: Block) -> bool:
    """True if the bounds of the loops around `block` are the same for all threads."""
    values, op = BlockValues(launch, block), block.parent_op()
    while op is not None and op is not launch:
        bound = op.bound_operands if isinstance(op, loop.ReduceOp) else ()
        if any(values.axes_of(operand) != frozenset() for operand in bound):
            return False
        op = op.parent_op()
    return True


def _name(argument: SSAValue, taken: Mapping[str, Operand]) -> str:
    assert isinstance(argument, BlockArgument)
    stem = argument.name_hint or f"arg{argument.index}"
    names = (f"{stem}-{number}" if number else stem for number in range(len(taken) + 1))
    return next(name for name in names if name not in taken)


def _places(reuse: Reuse, values: Sequence[SSAValue]) -> Mapping[Kind, Sequence[Place]]:
    """
    Return the slabs that each way of staging fills if `values`, which are equal, are an operand,
    with the values that loads from them replace.
    """
    loads = dict.fromkeys(load.result for value in values for load in _raw(reuse, value))
    raw = [reuse.place(load) for load in loads]
    if isinstance(values[0].owner, loop.LoadOp):
        return {Kind.NONE: (), Kind.RAW: raw}
    computed = [reuse.place(_before_cast(value)) for value in values]
    return {Kind.NONE: (), Kind.RAW: raw, Kind.COMPUTED: computed}


def _before_cast(value: SSAValue) -> SSAValue:
    """Return the half-type value that `value` widens, whose slab is smaller, or `value` itself."""
    cast = value.owner
    if not isinstance(cast, arith.ExtFOp) or not cast.input.has_one_use():
        return value
    return cast.input


def _raw(reuse: Reuse, value: SSAValue) -> list[loop.LoadOp]:
    """
    Return the loads from which `value` is computed and which differ along all axes of `value`. If
    there are none, return those whose results are read more than once.
    """
    loads = reuse.sources(value)
    full = [load for load in loads if reuse.is_full(load, value)]
    return full or [load for load in loads if reuse.is_reused(load.result)]


def _kinds(reuse: Reuse, value: SSAValue, *, is_beside: bool) -> Sequence[Kind]:
    """
    Return the ways to stage an operand, the best guess first.

    `computed` comes first if the operand is more than a load and casts, and its slab is no larger
    than those of its loads. Otherwise `raw` does: casts after the stage keep the slab small.

    In the body of a launch, `none` comes first in three cases. Loops inside have operands of their
    own; or the slab is larger than `MOST_ROW_BYTES`; or threads only load the value at the same
    time, which the cache serves as well.
    """
    is_loaded = _is_loaded(value)
    is_larger = not any(reuse.is_full(load, value) for load in reuse.sources(value))
    kinds = [Kind.RAW] if isinstance(value.owner, loop.LoadOp) else [Kind.COMPUTED, Kind.RAW]
    if is_loaded or is_larger:
        kinds.sort(key=[Kind.RAW, Kind.COMPUTED].index)
    if not reuse.is_launch:
        return [*kinds, Kind.NONE]
    is_cached = is_loaded and not reuse.is_read_again(value) and not reuse.is_contraction
    is_long = slab_bytes(reuse.place(value).slab.type) > MOST_ROW_BYTES
    if is_beside or is_cached or is_long:
        return [Kind.NONE, *kinds]
    return [*kinds, Kind.NONE]


def _is_loaded(value: SSAValue) -> bool:
    """True if the value is a load, apart from casts that do not round it."""
    while isinstance(value.owner, _CASTS) and not isinstance(value.owner, arith.TruncFOp):
        value = value.owner.operands[0]
    return isinstance(value.owner, loop.LoadOp)
