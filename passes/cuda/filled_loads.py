# SPDX-License-Identifier: Apache-2.0
"""
Loads whose value is a constant different from 0 where their mask fails.

    %v = loop.load %x[%i] where [99 - %i] : memref<100xf32>
    %p = loop.predicate [99 - %i] : i1
    %m = arith.select %p, %v, %lowest : f32

is one expression, `i < 100 ? x[i] : lowest`, if nothing else uses `%v`.
"""

from collections.abc import Iterable
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation

from tilewright.dialects import loop


class FilledLoads(NamedTuple):
    """
    Loads of a kernel whose value a select replaces outside of the mask, and the ops that this makes
    redundant.
    """

    selects: dict[Operation, arith.SelectOp]
    """Select, by load, that gives a constant where the mask of the load fails."""
    gone: frozenset[Operation]
    """Redundant ops: the selects in `selects`, and predicates that only these selects use."""


def filled_loads(ops: Iterable[Operation]) -> FilledLoads:
    """Return the filled loads of a kernel that consists of `ops`."""
    found = ((op, _select_of(op)) for op in ops)
    selects: dict[Operation, arith.SelectOp] = {op: s for op, s in found if s is not None}
    gone = frozenset[Operation](selects.values())
    predicates = [s.cond.owner for s in selects.values()]
    idle = (
        p
        for p in predicates
        if isinstance(p, loop.PredicateOp) and all(u.operation in gone for u in p.result.uses)
    )
    return FilledLoads(selects, gone.union(idle))


def fill_of(select: arith.SelectOp) -> FloatAttr | IntegerAttr | None:
    """
    Return the constant that `select` gives where the load's mask fails, or None if it gives another
    value.
    """
    constant = select.rhs.owner
    value = constant.value if isinstance(constant, arith.ConstantOp) else None
    return value if isinstance(value, FloatAttr | IntegerAttr) else None


def _select_of(load: Operation) -> arith.SelectOp | None:
    if not isinstance(load, loop.LoadOp) or (select := load.selection()) is None:
        return None
    return select if select.parent is load.parent and fill_of(select) is not None else None
