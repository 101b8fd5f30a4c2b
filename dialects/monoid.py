# SPDX-License-Identifier: Apache-2.0
"""
Monoids: how a reduction joins values, with the identity that joins without a trace.

Zero is not everyone's identity: padding that joins a maximum as 0 changes it. Every mask in a
reduction therefore yields the monoid's own identity.
"""

from collections.abc import Iterable
from math import inf

from xdsl.dialects.builtin import AnyFloat, FloatAttr
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class Monoid(StrEnum):
    """An associative, commutative join with an identity."""

    ADD = "add"
    MUL = "mul"
    MAX = "max"
    MIN = "min"


_IDENTITY: dict[Monoid, float] = {
    Monoid.ADD: 0.0,
    Monoid.MUL: 1.0,
    Monoid.MAX: -inf,
    Monoid.MIN: inf,
}


@irdl_attr_definition
class MonoidAttr(EnumAttribute[Monoid], SpacedOpaqueSyntaxAttribute):
    """
    The monoid of a reduction. `max` and `min` keep NaN, as PyTorch's do.

    It applies to each of several values at once: `with add` over two values sums both.
    """

    name = "prim.monoid"

    def identity(self, type: Attribute) -> FloatAttr:
        """The constant of `type`, a float, that leaves every value as it is."""
        assert isinstance(type, AnyFloat)
        return FloatAttr(_IDENTITY[self.data], type)


def verify_floats(types: Iterable[Attribute]) -> None:
    """Refuse to join elements of other `types` than floats."""
    for type in types:
        if not isinstance(type, AnyFloat):
            raise VerifyException(f"a reduction works on floats, not on {type}")
