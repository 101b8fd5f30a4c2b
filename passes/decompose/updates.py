# SPDX-License-Identifier: Apache-2.0
"""
Updates of a tensor: their subscripts, and whether they replace elements or join them.

Narrow types are joined in wider types; the result is rounded, or truncated, once.
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
"""
Monoid that combines updates, by PyTorch's name. A mean is a sum that is divided by the number of
terms later.
"""

_ON_BOOLS: Mapping[Monoid, Monoid] = {
    Monoid.ADD: Monoid.OR,
    Monoid.MUL: Monoid.AND,
    Monoid.MAX: Monoid.OR,
    Monoid.MIN: Monoid.AND,
}


def monoid_of(reduce: str, element: Attribute) -> Monoid:
    """Return the monoid that PyTorch calls `reduce`, for elements of type `element`."""
    monoid = _MONOIDS[reduce]
    return _ON_BOOLS[monoid] if element == i1 else monoid


def number_of(emit: Emitter, number: Number, like: Tensor) -> Tensor:
    """Return a scalar tensor of the number, in the type of `like`."""
    return emit.constant(number, ()).cast(emit.common).cast(like.element)


class Write:
    """Updates to be written to a tensor; a scalar input has one dimension here."""

    def __init__(self, input: Tensor, subscripts: Subscripts, updates: Tensor):
        self.input, self.subscripts, self.updates = input, subscripts, updates

    def put(self) -> Tensor:
        """Return the input with elements replaced by updates."""
        return self.joined(None)

    def joined(self, monoid: Monoid | None) -> Tensor:
        """
        Return the input with each written element combined with its updates by `monoid`. If
        `monoid` is None, an update replaces the element.
        """
        if 0 in self.updates.shape:
            return self.input
        return scatter(self.input, self.subscripts, self.updates, monoid)

    def reduced(self, reduce: str, include_self: bool) -> Tensor:
        """
        Return the input with each written element combined with its updates by PyTorch's `reduce`.
        Without `include_self`, only the updates are combined, and replace the element.
        """
        input, emit = self.input, self.input.emit
        monoid = monoid_of(reduce, emit.common)
        if not include_self:
            (identity,) = MonoidAttr(monoid).identities([emit.type])
            input = self._written().where(identity.value.data, input)
        joined = Write(input, self.subscripts, self.updates).joined(monoid)
        return joined if reduce != "mean" else self._mean(joined, include_self)

    def _written(self) -> Tensor:
        """Return bools that are true for elements that are written."""
        base = self.input.emit.constant(0, self.input.shape, i1)
        marks = self.input.emit.constant(1, self.updates.shape, i1)
        return Write(base, self.subscripts, marks).joined(Monoid.OR)

    def _mean(self, sum: Tensor, include_self: bool) -> Tensor:
        """
        Return the sum divided by the number of its terms, both in the type of the result; integers
        round down.
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
