# SPDX-License-Identifier: Apache-2.0
"""
Rewrites comparisons of positions with a single element of an input to predicates of indices.

    loop.for %i in 4, %j in 48 {
      ...
      %0 = loop.index [%j] : i64
      %1 = loop.load %position[0] : memref<1xi64>
      %2 = arith.cmpi sle, %0, %1 : i64

becomes

    loop.for %i in 4, %j in 48 {
      %1 = loop.load %position[0] : memref<1xi64>
      %low = arith.constant -1 : i64
      %high = arith.constant 47 : i64
      %3 = arith.maxsi %1, %low : i64
      %4 = arith.minsi %3, %high : i64
      %5 = arith.subi %4, %low : i64
      %6 = loop.to_index %5 below 49 : i64
      ...
      %2 = loop.predicate [%6 - %j - 1] : i1

Predicates show where values are needed and how far sums go. A decode step therefore skips the rows
of its cache that no token has filled yet. The element may be any integer: an element below all
positions is clamped to the one before the first, an element above all to the last. The element is
loaded at the beginning of the nest, so that it can bound loops. Positions may have been cast to
types that hold them, and their distances must fit the type of the comparison. A negated comparison
becomes a negated predicate.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, range_of_value
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import Range, range_of
from tilewright.passes.facts.effects import erase_dead
from tilewright.passes.facts.integer_ranges import is_true, range_of_type
from tilewright.passes.facts.nest import nest_block
from tilewright.passes.facts.single_elements import made_of_single_elements
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("f", 22, "predicate_positions")

_SIGNED = ("slt", "sle", "sgt", "sge")
_MIRRORED = {"slt": "sgt", "sle": "sge", "sgt": "slt", "sge": "sle"}
"""Relation that holds for the exchanged operands, by relation: `a < b` is `b > a`."""

_HOLDS: Mapping[str, Callable[[AffineExpr], AffineExpr]] = {
    "slt": lambda more: more - 1,
    "sle": lambda more: more,
    "sgt": lambda more: more * -1 - 1,
    "sge": lambda more: more * -1,
}
"""
Function, by relation `position relation element`, that takes element minus position. It returns an
expression that is at least 0 exactly where the relation holds.
"""


def reason_against(kernel: loop.KernelOp) -> str | None:
    """Reason why the kernel is skipped, or None."""
    if isinstance(kernel.body.block.last_op, tile.LaunchOp):
        return "it is scheduled already"
    return None


class Compared(NamedTuple):
    """A comparison `position relation element`, with the range of the positions."""

    op: arith.CmpiOp
    relation: str
    position: loop.IndexOp
    positions: Range
    element: Sequence[Operation]
    """Ops that compute the element, in order."""

    @property
    def elements(self) -> Range:
        """
        Range of elements with distinct outcomes; any other element acts as the nearest one in it.
        """
        from_before = self.relation in ("sle", "sgt")
        low, high = self.positions
        return Range(low - 1, high) if from_before else Range(low, high + 1)


def compared(op: arith.CmpiOp) -> Compared | None:
    """
    Return the comparison if `op` compares positions with a single element of an input, else None.
    """
    relation = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    if relation not in _SIGNED:
        return None
    return _compared(op, relation, op.lhs, op.rhs) or _compared(
        op, _MIRRORED[relation], op.rhs, op.lhs
    )


def _compared(
    op: arith.CmpiOp, relation: str, position: SSAValue, element: SSAValue
) -> Compared | None:
    types = [position.type]
    while isinstance(position.owner, arith.ExtSIOp | arith.TruncIOp):
        position = position.owner.input
        types.append(position.type)
    index = position.owner
    if not isinstance(index, loop.IndexOp):
        return None
    known = range_of(index.map.data.results[0], [range_of_value(i) for i in index.indices])
    makers = made_of_single_elements(element)
    if known is None or known.low == known.high or makers is None:
        return None
    around = Range(known.low - 1, known.high + 1)
    distances = Range(0, around.high - around.low)
    fits = _fits(element.type, distances) and all(_fits(type, around) for type in types)
    return Compared(op, relation, index, known, makers) if fits else None


def _fits(type: Attribute, numbers: Range) -> bool:
    return isa(type, IntegerType) and numbers in range_of_type(type)


def apply(kernel: loop.KernelOp, comparisons: Sequence[Compared]) -> None:
    """
    Replace `comparisons`, which are in `kernel`, by predicates of indices. The elements are loaded
    at the beginning of the nest.
    """
    for found in reversed(comparisons):  # each one loads its element before all others
        _replace(kernel, found)
    erase_dead(kernel)


def _replace(kernel: loop.KernelOp, found: Compared) -> None:
    first, type = nest_block(kernel).first_op, found.op.lhs.type
    assert first is not None
    assert isa(type, IntegerType)
    (low, high), copies = found.elements, dict[SSAValue, SSAValue]()

    def add(op: Operation) -> SSAValue:
        op.location = found.op.location
        Rewriter.insert_op(op, InsertPoint.before(first))
        return op.results[0]

    element = [add(maker.clone(copies)) for maker in found.element][-1]
    least, most = (add(arith.ConstantOp(IntegerAttr(end, type))) for end in (low, high))
    clamped = add(arith.MinSIOp(add(arith.MaxSIOp(element, least)), most))
    distance = clamped if low == 0 else add(arith.SubiOp(clamped, least))
    index = add(loop.ToIndexOp(distance, high - low + 1))

    indices = [*found.position.indices, index]
    more = AffineExpr.dimension(len(indices) - 1) + low - found.position.map.data.results[0]
    holds = _HOLDS[found.relation](more)
    for negation in _negations(found.op):
        _replace_by_predicate(negation, ([holds * -1 - 1], indices))
    _replace_by_predicate(found.op, ([holds], indices))


def _negations(op: arith.CmpiOp) -> list[arith.XOrIOp]:
    """Return the negations of `op`: ops that are true where `op` is false."""
    users = [use.operation for use in op.result.uses]
    return [user for user in users if isinstance(user, arith.XOrIOp) and is_true(user.rhs)]


def _replace_by_predicate(op: Operation, where: Access) -> None:
    predicate = loop.PredicateOp(where)
    predicate.location = op.location
    Rewriter.replace_op(op, predicate)


def comparisons(kernel: loop.KernelOp) -> list[Compared]:
    """
    Return the comparisons inside the outermost nest; their elements can be loaded at its beginning.
    """
    block = nest_block(kernel)
    ops = [op for op in ops_in(kernel) if isinstance(op, arith.CmpiOp)]
    inside = [op for op in ops if block.find_ancestor_op_in_block(op) is not None]
    return [found for op in inside if (found := compared(op)) is not None]


class PredicatePositionsPass(ModulePass):
    """Rewrite comparisons of positions with a single element to predicates."""

    name = "predicate-positions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the comparisons in each kernel of the module."""
        for kernel in [inner for inner in op.ops if isinstance(inner, loop.KernelOp)]:
            if (reason := reason_against(kernel)) is not None:
                skipped(RULE, kernel, reason)
                continue
            if found := comparisons(kernel):
                with rewriting(RULE, kernel):
                    apply(kernel, found)
