# SPDX-License-Identifier: Apache-2.0
"""
The joins between the blocks of a launch, and the check that they can be lowered.

All steps of the joined axes need the result. Blocks that do not wait for each other cannot all have
the result. With any join except `cluster`, one of the blocks continues alone. A block may continue
alone as long as no later op differs along the joined axes. Targets and the lowering have further
limits.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.kernel.grid import is_atomic
from tilewright.dialects.kernel_like import MAX_CLUSTER
from tilewright.dialects.origin import place_of
from tilewright.dialects.target import target as target_named
from tilewright.dialects.tile import Join
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.passes.facts.combines import JoinGroup, join_groups
from tilewright.passes.reporting.refusal import PlacedPassError


class RefusedJoinError(PlacedPassError):
    """
    Error about a join of blocks that cannot be lowered, in terms of Tile IR; `with_options`
    describes it in terms of pass options.
    """

    def __init__(
        self,
        op: tile.CombineOp,
        axis: str,
        problem: str,
        kind: Join | None,
        instead: Join | None,
    ):
        self.problem, self.kind, self.instead = problem, kind, instead
        message = (
            f"cannot lower tile.combine across the block axis %{axis}: {self._message('join({})')}"
        )
        super().__init__(message, place_of(op))

    @property
    def with_options(self) -> str:
        """
        Reason why the join cannot be lowered, worded for a user who chooses the join by the option
        `join` of a pass.
        """
        return self._message("join={}")

    def _message(self, spelling: str) -> str:
        subject = "" if self.kind is None else f"{spelling.format(self.kind)} "
        remedy = "" if self.instead is None else f"; use {spelling.format(self.instead)}"
        return f"{subject}{self.problem}{remedy}"


class BlockJoins(NamedTuple):
    """
    The combines of a launch across block axes: all of one kind and across the same axes, in groups
    that are joined at once.
    """

    kind: Join
    axes: Sequence[Axis]
    """Joined block axes, in the order of the launch."""
    groups: Sequence[JoinGroup]
    differing: frozenset[SSAValue]
    """Values that may differ between blocks that join."""

    @property
    def blocks(self) -> int:
        """Number of blocks that join."""
        return prod(axis.extent for axis in self.axes)

    @property
    def ops(self) -> list[tile.CombineOp]:
        """All combines across blocks."""
        return [op for group in self.groups for op in group.ops]

    def can_continue_alone(self, group: JoinGroup) -> bool:
        """True if one of the blocks can compute all ops after `group`."""
        return not any(self._differs(later) for later in group.rest)

    def _differs(self, op: Operation) -> bool:
        used = (value for inner in ops_in(op) for value in inner.operands)
        return not self.differing.isdisjoint(used)


def joined_axes(launch: tile.LaunchOp, op: tile.CombineOp) -> list[Axis]:
    """Return the block axes with more than one step among the axes of a combine."""
    blocks = launch.axes_at(Level.BLOCK)
    return [axis for axis in blocks if axis.extent > 1 and axis.value in op.axes]


def block_joins(launch: tile.LaunchOp) -> BlockJoins | None:
    """
    Return the joins between blocks of a launch, or None if there are none.

    Raises `RefusedJoinError` if they cannot be lowered.
    """
    combines = [op for op in ops_in(launch) if isinstance(op, tile.CombineOp)]
    ops = [op for op in combines if joined_axes(launch, op)]
    if not ops:
        return None
    axes, kind = joined_axes(launch, ops[0]), ops[0].join_kind
    for op in ops:
        if op.parent is not launch.body.block:
            raise _refused(launch, op, "blocks cannot join in each step of a loop; join after it")
        if joined_axes(launch, op) != axes or op.join_kind is not kind:
            raise _refused(
                launch, op, "a kernel joins all its blocks across the same axes, in one way"
            )
    joins = BlockJoins(kind, axes, join_groups(ops), _differing(launch, axes))
    _verify(launch, joins)
    return joins


def _differing(launch: tile.LaunchOp, axes: Sequence[Axis]) -> frozenset[SSAValue]:
    """Return the joined axes and the values computed from them, except through joined results."""
    values: set[SSAValue] = {axis.value for axis in axes}
    for op in launch.body.block.ops:
        if not isinstance(op, tile.CombineOp) or joined_axes(launch, op) != axes:
            _spread(op, values)
    return frozenset(values)


def _spread(op: Operation, values: set[SSAValue]) -> None:
    for inner in (inner for region in op.regions for block in region.blocks for inner in block.ops):
        _spread(inner, values)
    used = (value for inner in ops_in(op) for value in inner.operands)
    if not values.isdisjoint(used):
        values.update(op.results)


def _verify(launch: tile.LaunchOp, joins: BlockJoins) -> None:
    kind, last = joins.kind, joins.groups[-1]
    refused = partial(_refused, launch, last.ops[0])
    if kind is Join.CLUSTER:
        if joins.blocks > MAX_CLUSTER:
            problem = f"{joins.blocks} blocks; a cluster has at most {MAX_CLUSTER}"
            raise refused(problem, instead=Join.LAST_BLOCK)
        return
    if kind is Join.ATOMIC:
        _verify_atomic_types(launch, last)
    if len(joins.groups) > 1:
        problem = "leaves one block, which cannot join again"
        raise refused(problem, kind, Join.CLUSTER)
    if not joins.can_continue_alone(last):
        problem = "leaves one block, but later ops differ between blocks"
        raise refused(problem, kind, Join.CLUSTER)
    if kind is Join.ATOMIC:
        _verify_atomic(launch, last)


def _verify_atomic_types(launch: tile.LaunchOp, group: JoinGroup) -> None:
    for op in group.ops:
        for value in op.values:
            if not is_atomic(op.monoid.data, value.type):
                problem = f"there is no atomic {op.monoid.data} of {value.type}"
                raise _refused(launch, op, problem, instead=Join.LAST_BLOCK)


def _verify_atomic(launch: tile.LaunchOp, group: JoinGroup) -> None:
    refused = partial(_refused, launch, instead=Join.LAST_BLOCK)
    results = [result for op in group.ops for result in op.results]
    stores = [op for op in group.rest if isinstance(op, loop.StoreOp) and op.value in results]
    if len(stores) < len(group.rest):
        problem = "allows no use of its result except a store"
        raise refused(group.ops[0], problem, Join.ATOMIC)
    stored = [store.memref for store in stores]
    if len(set(stored)) != len(stored) or any(_is_stored_before(group, m) for m in stored):
        raise refused(group.ops[0], "needs outputs of its own", Join.ATOMIC)


def _is_stored_before(group: JoinGroup, memref: SSAValue) -> bool:
    stores = [u.operation for u in memref.uses if isinstance(u.operation, loop.StoreOp)]
    return any(store not in group.rest for store in stores)


def _refused(
    launch: tile.LaunchOp,
    op: tile.CombineOp,
    problem: str,
    kind: Join | None = None,
    instead: Join | None = None,
) -> RefusedJoinError:
    axis = joined_axes(launch, op)[0].value.name_hint or "?"
    return RefusedJoinError(op, axis, problem, kind, instead)


def reason_against_join(join: str | None, blocks: int, target: str) -> str | None:
    """
    Reason why `target` cannot join `blocks` blocks in the way `join`, a name given by the user;
    None if it can.
    """
    if join not in list(Join):
        return f"blocks cannot join by '{join}'; join is {', '.join(Join)}"
    if join != Join.CLUSTER:
        return None
    if not target_named(target).has_clusters:
        return f"{target} has no clusters; use join=last_block"
    if blocks > MAX_CLUSTER:
        return f"a cluster has at most {MAX_CLUSTER} blocks; use join=last_block"
    return None


def reason_not_lowered(
    launch: tile.LaunchOp, split: Callable[[tile.LaunchOp, PatternRewriter], object]
) -> str | None:
    """
    Reason why the launch could not be lowered after `split` has rewritten it, or None.

    A clone of the kernel is rewritten, because the conditions are those of ops that `split` makes:
    which values differ between blocks, and which ops come after the joins. A prediction of these
    ops would repeat each rewrite, and could disagree with it. Passes call this only where simple
    conditions do not already prove that the blocks can join.
    """
    tried = launch.kernel.clone()
    copy = tried.body.block.last_op
    assert isinstance(copy, tile.LaunchOp)
    split(copy, PatternRewriter(copy))
    whole = tried.body.block.last_op
    assert isinstance(whole, tile.LaunchOp)
    try:
        block_joins(whole)
    except RefusedJoinError as err:
        return err.with_options
    return None
