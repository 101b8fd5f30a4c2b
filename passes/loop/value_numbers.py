# SPDX-License-Identifier: Apache-2.0
"""
Value numbers: two values of one number are equal, even if different loops or kernels compute them.

    %maximum = loop.reduce %k in 65 with max {
      %0 = loop.load %s[%i, %k] : memref<37x65xf32>
      loop.yield %0 : f32
    } : f32
    %sum = loop.reduce %k_1 in 65 with add {
      %1 = loop.load %s[%i, %k_1] : memref<37x65xf32>
      %2 = arith.subf %1, %maximum : f32
      ...

If `%k_1` stands for `%k`, then `%0` and `%1` have one number. Values are numbered by their ops, not
by algebra: sums with exchanged operands have different numbers.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.axes import Access, MaskedOp, canonical_access, conditions_of
from tilewright.dialects.needed_first import needed_first, operands_of
from tilewright.passes.facts.effects import is_pure
from tilewright.passes.rewriting.substitution import Substitution

Condition = Hashable
"""
One condition of a value of type i1: a bound on positions in canonical form, or a value number.
"""


@dataclass
class ValueNumbers:
    """
    Numbers of values under a substitution of axes and buffers; numberings of one table agree.
    """

    table: dict[Hashable, int]
    substitution: Substitution
    known: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])

    def under(self, substitution: Substitution) -> "ValueNumbers":
        """Return a numbering that agrees with this one, under another substitution."""
        return ValueNumbers(self.table, substitution)

    def number(self, value: SSAValue) -> int:
        """Return the number of `value`."""
        for each in needed_first(value, self.known, operands_of):
            self.known[each] = self.table.setdefault(self._key(each), len(self.table))
        return self.known[value]

    def conditions(self, value: SSAValue) -> frozenset[Condition]:
        """Return conditions that hold together exactly where `value`, of type i1, is true."""
        match value.owner:
            case loop.PredicateOp() as predicate:
                access = self.substitution.access(predicate.map.data.results, predicate.indices)
                return frozenset(conditions_of(access))
            case arith.AndIOp(lhs=left, rhs=right):
                return self.conditions(left) | self.conditions(right)
            case _:
                return frozenset((self.number(value),))

    def _key(self, value: SSAValue) -> Hashable:
        op, replaced = value.owner, self.substitution.value(value)
        if replaced is not value or not isinstance(op, Operation):
            return replaced
        if op.regions or len(op.results) > 1:
            return value
        match op:
            case loop.LoadOp() if isinstance(op.memref.owner, Operation):
                return value  # another op may write the buffer
            case loop.LoadOp():
                mask = frozenset(conditions_of(op.where and self.substitution.access(*op.where)))
                memref = self.substitution.value(op.memref)
                return loop.LoadOp, memref, self._access((op.map.data.results, op.indices)), mask
            case loop.PredicateOp() | loop.IndexOp():
                access = self._access((op.map.data.results, op.indices))
                return type(op), op.result.type, access
            case MaskedOp():
                return value
            case _ if is_pure(op):
                properties = tuple(sorted(op.properties.items()))
                return type(op), value.type, properties, tuple(map(self.number, op.operands))
            case _:
                return value

    def _access(self, access: Access) -> Hashable:
        map, operands = canonical_access(*self.substitution.access(*access))
        return map, tuple(operands)
