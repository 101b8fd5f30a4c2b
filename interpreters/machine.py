# SPDX-License-Identifier: Apache-2.0
"""
The vector machine that runs Loop, Tile and Kernel IR: every axis is a dimension of an array.

A value is an array over the axes in scope, at least those it depends on; NumPy's broadcasting does
the rest. Axes count from the right, and entering a loop adds dimensions on the left, so that values
from outside need no change:

    loop.for %i in 16, %j in 64        %i: (16, 1)        %j: (64,)
      loop.reduce %k in 8              %k: (8, 1, 1)

The semantics of a dialect is a table from op classes to handlers.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
)

from tilewright.dialects.axes import MaskedOp
from tilewright.interpreters.errors import unknown
from tilewright.interpreters.floats import FLOATS
from tilewright.interpreters.race import Accessors
from tilewright.interpreters.types import Array, ElementTypes

Handler = Callable[[Any, Any], None]
"""A function that runs one op of a class on a machine."""

Handlers = Mapping[type[Operation], Handler]

STEP_LANES = 1 << 18
"""
Number of elements of a value that are computed at a time in a loop that may be cut; they fit in the
cache.
"""


class Machine:
    """
    State of the vector machine: the values of SSA values, the axes in scope, and the active points.

    `shape` has the extents of the axes, outermost first. `active` is None if all points are active.
    """

    def __init__(self, handlers: Handlers, types: ElementTypes):
        self.handlers = handlers
        self.types = types
        self.numbers = types.numbers or FLOATS
        self.values: dict[SSAValue, Any] = {}
        self.shape: tuple[int, ...] = ()
        self.active: Array | None = None
        self.running: dict[Operation, list[Array]] = {}
        """Values that each scan in progress has joined so far, by its op."""

    def run(self, block: Block) -> None:
        """Run the ops of `block` in order, each on all points at once."""
        for op in block.ops:
            handler = self.handlers.get(type(op))
            if handler is None:
                raise unknown(op, f"the interpreter does not support '{op.name}' here")
            handler(self, op)

    def read(self, values: Sequence[SSAValue]) -> list[Any]:
        """Return the present contents of `values`."""
        return [self.values[v] for v in values]

    def array(self, value: SSAValue) -> Array:
        """Return the present content of `value` as an array."""
        return np.asarray(self.values[value])

    def define(self, op: Operation, *results: Any) -> None:
        """Set the results of `op`."""
        self.values.update(zip(op.results, results, strict=True))

    @property
    def rank(self) -> int:
        """Number of axes in scope."""
        return len(self.shape)

    @property
    def lanes(self) -> int:
        """Number of points of the axes in scope."""
        return prod(self.shape)

    @contextmanager
    def axes(self, axes: Sequence[SSAValue], steps: Sequence[range]) -> Generator[None]:
        """
        Add axes with the given steps to the scope, on the left of the present ones, during the
        `with`.
        """
        outer = self.shape
        self.shape = (*map(len, steps), *outer)
        for position, (axis, taken) in enumerate(zip(axes, steps, strict=True)):
            inner = self.rank - position - 1
            self.values[axis] = np.arange(taken.start, taken.stop).reshape((-1, *[1] * inner))
        yield
        self.shape = outer

    @contextmanager
    def where(self, mask: Array | None) -> Generator[None]:
        """
        Deactivate the points where the mask is false, during the `with`; None deactivates none.
        """
        outer = self.active
        if mask is not None:
            self.active = mask if outer is None else mask & outer
        yield
        self.active = outer

    def with_all_steps(self, value: Array) -> Array:
        """
        Return `value` with every step of the innermost loop's axis, even if it does not vary along
        this axis.
        """
        whole = value.reshape((1,) * (self.rank - value.ndim) + value.shape)
        return np.broadcast_to(whole, (self.shape[0], *whole.shape[1:]))

    def accessors(self) -> Accessors | None:
        """Return the thread of each point, if points are threads that may race; else None."""
        return None

    def steps(self, extent: int, lanes: int, limit: int = STEP_LANES) -> Iterator[range]:
        """
        Yield consecutive ranges of the steps 0 to `extent`, each with at most `limit / lanes`
        steps, but at least one.
        """
        size = max(1, limit // max(lanes, 1))
        return (range(low, min(low + size, extent)) for low in range(0, extent, size))

    def indices(self, map: AffineMap, operands: Sequence[SSAValue]) -> list[Array]:
        """Return the results of an affine map at every point."""
        dims = self.read(operands)
        return [np.asarray(evaluate(expr, dims)) for expr in map.results]

    def holds(self, map: AffineMapAttr | None, operands: Sequence[SSAValue]) -> Array | None:
        """
        Return a mask of the points where every expression of `map` is at least 0; None if all.
        """
        if map is None:
            return None
        mask: Array | None = None
        for index in self.indices(map.data, operands):
            holds = index >= 0
            mask = holds if mask is None else mask & holds
        return mask

    def mask_of(self, op: MaskedOp) -> Array | None:
        """
        Return a mask of the points where `op` acts: its own mask and the active points; None if
        all.
        """
        mask = self.holds(op.mask, op.mask_operands)
        if mask is not None and self.active is not None:
            mask = mask & self.active
        elif mask is None:
            mask = self.active
        return None if mask is None or mask.all() else mask


def evaluate(expr: AffineExpr, dims: Sequence[Any]) -> Any:
    """Return the value of `expr`, whose dimensions are integers or arrays of integers."""
    match expr:
        case AffineConstantExpr(value):
            return value
        case AffineDimExpr(position):
            return dims[position]
        case AffineBinaryOpExpr(kind, lhs, rhs):
            return _BINARY[kind](evaluate(lhs, dims), evaluate(rhs, dims))
        case _:
            raise ValueError(f"not an affine expression over dimensions: {expr}")


_BINARY: dict[AffineBinaryOpKind, Callable[[Any, Any], Any]] = {
    AffineBinaryOpKind.Add: lambda a, b: a + b,
    AffineBinaryOpKind.Mul: lambda a, b: a * b,
    AffineBinaryOpKind.Mod: lambda a, b: a % b,
    AffineBinaryOpKind.FloorDiv: lambda a, b: a // b,
    AffineBinaryOpKind.CeilDiv: lambda a, b: -(-a // b),
}
