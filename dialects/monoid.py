# SPDX-License-Identifier: Apache-2.0
"""
Monoids: how a reduction combines values, with the identity of each.

The identity is not always zero: a masked element that enters a maximum as 0 changes the result.
Every mask in a reduction therefore yields the monoid's own identity.
"""

from collections.abc import Callable, Mapping, Sequence
from math import inf

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, i1, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.element_types import COMPUTE_FLOATS, COMPUTE_INTEGERS, number_attribute


class Monoid(StrEnum):
    """An associative, commutative operation with an identity."""

    ADD = "add"
    MUL = "mul"
    MAX = "max"
    MIN = "min"
    AND = "and"
    OR = "or"
    ARGMAX = "argmax"
    """Maximum of (value, index) pairs: NaN wins, then the larger value, then the lower index."""
    ARGMIN = "argmin"
    """Minimum of (value, index) pairs: NaN wins, then the smaller value, then the lower index."""
    SOFTMAX = "softmax"
    """
    Maximum of scores, and sums of values weighted by the exponentials of their scores (Milakov and
    Gimelshein, Online normalizer calculation for softmax, 2018). The join of (x, g1, ...) and
    (y, h1, ...) is (m, exp(x - m) * g1 + exp(y - m) * h1, ...) for m = max(x, y). A score of minus
    infinity has the weight 0, even if m is minus infinity.
    """
    MOMENTS = "moments"
    """
    Mean of numbers, sum of their squared deviations from it, and their count (Chan, Golub and
    LeVeque, Algorithms for computing the sample variance, 1983). An element is (x, 0, 1). The join
    of (a, q, n) and (b, r, m) is (a + d * w, q + r + d * d * n * w, n + m) for d = b - a and
    w = m / (n + m). A count is 0, or at least 1.
    """

    @property
    def combines_pairs(self) -> bool:
        """True if the monoid combines (value, index) pairs."""
        return self in (Monoid.ARGMAX, Monoid.ARGMIN)

    @property
    def combines_each(self) -> bool:
        """True if the monoid combines each of several values separately."""
        together = (Monoid.ARGMAX, Monoid.ARGMIN, Monoid.SOFTMAX, Monoid.MOMENTS)
        return self not in together

    @property
    def changes_infinity(self) -> bool:
        """True if a join with the identity makes NaN of a sum that belongs to an infinite value."""
        return self in (Monoid.SOFTMAX, Monoid.MOMENTS)


def _lowest(type: Attribute) -> float | int:
    return -inf if type in COMPUTE_FLOATS else -(2 ** (_width(type) - 1))


def _highest(type: Attribute) -> float | int:
    return inf if type in COMPUTE_FLOATS else 2 ** (_width(type) - 1) - 1


def _width(type: Attribute) -> int:
    assert isinstance(type, IntegerType)
    return type.bitwidth


_IDENTITY: Mapping[Monoid, Callable[[Attribute], float | int]] = {
    Monoid.ADD: lambda _: 0,
    Monoid.MUL: lambda _: 1,
    Monoid.MAX: _lowest,
    Monoid.MIN: _highest,
    Monoid.AND: lambda _: 1,
    Monoid.OR: lambda _: 0,
    Monoid.ARGMAX: _lowest,
    Monoid.ARGMIN: _highest,
    Monoid.SOFTMAX: _lowest,
    Monoid.MOMENTS: lambda _: 0,
}
"""Identity of the first value of each monoid."""


@irdl_attr_definition
class MonoidAttr(EnumAttribute[Monoid], SpacedOpaqueSyntaxAttribute):
    """
    Attribute for the monoid of a reduction. `max` and `min` propagate NaN, as PyTorch's do.

    With two values, `add` sums each separately; `argmax` and `argmin` take the two as a pair.
    `softmax` takes a score and the values that its exponential weights. `moments` takes a mean, a
    sum of squared deviations, and a count.
    """

    name = "prim.monoid"

    def identities(self, types: Sequence[Attribute]) -> list[FloatAttr | IntegerAttr]:
        """
        Return the monoid's identity as constants of `types`, which must satisfy `verify_monoid`.
        """
        identity = _IDENTITY[self.data]
        if self.data.combines_pairs:
            return [number_attribute(identity(types[0]), types[0]), IntegerAttr(_LAST, i64)]
        if self.data is Monoid.SOFTMAX:
            sums = [number_attribute(0, type) for type in types[1:]]
            return [number_attribute(identity(types[0]), types[0]), *sums]
        return [number_attribute(identity(type), type) for type in types]


_LAST = 2**63 - 1


def verify_monoid(monoid: MonoidAttr, types: Sequence[Attribute]) -> None:
    """Raise `VerifyException` unless the monoid can combine values of `types`."""
    joined = monoid.data
    if joined.combines_pairs:
        if (
            len(types) != 2
            or types[0] not in (*COMPUTE_FLOATS, *COMPUTE_INTEGERS)
            or types[1] != i64
        ):
            shown = ", ".join(map(str, types))
            raise VerifyException(f"'{joined}' joins a value and its index, an i64: not ({shown})")
        return
    if joined is Monoid.SOFTMAX and (len(types) < 2 or len({*types}) > 1):
        shown = ", ".join(map(str, types))
        raise VerifyException(
            f"'{joined}' joins a score and the values that it weights, of one type: not ({shown})"
        )
    if joined is Monoid.SOFTMAX and types[0] not in COMPUTE_FLOATS:
        raise VerifyException(f"'{joined}' joins floats, not {types[0]}: cast it first")
    if joined is Monoid.MOMENTS and (
        len(types) != 3 or len({*types}) > 1 or types[0] not in COMPUTE_FLOATS
    ):
        shown = ", ".join(map(str, types))
        raise VerifyException(
            f"'{joined}' joins a mean, a sum of squared deviations and a count, floats of one "
            f"type: not ({shown})"
        )
    allowed = (i1,) if joined in (Monoid.AND, Monoid.OR) else (*COMPUTE_FLOATS, *COMPUTE_INTEGERS)
    for type in types:
        if type not in allowed:
            raise VerifyException(
                f"'{joined}' joins {', '.join(map(str, allowed))}, not {type}: cast it first"
            )
