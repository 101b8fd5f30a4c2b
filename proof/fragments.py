# SPDX-License-Identifier: Apache-2.0
"""
Obligations `fragment` of a sum by matrix instructions: each lane holds the sum of its own products.

    loop.reduce %k in 64 with add by(m16n8k16_bf16) {
      %0 = loop.load %as[%sm * 32 + %rm * 8 + %lm, %k]            A
      %2 = loop.load %bs[%k, %sn * 32 + %ln * 2 + %vn]            B

The table of instructions gives each lane of a warp (`%lm`, `%ln`) and each of its registers (`%rm`,
`%vn`) an element of D. The obligations are:

* the reduction is whole instructions, of whole warps and all elements of D;
* the table gives each element of A, B and D to one lane and one register;
* elements in one row of D have one factor from A, and elements in one column one from B;
* all lanes of a warp run the same steps of the loops around.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.arith import ConstantOp, ExtFOp, MulfOp
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects.axes import Access
from tilewright.dialects.loop import LoadOp, ReduceOp, YieldOp
from tilewright.dialects.matrix_instruction import Fragments, MatrixInstruction
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import SHARED, LaunchOp, StageOp
from tilewright.dialects.types import memref_type
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome
from tilewright.proof.claim import Claim
from tilewright.proof.formulas import Formula
from tilewright.proof.points import NotCoveredError, axes_around, name_of
from tilewright.proof.solver import Solver
from tilewright.proof.warps import Warp, WarpPair, steps_of

_BODY = LoadOp | ExtFOp | MulfOp | ConstantOp | YieldOp
"""Ops in a body that matrix instructions do."""


def fragment_obligations(op: ReduceOp, instruction: MatrixInstruction) -> Iterator[Obligation]:
    """Yield the obligations of a reduction that `instruction` does."""
    if any(isinstance(around, StageOp) for around in axes_around(op)):
        raise NotCoveredError(f"{op.name} by({instruction}) in a slab's computation")
    factors, table = _factors(op, instruction), instruction.fragments
    warp = Warp.of(_launch_around(op), table.elements_d)
    sizes = Sizes("fragment", f"sizes of {instruction}", op, table, warp)
    yield sizes
    if sizes.problem is not None:
        return
    for name, held, shape in (
        ("A", table.a, (table.m, table.k)),
        ("B", table.b, (table.k, table.n)),
        ("D", table.d, (table.m, table.n)),
    ):
        yield HeldOnce("fragment", f"elements of {name} in {instruction}", op, held, shape)
    row, column = map(warp.by_axes, table.d.results)
    yield ByAxes("fragment", "rows and columns of D", op, warp, table.d, (row, column))
    for loads in factors:
        first, second = (WarpPair(load, _map(load), warp) for load in loads)
        is_swapped = first.differs_in_first(row) and not second.differs_in_first(row)
        a, b = (second, first) if is_swapped else (first, second)
        yield _shared(op, "row of A", a, row)
        yield _shared(op, "column of B", b, column)
    pair = WarpPair(op, ([], []), warp)
    if pair.bounds:
        yield _claim(op, "steps of all lanes of a warp", pair, [], pair.runs)


def _shared(op: ReduceOp, subject: str, pair: WarpPair, line: AffineExpr) -> Claim:
    """Return the claim that elements of D in one row or column, a `line`, have one factor."""
    load = pair.op
    assert isinstance(load, LoadOp)
    given = [pair.both([pair.placed(line)])]
    return _claim(op, f"{subject} from {name_of(load.memref)}", pair, given, pair.both(pair.exprs))


def _claim(
    op: ReduceOp, subject: str, pair: WarpPair, given: Sequence[Formula], claim: Formula
) -> Claim:
    return Claim(
        *("fragment", subject, op),
        variables=pair.variables,
        steps=pair.steps,
        claim=claim,
        given=given,
        shown=pair.shown(),
        is_of_data=bool(pair.at.data),
    )


def _map(load: LoadOp) -> Access:
    return load.map.data.results, load.indices


def _launch_around(op: Operation) -> LaunchOp:
    while not isinstance(op, LaunchOp):
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _factors(op: ReduceOp, instruction: MatrixInstruction) -> Sequence[tuple[LoadOp, LoadOp]]:
    """Return the loads of both factors of each product; raises `NotCoveredError` without them."""
    is_sum = op.monoid.data is Monoid.ADD and not op.is_bounded and op.yield_op.mask is None
    is_simple = is_sum and all(isinstance(each, _BODY) for each in op.body.block.ops)
    products = [value.owner for value in op.yield_op.values]
    loads = [
        (_loaded(each.lhs, op, instruction), _loaded(each.rhs, op, instruction))
        for each in products
        if isinstance(each, MulfOp) and each.result.type == f32
    ]
    found = [(a, b) for a, b in loads if a is not None and b is not None]
    if not is_simple or len(found) < len(products):
        raise NotCoveredError(f"{op.name} by({instruction}) of other terms than products of slabs")
    return found


def _loaded(value: SSAValue, op: ReduceOp, instruction: MatrixInstruction) -> LoadOp | None:
    """Return the load of a factor in the body of `op`, or None if the factor is another value."""
    load = value.owner.input.owner if isinstance(value.owner, ExtFOp) else value.owner
    if not isinstance(load, LoadOp) or load.parent_op() is not op or load.mask is not None:
        return None
    type = memref_type(load.memref)
    is_factor = type.memory_space == SHARED and type.element_type == instruction.fragments.element
    return load if is_factor else None


@dataclass(frozen=True)
class Sizes(Obligation):
    """Statement that a reduction is whole instructions, of whole warps and of all of D."""

    table: Fragments
    warp: Warp

    def decide(self, solver: Solver) -> Answer:
        return _answer(self.problem)

    @property
    def problem(self) -> str | None:
        """Reason why the statement is false, or None."""
        assert isinstance(self.op, ReduceOp)
        if (steps := self.op.extent.value.data) % self.table.k:
            return f"{steps} steps are not divisible by {self.table.k}"
        if (lanes := steps_of(self.warp.lanes)) != WARP_SIZE:
            return f"the innermost thread axes are {lanes} lanes, not {WARP_SIZE}"
        if (held := steps_of(self.warp.registers)) != (elements := self.table.elements_d):
            return f"the innermost register axes are {held} elements of D, not {elements}"
        return None


@dataclass(frozen=True)
class HeldOnce(Obligation):
    """Statement that one lane and one register hold each element of a matrix; all are tried."""

    map: AffineMap
    """Map from (lane, register) to the row and the column."""
    shape: tuple[int, int]

    def decide(self, solver: Solver) -> Answer:
        return _answer(_held_wrongly(self.map, self.shape))


@cache
def _held_wrongly(map: AffineMap, shape: tuple[int, int]) -> str | None:
    """Return an element that is beyond a matrix, or that is held twice; None if there is none."""
    holders = dict[tuple[int, ...], tuple[int, int]]()
    rows, columns = shape
    for place in range(rows * columns):
        lane, register = divmod(place, rows * columns // WARP_SIZE)
        row, column = element = map.eval([lane, register], ())
        if not (0 <= row < rows and 0 <= column < columns) or element in holders:
            return f"lane = {lane}, register = {register}, element = {element}"
        holders[element] = lane, register
    return None


@dataclass(frozen=True)
class ByAxes(Obligation):
    """Statement that expressions of a warp's axes are the rows and columns of a table."""

    warp: Warp
    map: AffineMap
    """Map from (lane, register) to the row and the column."""
    exprs: tuple[AffineExpr, AffineExpr]
    """The row and the column by the steps of the warp's axes."""

    def decide(self, solver: Solver) -> Answer:
        for steps, place in self.warp.places():
            element = tuple(expr.eval(steps, ()) for expr in self.exprs)
            if element != (expected := self.map.eval(place, ())):
                return _answer(f"steps = {steps}, element = {element}, not {expected}")
        return PROVED


def _answer(problem: str | None) -> Answer:
    return PROVED if problem is None else Answer(Outcome.REFUTED, problem)
