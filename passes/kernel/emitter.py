# SPDX-License-Identifier: Apache-2.0
"""
Builder of Kernel IR: appends ops to nested bodies, and builds constants, joins, predicates and
loops.

A constant is placed ahead of the loops that use it, and is shared by all uses in its scope.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import Access, conditions_of, optional_mask
from tilewright.dialects.kernel.registers import UNROLL
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.passes.kernel.monoid_arith import joined
from tilewright.passes.rewriting.appending import Appending

_INDEX = IndexType()
_D0, _D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)


@dataclass
class _Scope:
    """Body that is not the body of a loop, with the constants defined in it."""

    constants: dict[Attribute, SSAValue] = field(default_factory=dict[Attribute, SSAValue])
    loop: Operation | None = None
    """Outermost open loop in the body, or None."""


class Emitter(Appending):
    """Builder that appends ops at the end of the open body and knows the loops around it."""

    def __init__(self, block: Block):
        super().__init__(block)
        self._scopes = [_Scope()]
        """Scopes that are open, outermost first."""
        self.loops: list[tuple[SSAValue, int]] = []
        """Open loops, outermost first, as pairs of index and number of steps."""

    def op(self, op: Operation) -> Operation:
        """Append `op`."""
        op.location = self.location
        self.block.add_op(op)
        return op

    def value(self, op: Operation, hint: str | None = None) -> SSAValue:
        """Append `op` and return its only result, named `hint`."""
        self.op(op)
        op.results[0].name_hint = hint
        return op.results[0]

    def constant(self, value: int) -> SSAValue:
        """Return the index constant `value`, defined ahead of the open loops of its scope."""
        return self.number(IntegerAttr(value, _INDEX))

    def number(self, value: IntegerAttr | FloatAttr) -> SSAValue:
        """Return the constant `value`, defined ahead of the open loops of its scope."""
        for scope in reversed(self._scopes):
            if value in scope.constants:
                return scope.constants[value]
        scope = self._scopes[-1]
        op = arith.ConstantOp(value)
        if scope.loop is None:
            self.op(op)
        else:
            self._insert_ahead(op, scope.loop)
        scope.constants[value] = op.result
        return op.result

    def _insert_ahead(self, op: Operation, loop: Operation) -> None:
        block = loop.parent
        assert block is not None
        op.location = self.location
        block.insert_op_before(op, loop)

    def identities(self, monoid: MonoidAttr, like: Sequence[SSAValue]) -> list[SSAValue]:
        """Return the identities of `monoid` in the types of `like`."""
        constants = monoid.identities([value.type for value in like])
        return [self.number(constant) for constant in constants]

    def join(
        self, monoid: MonoidAttr, left: Sequence[SSAValue], right: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """Return the join of `left` and `right` by `monoid`; results keep the names of `left`."""
        values = joined(monoid.data, left, right, self.value)
        for value, same in zip(values, left, strict=True):
            value.name_hint = same.name_hint
        return values

    def masked(
        self, values: Sequence[SSAValue], where: Access | None, monoid: MonoidAttr
    ) -> list[SSAValue]:
        """
        Return `values` where the mask holds and the identity elsewhere. No select is emitted if all
        values are 0 outside the mask and the identity is 0.
        """
        is_zero = monoid.data in (Monoid.ADD, Monoid.OR)
        if is_zero and all(_is_zero_outside(value, where) for value in values):
            return list(values)
        if (predicate := self.predicate(where)) is None:
            return list(values)
        others = zip(values, self.identities(monoid, values), strict=True)
        return [self.value(arith.SelectOp(predicate, value, other)) for value, other in others]

    def predicate(self, where: Access | None) -> SSAValue | None:
        """Return the mask as a value, or None if it always holds."""
        operands, mask = optional_mask(where)
        if mask is None:
            return None
        return self.value(loop.PredicateOp((mask.data.results, operands)))

    def loop(
        self,
        extent: int,
        carried: Sequence[SSAValue],
        body: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
        hint: str | None = None,
        *,
        first: SSAValue | None = None,
        below: Access | None = None,
        unroll: bool = False,
    ) -> list[SSAValue]:
        """
        Emit a loop of `extent` steps and return the results of its last step. `body(index,
        carried)` emits one step; `carried` are the results of the step before.

        Only steps from `first` on, and below every expression of `below`, are run. Index 0 is then
        the step `first`, so that a ring can compute its slot from the index.
        """
        low, high, step = self.constant(0), self.constant(extent), self.constant(1)
        high = self._choose(arith.MinSIOp, high, below, "end")
        if first is not None:
            high = self.value(kernel.IndexOp(([_D0 - _D1], [high, first])), "steps")
        inner = Block(arg_types=[_INDEX, *(v.type for v in carried)])
        inner.args[0].name_hint = hint
        loop = scf.ForOp(low, high, step, carried, Region(inner))
        if unroll:
            loop.attributes[UNROLL] = UnitAttr()
        self.op(loop)
        scope = self._scopes[-1]
        outermost, scope.loop = scope.loop, scope.loop or loop
        self.loops.append((inner.args[0], extent))
        with super().inside(inner):
            results = body(inner.args[0], inner.args[1:])
            self.op(scf.YieldOp(*results))
        self.loops.pop()
        scope.loop = outermost
        return list(loop.results)

    def first_step(self, start: Access | None) -> SSAValue | None:
        """
        Return the first step that is at or after 0 and all expressions of `start`; None means step
        0.
        """
        return start and self._choose(arith.MaxSIOp, self.constant(0), start, "first")

    def after(self, first: SSAValue | None, index: SSAValue, hint: str | None) -> SSAValue:
        """Return the step that is `index` steps after `first`; without `first`, return `index`."""
        if first is None:
            return index
        return self.value(kernel.IndexOp(([_D0 + _D1], [first, index])), hint)

    def _choose(
        self,
        choice: type[arith.MinSIOp | arith.MaxSIOp],
        value: SSAValue,
        bounds: Access | None,
        hint: str,
    ) -> SSAValue:
        """Return the minimum or maximum, by `choice`, of `value` and `bounds`."""
        exprs, operands = bounds or ((), ())
        for expr in exprs:
            bound = self.value(kernel.IndexOp(([expr], operands)), "bound")
            value = self.value(choice(value, bound), hint)
        return value

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Append ops into `block`, which is not the body of a loop, while the context is open."""
        self._scopes.append(_Scope())
        with super().inside(block):
            yield
        self._scopes.pop()

    @contextmanager
    def outside_loops(self) -> Generator[None]:
        """
        Put ops that are appended in the context ahead of all open loops, so that they run once.
        """
        depth = next((n for n, scope in enumerate(self._scopes) if scope.loop is not None), None)
        if depth is None:
            yield
            return
        scopes, self._scopes = self._scopes, self._scopes[: depth + 1]
        outermost = scopes[depth].loop
        assert outermost is not None
        ahead = Block()
        with self.inside(ahead):
            yield
        self._scopes = scopes
        block = outermost.parent
        assert block is not None
        for op in tuple(ahead.ops):
            op.detach()
            block.insert_op_before(op, outermost)

    @contextmanager
    def guarded(self, where: Access) -> Generator[None]:
        """
        Put ops that are appended in the context into an `scf.if` on the mask `where`. There is no
        `scf.if` if the mask always holds.
        """
        predicate = self.predicate(where)
        if predicate is None:
            yield
            return
        with self.branch(predicate):
            yield

    @contextmanager
    def branch(self, condition: SSAValue) -> Generator[None]:
        """Put ops that are appended in the context into an `scf.if` on `condition`."""
        body = Block()
        self.op(scf.IfOp(condition, (), Region(body)))
        with self.inside(body):
            yield
            self.op(scf.YieldOp())


_ZERO_OF_ZEROS = (
    arith.AddfOp,
    arith.SubfOp,
    arith.MulfOp,
    arith.AddiOp,
    arith.SubiOp,
    arith.MuliOp,
    arith.ExtFOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.SIToFPOp,
    arith.UIToFPOp,
)


def _is_zero_outside(value: SSAValue, where: Access | None) -> bool:
    """
    True if `value` is 0 wherever the mask fails: a load with this mask, or arithmetic on masked
    loads that maps zeros to zero.
    """
    seen, pending = set[SSAValue](), [value]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value.owner, _ZERO_OF_ZEROS):
            pending += value.owner.operands
        elif not _is_masked_load(value.owner, where):
            return False
    return True


def _is_masked_load(op: Operation | Block, where: Access | None) -> bool:
    """True if `op` is a load whose mask implies the mask `where`."""
    if not isinstance(op, loop.LoadOp) or op.mask is None:
        return False
    return conditions_of(where) <= conditions_of(op.where)
