# SPDX-License-Identifier: Apache-2.0
"""Building a `loop.kernel`: its arguments as they are first read, its nest, its stores."""

import re
from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import IndexType, ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.monoid import Monoid, MonoidAttr

_INDEX = IndexType()
_AXIS_NAMES = "ijlpqrstuvw"
_FOLD_NAMES = {
    Monoid.ADD: "sum",
    Monoid.MUL: "product",
    Monoid.MAX: "maximum",
    Monoid.MIN: "minimum",
}
_SYMBOL = re.compile(r"\W+")


class KernelNames:
    """Symbol names that are unique in a module and valid in C."""

    def __init__(self, module: ModuleOp, without: Iterable[str] = ()):
        names = (op.properties.get("sym_name") for op in module.ops)
        self.taken = {name.data for name in names if isinstance(name, StringAttr)} - {*without}
        self.next: dict[str, int] = {}

    def unique(self, wanted: str) -> str:
        """`wanted`, or `wanted_1`, `wanted_2`, ... when that is taken."""
        stem = _SYMBOL.sub("_", wanted).strip("_") or "kernel"
        stem = f"k{stem}" if stem[0].isdigit() else stem
        name = stem
        while name in self.taken:
            self.next[stem] = self.next.get(stem, 0) + 1
            name = f"{stem}_{self.next[stem]}"
        self.taken.add(name)
        return name


class KernelBuilder:
    """
    A kernel whose free axes are the axes of `shape` (those of size 1 need none), and whose outputs
    are stand-ins for `buffers`. Ops are added to the innermost open body; the first load of a
    buffer makes it an argument.
    """

    def __init__(self, shape: Sequence[int], buffers: Sequence[SSAValue]):
        self.shape = shape
        self.inputs: list[SSAValue] = []
        """The buffers that the kernel reads, in the order of its arguments."""
        self.arguments = Block()
        self.outputs = Block(arg_types=[b.type for b in buffers])
        self.extents = [size for size in shape if size != 1]
        self.nest = Block(arg_types=[_INDEX] * len(self.extents))
        self.open: list[Block] = [self.nest]
        for position, axis in enumerate(self.nest.args):
            axis.name_hint = _AXIS_NAMES[position % len(_AXIS_NAMES)]
        for output in self.outputs.args:
            output.name_hint = "out"

    @property
    def coordinates(self) -> list[AffineExpr]:
        """Where the nest stands in `shape`: its axes as affine dimensions, 0 at those of size 1."""
        axes = iter(range(len(self.extents)))
        return [
            AffineExpr.constant(0) if size == 1 else AffineExpr.dimension(next(axes))
            for size in self.shape
        ]

    def dimension(self, axis: SSAValue) -> AffineExpr:
        """The affine dimension that stands for `axis`."""
        return AffineExpr.dimension(self._axes().index(axis))

    def _axes(self) -> list[SSAValue]:
        return [axis for block in self.open for axis in block.args]

    def add(self, op: Operation) -> SSAValue:
        """Append `op` to the innermost body; its first result."""
        self.open[-1].add_op(op)
        return op.results[0]

    def load(self, buffer: SSAValue, subscripts: Sequence[AffineExpr]) -> SSAValue:
        """The element of `buffer` at `subscripts`, expressions over the open axes."""
        return self.add(loop.LoadOp(self._argument(buffer), (subscripts, self._axes())))

    def _argument(self, buffer: SSAValue) -> BlockArgument:
        if buffer not in self.inputs:
            self.inputs.append(buffer)
            argument = self.arguments.insert_arg(buffer.type, len(self.arguments.args))
            argument.name_hint = buffer.name_hint
        return self.arguments.args[self.inputs.index(buffer)]

    def begin_reduce(self) -> BlockArgument:
        """Open the body of a reduction; its axis."""
        body = Block(arg_types=[_INDEX])
        body.args[0].name_hint = "k"
        self.open.append(body)
        return body.args[0]

    def end_reduce(
        self, extent: int, monoid: MonoidAttr, values: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """Close the body, which yields `values` for each of `extent` steps; what they fold to."""
        body = self.open.pop()
        body.add_op(loop.YieldOp(values))
        reduction = loop.ReduceOp(extent, monoid, Region(body))
        self.add(reduction)
        for result in reduction.results:
            result.name_hint = _FOLD_NAMES[monoid.data]
        return list(reduction.results)

    def store(self, values: Sequence[SSAValue]) -> None:
        """Write one value to each output, at the free axes."""
        for value, output in zip(values, self.outputs.args, strict=True):
            store = loop.StoreOp(value, output, (self.coordinates, self._axes()))
            self.open[-1].add_op(store)

    def finish(self, name: str) -> loop.KernelOp:
        """The kernel; without free axes its body is not in a nest."""
        body = Block(arg_types=[a.type for a in (*self.arguments.args, *self.outputs.args)])
        if self.extents:
            body.add_op(loop.ForOp(self.extents, Region(self.nest)))
        else:
            body.add_ops(_detached(self.nest))
        stand_ins = (*self.arguments.args, *self.outputs.args)
        for stand_in, argument in zip(stand_ins, body.args, strict=True):
            argument.name_hint = stand_in.name_hint
            stand_in.replace_all_uses_with(argument)
        return loop.KernelOp(name, Region(body), len(self.outputs.args))


def _detached(block: Block) -> list[Operation]:
    ops = list(block.ops)
    for op in ops:
        op.detach()
    return ops
