# SPDX-License-Identifier: Apache-2.0
"""A builder of `loop.kernel`: inputs in the order of their first loads, a nest, and stores."""

from collections.abc import Sequence
from itertools import cycle

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.monoid import Monoid, MonoidAttr

_INDEX = IndexType()
AXIS_NAMES = "ijlpqrstuvw"
"""Names of free axes, outermost first."""

FOLD_AXIS_NAME = "k"
"""Name of the axis of a reduction or a scan."""

_FOLD_NAMES = {
    Monoid.ADD: ["sum"],
    Monoid.MUL: ["product"],
    Monoid.MAX: ["maximum"],
    Monoid.MIN: ["minimum"],
    Monoid.AND: ["all"],
    Monoid.OR: ["any"],
    Monoid.ARGMAX: ["maximum", "position"],
    Monoid.ARGMIN: ["minimum", "position"],
    Monoid.SOFTMAX: ["maximum", "sum"],
    Monoid.MOMENTS: ["mean", "squares", "count"],
}


class KernelBuilder:
    """
    A builder of a kernel whose free axes are the axes of `shape`, without those of size 1, and
    whose outputs have the types of `buffers`. Ops are added to the innermost open body. The first
    load of a buffer makes the buffer an argument.

    Subscripts and masks are affine expressions over `indices`: the axes, in the order of their
    opening, and other values of index type.
    """

    def __init__(self, shape: Sequence[int], buffers: Sequence[SSAValue]):
        self.shape = shape
        self.inputs: list[SSAValue] = []
        """Buffers that the kernel reads, in the order of its arguments."""
        self.body = Block(arg_types=[b.type for b in buffers])
        """
        Body of the kernel; its arguments are the inputs, in the order of their first loads, and the
        outputs.
        """
        self.extents = [size for size in shape if size != 1]
        self.nest = Block(arg_types=[_INDEX] * len(self.extents))
        self.open: list[Block] = [self.nest]
        self.indices: list[SSAValue] = [*self.nest.args]
        """Values of the affine dimensions 0, 1, ..."""
        for position, axis in enumerate(self.nest.args):
            axis.name_hint = AXIS_NAMES[position % len(AXIS_NAMES)]
        for output in self.outputs:
            output.name_hint = "out"

    @property
    def outputs(self) -> Sequence[BlockArgument]:
        """Arguments that the kernel stores to."""
        return self.body.args[len(self.inputs) :]

    @property
    def coordinates(self) -> list[AffineExpr]:
        """
        Coordinates of the current step in `shape`: axes as affine dimensions, 0 where the size is
        1.
        """
        axes = iter(range(len(self.extents)))
        return [
            AffineExpr.constant(0) if size == 1 else AffineExpr.dimension(next(axes))
            for size in self.shape
        ]

    def dimension(self, index: SSAValue) -> AffineExpr:
        """Return the affine dimension of an index; an unknown index gets a new dimension."""
        if index not in self.indices:
            self.indices.append(index)
        return AffineExpr.dimension(self.indices.index(index))

    def access(self, exprs: Sequence[AffineExpr]) -> Access:
        """Return the expressions with the values of the affine dimensions that they use."""
        return exprs, self.indices

    def add(self, op: Operation) -> SSAValue:
        """Append `op` to the innermost open body, and return its first result."""
        self.open[-1].add_op(op)
        return op.results[0]

    def load(
        self, buffer: SSAValue, subscripts: Sequence[AffineExpr], where: Sequence[AffineExpr] = ()
    ) -> SSAValue:
        """
        Add a load of the element of `buffer` at `subscripts`, and return the loaded value. The
        value is 0 unless all of `where` are at least 0.
        """
        mask = self.access(where) if where else None
        return self.add(loop.LoadOp(self._argument(buffer), self.access(subscripts), mask))

    def holds(self, where: Sequence[AffineExpr]) -> SSAValue:
        """Return an i1 that is true where all of `where` are at least 0."""
        return self.add(loop.PredicateOp(self.access(where)))

    def _argument(self, buffer: SSAValue) -> BlockArgument:
        if buffer not in self.inputs:
            argument = self.body.insert_arg(buffer.type, len(self.inputs))
            argument.name_hint = buffer.name_hint
            self.inputs.append(buffer)
        return self.body.args[self.inputs.index(buffer)]

    def begin_loop(self) -> AffineExpr:
        """Open the body of a reduction or a scan, and return its axis as an affine dimension."""
        body = Block(arg_types=[_INDEX])
        body.args[0].name_hint = FOLD_AXIS_NAME
        self.open.append(body)
        return self.dimension(body.args[0])

    def end_reduce(
        self, extent: int, monoid: MonoidAttr, values: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """
        Close the body of a reduction of `extent` steps, which yields `values` in each step. Returns
        the results of the reduction.
        """
        body = self.open.pop()
        body.add_op(loop.YieldOp(values))
        reduction = loop.ReduceOp(extent, monoid, Region(body))
        self.add(reduction)
        return _named(reduction.results, monoid)

    def prefix(self, monoid: MonoidAttr, values: Sequence[SSAValue]) -> list[SSAValue]:
        """
        Return the prefixes of `values`: each joined over all steps of the open scan up to this one.
        """
        op = loop.PrefixOp(values, monoid)
        self.add(op)
        return _named(op.results, monoid)

    def end_scan(self, extent: int) -> None:
        """Close the body of a scan of `extent` steps."""
        body = self.open.pop()
        self.open[-1].add_op(loop.ScanOp(extent, Region(body)))

    def store(
        self, values: Sequence[SSAValue], coordinates: Sequence[AffineExpr] | None = None
    ) -> None:
        """Store one value to each output, at `coordinates` or else at the free axes."""
        where = self.access(self.coordinates if coordinates is None else coordinates)
        for value, output in zip(values, self.outputs, strict=True):
            self.open[-1].add_op(loop.StoreOp(value, output, where))

    def finish(self, name: str) -> loop.KernelOp:
        """Return the finished kernel; its body has no nest if there are no free axes."""
        self.body.add_ops(nest_over(self.extents, self.nest))
        return loop.KernelOp(name, Region(self.body), len(self.outputs))


def _named(values: Sequence[SSAValue], monoid: MonoidAttr) -> list[SSAValue]:
    """Name `values` after the results of the monoid, and return them."""
    for value, name in zip(values, cycle(_FOLD_NAMES[monoid.data])):
        value.name_hint = name
    return [*values]


def nest_over(extents: Sequence[int], body: Block) -> Sequence[Operation]:
    """Return a nest over `extents` with that body; without axes, return the ops of the body."""
    if extents:
        return [loop.ForOp(extents, Region(body))]
    ops = list(body.ops)
    for op in ops:
        op.detach()
    return ops
