# SPDX-License-Identifier: Apache-2.0
"""
Points of Kernel IR: one step of each loop around an op, in one thread.

    %row = kernel.index [%thread floordiv 8]
    %inside = loop.predicate [32 - %row] : i1
    scf.if %inside {
      %0 = loop.load %x[%row, %k] : memref<33x8xf32>

The variables of this load are `%thread` and `%k`. Facts are their ranges, and the condition of the
branch, `32 - %thread floordiv 8 >= 0`.
"""

from collections.abc import Mapping, Sequence
from copy import copy

from xdsl.dialects import scf
from xdsl.dialects.arith import AndIOp, ConstantOp, MaxSIOp, MinSIOp, OrIOp
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.axes import Access
from tilewright.dialects.kernel import (
    ArriveOp,
    BlockIdOp,
    FuncOp,
    IndexOp,
    ThreadIdOp,
    UnrollOp,
)
from tilewright.dialects.loop import PredicateOp, ToIndexOp
from tilewright.proof.formulas import (
    All,
    Formula,
    IsZero,
    NonNegative,
    Not,
    Some,
    Variables,
    below,
    constant,
)
from tilewright.proof.kernel.intervals import interval
from tilewright.proof.numbers import as_quotients
from tilewright.proof.points import NotCoveredError, name_of
from tilewright.proof.uniform import uniform_key

_MANY = 2**31
"""Steps of a loop whose bounds are not constants, for the ranges of its counter."""


class ThreadPoint:
    """
    One step of each loop around an op in one thread.

    Indices that are data are any numbers below their bounds. Conditions that are data are true or
    false.
    """

    def __init__(
        self,
        variables: Variables,
        op: Operation,
        mark: str = "",
        known: Mapping[SSAValue, AffineExpr] | None = None,
        block: AffineExpr | None = None,
    ):
        """
        Add the variables of `op` to `variables`; `mark` ends the names of a second point. Values of
        `known`, and the number of the block, are those of the first.
        """
        self.variables, self._mark, self._shared_block = variables, mark, block
        self._known = dict[SSAValue, AffineExpr](known or {})
        self._computed = dict[SSAValue, AffineExpr]()
        self.shown = dict[str, AffineExpr]()
        self.facts = list[Formula]()
        """Ranges and definitions of variables."""
        self.guards = list[Formula]()
        """Bounds of the loops around, and conditions of the branches."""
        self.is_of_data = False
        """True if an index or a condition is data."""
        around = [*reversed(surroundings(op))]
        function = around[0][0] if around else op
        assert isinstance(function, FuncOp), "an op of a kernel"
        if block is None:
            self.block = self._counter("%block", function.grid.value.data)
        else:
            self.block = block
        self.thread = self._counter("%thread", function.block.value.data)
        for parent, inner in around[1:]:
            self._enter(parent, inner)

    def _counter(self, name: str, size: int, first: int = 0) -> AffineExpr:
        expr = self.shown[f"{name}{self._mark}"] = self.new(name, size, first)
        self.facts.append(below(expr, size))
        return expr

    def new(self, name: str, size: int, first: int = 0) -> AffineExpr:
        """Return a new variable that counts from 0 below `size`."""
        return self.variables.new(f"{name}{self._mark}", size, first)

    def _enter(self, parent: Operation, inner: Operation) -> None:
        match parent:
            case scf.ForOp():
                self._enter_loop(parent)
            case UnrollOp():
                for axis, extent in zip(parent.body.block.args, parent.axis_extents(), strict=True):
                    if axis not in self._known:
                        self._known[axis] = self._counter(name_of(axis), extent)
            case scf.IfOp():
                condition = self.condition(parent.cond)
                is_then = inner.parent is parent.true_region.block
                self.guards.append(condition if is_then else Not(condition))
            case _:
                raise NotCoveredError(f"{parent.name} around an access")

    def _enter_loop(self, loop: scf.ForOp) -> None:
        counter = loop.body.block.args[0]
        low, high, step = self.index(loop.lb), self.index(loop.ub), step_of(loop)
        if counter not in self._known:
            number = self.new(name_of(counter), self._most_steps(low, high, step))
            is_number = step == 1 and low == constant(0)
            self._known[counter] = number if is_number else low + number * step
            self.facts.append(NonNegative(number))
        expr = self.shown[f"{name_of(counter)}{self._mark}"] = self._known[counter]
        self.guards += [NonNegative(expr - low), NonNegative(high - constant(1) - expr)]

    def _most_steps(self, low: AffineExpr, high: AffineExpr, step: int) -> int:
        """Return the largest number of steps of a loop, at least one."""
        first, end = (interval(each, self.variables.ranges) for each in (low, high))
        return min(max(-(-(end.high - first.low) // step), 1), _MANY)

    def having(self, values: Mapping[SSAValue, AffineExpr]) -> "ThreadPoint":
        """Return this point within further loops, at given values of their counters."""
        point = copy(self)
        point._known, point._computed = {**self._known, **values}, {}
        return point

    @property
    def steps(self) -> Sequence[Formula]:
        """All facts and guards."""
        return [*self.facts, *self.guards]

    @property
    def counters(self) -> Mapping[SSAValue, AffineExpr]:
        """Values of all indices that are known here, loop counters among them."""
        return self._known

    def index(self, value: SSAValue) -> AffineExpr:
        """Return an index as an expression of the variables."""
        if (known := self._known.get(value)) is not None:
            return known
        if value not in self._computed:
            self._computed[value] = self._compute(value)
        return self._computed[value]

    def _compute(self, value: SSAValue) -> AffineExpr:
        if isinstance(value, BlockArgument):
            raise NotCoveredError(f"index by an argument of {_parent_name(value)}")
        match op := value.owner:
            case BlockIdOp():
                return self.block
            case ThreadIdOp():
                return self.thread
            case IndexOp():
                (expr,) = self.written((op.map.data.results, op.indices))
                return expr
            case ConstantOp(value=IntegerAttr(value=number)):
                return constant(number.data)
            case MinSIOp() | MaxSIOp():
                return self._choice(op, name_of(value))
            case ToIndexOp():
                self.is_of_data = True
                return self._of_data(op)
            case _:
                raise NotCoveredError(f"index by {op.name if isinstance(op, Operation) else op}")

    def _of_data(self, op: ToIndexOp) -> AffineExpr:
        """Return an index that is data; all threads have one variable for the same data."""
        name, size = name_of(op.result), op.bound.value.data
        if (key := uniform_key(op.result)) is None:
            return self._counter(name, size)
        expr = self.shown[name] = self.variables.for_key(key, name, size)
        self.facts.append(below(expr, size))
        return expr

    def _choice(self, op: MinSIOp | MaxSIOp, name: str) -> AffineExpr:
        """Return a new variable for the smaller or the larger of two indices."""
        one, other = self.index(op.lhs), self.index(op.rhs)
        sign, choose = (1, min) if isinstance(op, MinSIOp) else (-1, max)
        ends = [interval(each, self.variables.ranges) for each in (one, other)]
        low, high = choose(end.low for end in ends), choose(end.high for end in ends)
        first = choose(each.eval(self.variables.first, ()) for each in (one, other)) - low
        chosen = self.new(name, high - low + 1, first) + low
        self.shown[f"{name}{self._mark}"] = chosen
        self.facts += [
            below(chosen - low, high - low + 1),
            *(NonNegative((each - chosen) * sign) for each in (one, other)),
            Some([IsZero(each - chosen) for each in (one, other)]),
        ]
        return chosen

    def written(self, access: Access) -> Sequence[AffineExpr]:
        """Return subscripts or conditions as they are computed, over the variables."""
        exprs, operands = access
        values = [self.index(value) for value in operands]
        return [expr.replace_dims_and_symbols(values, ()) for expr in exprs]

    def exprs(self, access: Access) -> Sequence[AffineExpr]:
        """Return subscripts or conditions with equal values, in a form that z3 decides faster."""
        return as_quotients(self.written(access), self.variables.ranges)

    def holds(self, mask: Access | None) -> list[Formula]:
        """Return the conditions of a mask; none without a mask."""
        return [] if mask is None else [NonNegative(expr) for expr in self.exprs(mask)]

    def condition(self, value: SSAValue) -> Formula:
        """Return a condition as a formula; one that is data is any truth."""
        match op := value.owner:
            case PredicateOp():
                return All(self.holds((op.map.data.results, op.indices)))
            case ConstantOp(value=IntegerAttr(value=number)):
                return All(()) if number.data else Some(())
            case AndIOp():
                return All([self.condition(each) for each in op.operands])
            case OrIOp():
                return Some([self.condition(each) for each in op.operands])
            case _:
                return self._truth(value)

    def _truth(self, value: SSAValue) -> Formula:
        if value not in self._known:
            # Blocks arrive in any order, therefore any block may be the last.
            self.is_of_data |= not isinstance(value.owner, ArriveOp)
            self._known[value] = self._counter(name_of(value), 2, first=1)
        return Not(IsZero(self._known[value]))


def _parent_name(value: BlockArgument) -> str:
    parent = value.owner.parent_op()
    return parent.name if parent is not None else "no op"


def step_of(loop: scf.ForOp) -> int:
    """Return the step of a loop, which is a constant."""
    match loop.step.owner:
        case ConstantOp(value=IntegerAttr(value=number)):
            return number.data
        case _:
            raise NotCoveredError("scf.for with a step that is no constant")


def surroundings(op: Operation) -> list[tuple[Operation, Operation]]:
    """Return the ops around `op` within its kernel, innermost first, each with the op inside."""
    found, parent = list[tuple[Operation, Operation]](), op.parent_op()
    while parent is not None:
        found.append((parent, op))
        if isinstance(parent, FuncOp):
            return found
        op, parent = parent, parent.parent_op()
    return found
