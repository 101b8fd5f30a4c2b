# SPDX-License-Identifier: Apache-2.0
"""
What Torch ops have in common that compute each element from the same element of each operand.

Operands are broadcast to one shape and promoted to one type. On which types an op works at all,
PyTorch decides kernel by kernel; a `Domain` says it once for each op.
"""

from collections.abc import Sequence
from math import isfinite
from typing import ClassVar, NamedTuple, cast

from xdsl.dialects.builtin import IntegerType, Signedness, TensorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import ELEMENTS, FLOATS, INTEGERS
from tilewright.dialects.torch.op import TensorOp, number, python_value, tensor
from tilewright.dialects.torch.promotion import promoted, promoted_to_float
from tilewright.dialects.torch.shapes import broadcast
from tilewright.dialects.types import shape_of


class Domain(NamedTuple):
    """The types that an op works on, and what they are called."""

    elements: tuple[Attribute, ...]
    name: str


ANY = Domain(ELEMENTS, "any type")
NUMBERS = Domain((*FLOATS, *INTEGERS), "floats and integers")
REALS = Domain(FLOATS, "floats")
WHOLES = Domain(INTEGERS, "integers")
BITS = Domain((*INTEGERS, i1), "integers and bools")


def check_fits(number: Attribute, element: Attribute, what: str) -> None:
    """Refuse a number that PyTorch does not convert to `element`, as it would overflow there."""
    if element not in INTEGERS:
        return
    value, low, high = python_value(number), *_limits(cast(IntegerType, element))
    assert isinstance(value, int | float)
    if not isfinite(value) or not low <= int(value) <= high:
        raise VerifyException(f"{what} does not fit {element}: {value}")


def _limits(type: IntegerType) -> tuple[int, int]:
    """
    Return the smallest and the largest number; negative ones become unsigned by wrapping around.
    """
    bits = type.width.data
    if type.signedness.data is Signedness.UNSIGNED:
        return 1 - 2**bits, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


class ElementwiseOp(TensorOp):
    """A function of the elements of its operands, broadcast to one shape."""

    DOMAIN: ClassVar[Domain] = ANY
    """What the operands may be promoted to."""

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        """Return the tensors and numbers whose types are promoted to one."""
        return self.operands

    def common_element(self) -> Attribute:
        return promoted(*self.arguments())

    def result_shape(self) -> tuple[int, ...]:
        return broadcast(*map(shape_of, self.operands))

    def result_element(self) -> Attribute:
        return self.common_element()

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        element = promoted(*self.arguments())
        if element not in self.DOMAIN.elements:
            raise VerifyException(
                f"{self.name} works on {self.DOMAIN.name}, not on {element}: convert the operands"
            )
        return super().expected_types()


class UnaryOp(ElementwiseOp):
    """A function of each element."""

    input = tensor()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return (self.input,)


class NumberUnaryOp(UnaryOp):
    """A function of integers and floats."""

    DOMAIN: ClassVar[Domain] = NUMBERS


class RealUnaryOp(UnaryOp):
    """A function of floats."""

    DOMAIN: ClassVar[Domain] = REALS


class FloatUnaryOp(UnaryOp):
    """A function of real numbers: of integers it gives floats."""

    def common_element(self) -> Attribute:
        return promoted_to_float(self.input)


class PredicateUnaryOp(UnaryOp):
    """Whether something is true of each element."""

    def result_element(self) -> Attribute:
        return i1


class BinaryOp(ElementwiseOp):
    """A function of two tensors."""

    input = tensor()
    other = tensor()


class ScalarOp(ElementwiseOp):
    """A function of a tensor and a number."""

    input = tensor()
    other = number()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return self.input, self.other


class FloatBinaryOp(BinaryOp):
    """A function of two tensors of real numbers: of integers it gives floats."""

    def common_element(self) -> Attribute:
        return promoted_to_float(*self.arguments())


class FloatScalarOp(ScalarOp):
    """A function of a tensor of real numbers and a number: of integers it gives floats."""

    def common_element(self) -> Attribute:
        return promoted_to_float(*self.arguments())


class ScalarFirstOp(ElementwiseOp):
    """A function of a number and a tensor."""

    input = number()
    other = tensor()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return self.input, self.other
