# SPDX-License-Identifier: Apache-2.0
"""
The two kernels that `split-joins` makes of one; each is a copy without the other's work.

Values that both need are computed by both, for example the maximum of a row that the epilogue uses
too.
"""

from collections.abc import Iterable, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, MemRefType, StringAttr, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access
from tilewright.dialects.index import linearize
from tilewright.dialects.tile.attributes import Level
from tilewright.passes.facts.block_joins import BlockJoins, block_joins
from tilewright.passes.facts.combines import following
from tilewright.passes.kernel.partials import thread_order
from tilewright.passes.rewriting.substitution import masked_store


class Half:
    """Copy of a kernel that becomes one of its two halves."""

    def __init__(self, source: loop.KernelOp, name: str):
        self.kernel = source.clone()
        self.kernel.sym_name = StringAttr(name)
        self.kernel.location = source.location
        launch = self.kernel.body.block.last_op
        assert isinstance(launch, tile.LaunchOp)
        self.launch = launch
        joins = block_joins(launch)
        assert joins is not None
        self.joins: BlockJoins = joins
        (group,) = joins.groups
        group.move_together()
        self.combines = group.ops
        self.given = {argument: argument.index for argument in self.kernel.body.block.args}
        """Arguments of the whole kernel, with their positions."""
        self.rooms: list[BlockArgument] = []
        """Arguments of this half that are the workspace."""

    def add_room(self, type: Attribute, *, is_output: bool) -> BlockArgument:
        """
        Return a new workspace argument between inputs and outputs: an output if `is_output`, else
        an input.
        """
        at, facts = len(self.kernel.inputs) + len(self.rooms) * is_output, list(self.kernel.facts)
        room = self.kernel.body.block.insert_arg(type, at)
        room.name_hint = "partials"
        outputs = self.kernel.num_outputs.value.data + is_output
        self.kernel.num_outputs = IntegerAttr(outputs, i64)
        self.kernel.set_facts([*facts[:at], {}, *facts[at:]])
        self.rooms.append(room)
        return room

    def before(self, combine: tile.CombineOp, op: Operation) -> None:
        """Insert `op` ahead of `combine`, with its location."""
        op.location = combine.location
        self.launch.body.block.insert_op_before(op, combine)

    def finish(self) -> None:
        """Erase unused ops, block axes and arguments."""
        for block in (self.launch.body.block, self.kernel.body.block):
            unused = (op for op in reversed(list(block.ops)) if op.results)
            erase(op for op in unused if not any(result.uses for result in op.results))
        self._drop_axes()
        kept = [argument for argument in self.kernel.body.block.args if argument.uses]
        facts = [self.kernel.facts[argument.index] for argument in kept]
        outputs = sum(argument in kept for argument in self.kernel.outputs)
        for argument in list(self.kernel.body.block.args):
            if argument not in kept:
                self.kernel.body.block.erase_arg(argument)
        self.kernel.num_outputs = IntegerAttr(outputs, i64)
        self.kernel.set_facts(facts)

    def _drop_axes(self) -> None:
        """Drop the joined block axes if nothing in the launch depends on them."""
        joined = [axis.value for axis in self.joins.axes]
        if any(value.uses for value in joined):
            return
        pairs = zip(self.launch.axes, self.launch.body.block.args, strict=True)
        self.launch.axes = ArrayAttr(axis for axis, value in pairs if value not in joined)
        for value in joined:
            assert isinstance(value, BlockArgument)
            self.launch.body.block.erase_arg(value)

    def launch_like(self, whole: loop.LaunchOp, rooms: Sequence[SSAValue]) -> loop.LaunchOp:
        """
        Return a launch of this half with the arguments of `whole`, a launch of the whole kernel,
        and the buffers `rooms`.
        """
        passed = dict(zip(self.rooms, rooms, strict=True))
        for argument, number in self.given.items():
            passed[argument] = whole.operands[number]
        inputs = [passed[argument] for argument in self.kernel.inputs]
        outputs = [passed[argument] for argument in self.kernel.outputs]
        return loop.LaunchOp(self.kernel.sym_name.data, inputs, outputs)


def erase(ops: Iterable[Operation]) -> None:
    """Erase `ops` in this order; each must be unused when its turn comes."""
    for op in ops:
        op.detach()
        op.erase()


class Workspace:
    """
    Array in global memory for a result of a combine: one element for each value that may differ.
    """

    def __init__(self, half: Half, result: SSAValue):
        launch, joined = half.launch, half.joins.axes
        varies = tile.value_varies_along(result, {})
        registers = [axis for axis in launch.axes_at(Level.REGISTER) if axis.value in varies]
        blocks = [axis for axis in launch.axes_at(Level.BLOCK) if axis not in joined]
        threads = [axis for axis in launch.thread_axes() if axis.value in varies]
        found = [*blocks, *thread_order(registers, threads)]
        self.axes = [axis for axis in found if axis.extent > 1]
        self.type = MemRefType(result.type, [half.joins.blocks, *(a.extent for a in self.axes)])
        self.same = [axis.value for axis in launch.thread_axes() if axis.value not in varies]
        """Thread axes along which the value is the same."""

    def access(self, rank: AffineExpr, operands: Sequence[SSAValue]) -> Access:
        """
        Return the subscripts of the element that belongs to the joining block with rank `rank`.
        """
        dims = [AffineExpr.dimension(len(operands) + n) for n in range(len(self.axes))]
        return [rank, *dims], [*operands, *(axis.value for axis in self.axes)]


def first_half(source: loop.KernelOp, name: str) -> Half:
    """Return the kernel in which each block stores its own joined values in the workspace."""
    half = Half(source, name)
    erase(reversed(following(half.combines[-1])))
    _store_once(half)
    for combine in half.combines:
        _store_partials(half, combine)
    erase(half.combines)
    half.finish()
    return half


def _store_partials(half: Half, combine: tile.CombineOp) -> None:
    axes = half.joins.axes
    dims = [AffineExpr.dimension(n) for n in range(len(axes))]
    rank = linearize(dims, [axis.extent for axis in axes])
    for result, value in zip(combine.results, _joined_within(half, combine), strict=True):
        workspace = Workspace(half, result)
        subscripts = workspace.access(rank, [axis.value for axis in axes])
        room = half.add_room(workspace.type, is_output=True)
        half.before(combine, loop.StoreOp(value, room, subscripts, _where_zero(workspace.same)))


def _where_zero(axes: Sequence[SSAValue]) -> Access:
    """Return the mask that holds where all of `axes` are 0."""
    return [AffineExpr.dimension(n) * -1 for n in range(len(axes))], axes


def _joined_within(half: Half, combine: tile.CombineOp) -> Sequence[SSAValue]:
    """Return the values of a combine, joined across the axes within a block."""
    joined = [axis.value for axis in half.joins.axes]
    own = [axis for axis in combine.axes if axis not in joined]
    if own:
        within = tile.CombineOp(combine.values, own, combine.monoid, combine.where)
        half.before(combine, within)
        return within.results
    where = combine.where
    return combine.values if where is None else _masked(half, combine, where)


def _masked(half: Half, combine: tile.CombineOp, where: Access) -> Sequence[SSAValue]:
    """Return the values of a combine where its mask holds, and the identity elsewhere."""
    half.before(combine, predicate := loop.PredicateOp(where))
    found: list[SSAValue] = []
    identities = combine.monoid.identities(combine.values.types)
    for value, identity in zip(combine.values, identities, strict=True):
        half.before(combine, constant := arith.ConstantOp(identity))
        half.before(combine, select := arith.SelectOp(predicate.result, value, constant.result))
        found.append(select.result)
    return found


def _store_once(half: Half) -> None:
    """
    Mask stores ahead of the combine that all joining blocks would repeat, so that one block does
    them.
    """
    where = _where_zero([axis.value for axis in half.joins.axes])
    for op in [op for op in half.launch.walk() if isinstance(op, loop.StoreOp)]:
        if not half.joins.differing.isdisjoint((*op.indices, *op.mask_operands)):
            continue
        assert op.parent is not None
        op.parent.insert_op_before(masked_store(op, where), op)
        erase([op])


def second_half(source: loop.KernelOp, name: str) -> Half:
    """Return the kernel that joins the values in the workspace and then does all that follows."""
    half = Half(source, name)
    for combine in half.combines:
        _join_partials(half, combine)
    block_ops = list(half.launch.body.block.ops)
    earlier = block_ops[: block_ops.index(half.combines[-1])]
    erase(half.combines)
    erase(op for op in reversed(earlier) if not op.results)
    half.finish()
    return half


def _join_partials(half: Half, combine: tile.CombineOp) -> None:
    body = Block(arg_types=[IndexType()])
    body.args[0].name_hint = "r"
    loads: list[Operation] = []
    for workspace in [Workspace(half, result) for result in combine.results]:
        room = half.add_room(workspace.type, is_output=False)
        subscripts = workspace.access(AffineExpr.dimension(0), [body.args[0]])
        loads.append(loop.LoadOp(room, subscripts))
    body.add_ops([*loads, loop.YieldOp([load.results[0] for load in loads])])
    reduction = loop.ReduceOp(half.joins.blocks, combine.monoid, Region(body))
    half.before(combine, reduction)
    for old, new in zip(combine.results, reduction.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
