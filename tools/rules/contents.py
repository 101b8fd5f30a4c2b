# SPDX-License-Identifier: Apache-2.0
"""Contents of programs that decide how strictly the two sides of a rule are compared."""

from collections.abc import Iterator, Set
from math import isfinite

from xdsl.dialects import func
from xdsl.dialects.builtin import AnyFloat, FloatAttr, ModuleOp

from tilewright.dialects import prim
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.types import element_of

_F = ScalarFunction
_SUMS = frozenset({Monoid.ADD, Monoid.MUL, Monoid.SOFTMAX, Monoid.MOMENTS})
_SHIFTS = frozenset({_F.SHL, _F.SHR})
_EXTREMA = frozenset({_F.MAXIMUM, _F.MINIMUM})
_OF_RINGS = frozenset({_F.ADD, _F.SUB, _F.MUL, _F.NEG, _F.SELECT, _F.CAST})
_OF_INTEGERS = _OF_RINGS | _EXTREMA | {_F.ABS, _F.EQ, _F.NE, _F.LT, _F.LE, _F.GT, _F.GE}
_OF_FIELDS = _OF_RINGS | {_F.DIV}
_HOST = (ModuleOp, func.FuncOp, func.ReturnOp)


class Contents:
    """Functions and monoids of the two sides of a rule."""

    def __init__(self, *modules: ModuleOp):
        self.ops = [op for module in modules for op in module.walk() if not isinstance(op, _HOST)]
        self.functions = frozenset(op.function.data for op in self._elementwise())
        monoids = (getattr(op, "monoid", getattr(op, "combiner", None)) for op in self.ops)
        self.monoids = frozenset(each.data for each in monoids if isinstance(each, MonoidAttr))

    def _elementwise(self) -> Iterator[prim.ElementwiseOp]:
        return (op for op in self.ops if isinstance(op, prim.ElementwiseOp))

    @property
    def is_tensor(self) -> bool:
        """True if all ops are those of Tensor IR."""
        return all(op.name.startswith("prim.") for op in self.ops)

    @property
    def sums(self) -> bool:
        """True if the order of a sum or product is not specified, as in all levels below."""
        return not self.is_tensor or bool(self.monoids & _SUMS)

    @property
    def has_zero_signs(self) -> bool:
        """True if the sign of a zero is specified."""
        return not (self.sums or self.functions & _EXTREMA or self.monoids)

    @property
    def shifts(self) -> bool:
        """True if integers are shifted, by a number of bits that must be within the type."""
        return bool(self.functions & _SHIFTS)

    @property
    def truncates(self) -> bool:
        """True if floats become integers, which has no meaning for most adversarial floats."""
        casts = (op for op in self._elementwise() if op.function.data is _F.CAST)
        return any(
            isinstance(element_of(op.inputs[0]), AnyFloat)
            and not isinstance(element_of(op.result), AnyFloat)
            for op in casts
        )

    @property
    def ignores_nans(self) -> bool:
        """True if a product may be 0 where it is NaN."""
        return any(op.fastmath.data for op in self._elementwise())

    def is_meant(self, known: Set[ScalarFunction], monoids: Set[Monoid]) -> bool:
        """True if an exact number system with these functions gives each op its meaning."""
        meant = self.functions <= known and self.monoids <= monoids
        return self.is_tensor and meant and not self.truncates and self._has_whole_numbers()

    def _floats(self) -> list[float]:
        constants = (op.value for op in self.ops if isinstance(op, prim.ConstantOp))
        return [each.value.data for each in constants if isinstance(each, FloatAttr)]

    def _has_whole_numbers(self) -> bool:
        return all(abs(each) < 1 << 20 and each == int(each) for each in self._floats())

    @property
    def has_infinities(self) -> bool:
        """True if a constant is infinite or NaN, which is no real number."""
        return not all(map(isfinite, self._floats()))

    @property
    def is_exact(self) -> bool:
        """True if a difference of exact numbers is always one of real numbers, too."""
        integers = self.is_meant(_OF_INTEGERS, {Monoid.ADD, Monoid.MUL, Monoid.MAX, Monoid.MIN})
        return integers or self.is_meant(_OF_FIELDS, {Monoid.ADD, Monoid.MUL})
