# SPDX-License-Identifier: Apache-2.0
"""
Updates of a tensor: which go where, and whether they take the place of elements or join them.

Narrow types are joined in wider ones and rounded, or cut, once.
"""

from collections.abc import Mapping

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute

from tilewright.dialects.element_types import FLOATS, Number
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.prim import ScalarFunction
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.indexing import Subscripts
from tilewright.passes.decompose.subscripts import scatter
from tilewright.passes.decompose.tensor import Emitter, Tensor

_MONOIDS: Mapping[str, Monoid] = {
    "add": Monoid.ADD,
    "sum": Monoid.ADD,
    "mean": Monoid.ADD,
    "multiply": Monoid.MUL,
    "prod": Monoid.MUL,
    "amax": Monoid.MAX,
    "amin": Monoid.MIN,
}
"""What updates are joined by; a mean is a sum to be divided."""

_OF_BOOLS: Mapping[Monoid, Monoid] = {
    Monoid.ADD: Monoid.OR,
    Monoid.MUL: Monoid.AND,
    Monoid.MAX: Monoid.OR,
    Monoid.MIN: Monoid.AND,
}


def monoid_of(reduce: str, element: Attribute) -> Monoid:
    """Return the monoid that PyTorch calls `reduce`, on `element`."""
    monoid = _MONOIDS[reduce]
    return _OF_BOOLS[monoid] if element == i1 else monoid


def number_of(emit: Emitter, number: Number, like: Tensor) -> Tensor:
    """Return a scalar of the number, as a tensor of the type of `like` holds it."""
    return emit.constant(number, ()).cast(emit.common).cast(like.element)


class Write:
    """Updates on their way into a tensor, which may be a scalar that has a dimension here."""

    def __init__(self, input: Tensor, subscripts: Subscripts, updates: Tensor):
        self.input, self.subscripts, self.updates = input, subscripts, updates

    def put(self) -> Tensor:
        """Return each in the place of an element."""
        return self.joined(None)

    def joined(self, monoid: Monoid | None) -> Tensor:
        """Return each joined to an element."""
        if 0 in self.updates.shape:
            return self.input
        return scatter(self.input, self.subscripts, self.updates, monoid)

    def reduced(self, reduce: str, include_self: bool) -> Tensor:
        """Joined as `scatter_reduce` does: elements that are written may be left out themselves."""
        input, emit = self.input, self.input.emit
        monoid = monoid_of(reduce, emit.common)
        if not include_self:
            (identity,) = MonoidAttr(monoid).identities([emit.type])
            input = self._written().where(identity.value.data, input)
        joined = Write(input, self.subscripts, self.updates).joined(monoid)
        return joined if reduce != "mean" else self._mean(joined, include_self)

    def _written(self) -> Tensor:
        """Which elements are written."""
        base = self.input.emit.constant(0, self.input.shape, i1)
        marks = self.input.emit.constant(1, self.updates.shape, i1)
        return Write(base, self.subscripts, marks).joined(Monoid.OR)

    def _mean(self, sum: Tensor, include_self: bool) -> Tensor:
        """
        Return the sum divided by how many it is of, both of the result's type; integers round down.
        """
        emit = sum.emit
        base = emit.constant(int(include_self), sum.shape)
        ones = emit.constant(1, self.updates.shape)
        count = Write(base, self.subscripts, ones).joined(Monoid.ADD)
        sum, count = (t.cast(emit.common).cast(emit.type) for t in (sum, count))
        count = count.equals(0).where(1, count)
        if emit.common in FLOATS:
            return sum / count
        return elementwise(ScalarFunction.FLOORDIV, sum, count)
