# SPDX-License-Identifier: Apache-2.0
"""
Base classes of elementwise torch ops, which broadcast and promote their operands.

Operands are broadcast to one shape and promoted to one type. In PyTorch each kernel decides which
types it supports; here the `Domain` of each op lists them.
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
    """Element types that an op supports, and their name in messages."""

    elements: tuple[Attribute, ...]
    name: str


ANY = Domain(ELEMENTS, "any type")
NUMBERS = Domain((*FLOATS, *INTEGERS), "floats and integers")
REALS = Domain(FLOATS, "floats")
WHOLES = Domain(INTEGERS, "integers")
BITS = Domain((*INTEGERS, i1), "integers and bools")


def check_fits(number: Attribute, element: Attribute, what: str) -> None:
    """
    Raise `VerifyException` if `element` is an integer type that `number` overflows; PyTorch raises
    an error there, too. `what` names the number in the message.
    """
    if element not in INTEGERS:
        return
    value, low, high = python_value(number), *_limits(cast(IntegerType, element))
    assert isinstance(value, int | float)
    if not isfinite(value) or not low <= int(value) <= high:
        raise VerifyException(f"{what} does not fit {element}: {value}")


def _limits(type: IntegerType) -> tuple[int, int]:
    """
    Return the least and the greatest number that PyTorch converts to `type`.

    Negative numbers wrap in an unsigned type, therefore its least number is negative.
    """
    bits = type.width.data
    if type.signedness.data is Signedness.UNSIGNED:
        return 1 - 2**bits, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


class ElementwiseOp(TensorOp):
    """Base class of functions of the elements of operands that are broadcast to one shape."""

    DOMAIN: ClassVar[Domain] = ANY
    """Types to which the operands may be promoted."""

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        """Return the tensors and numbers whose types are promoted to one type."""
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
    """Base class of functions of each element of one tensor."""

    input = tensor()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return (self.input,)


class NumberUnaryOp(UnaryOp):
    """Base class of functions of one tensor of integers or floats."""

    DOMAIN: ClassVar[Domain] = NUMBERS


class RealUnaryOp(UnaryOp):
    """Base class of functions of one tensor of floats."""

    DOMAIN: ClassVar[Domain] = REALS


class FloatUnaryOp(UnaryOp):
    """Base class of real functions of one tensor; integers are converted to floats."""

    def common_element(self) -> Attribute:
        return promoted_to_float(self.input)


class PredicateUnaryOp(UnaryOp):
    """Base class of predicates of each element; the result is a bool."""

    def result_element(self) -> Attribute:
        return i1


class BinaryOp(ElementwiseOp):
    """Base class of functions of two tensors."""

    input = tensor()
    other = tensor()


class ScalarOp(ElementwiseOp):
    """Base class of functions of a tensor and a number."""

    input = tensor()
    other = number()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return self.input, self.other


class FloatBinaryOp(BinaryOp):
    """Base class of real functions of two tensors; integers are converted to floats."""

    def common_element(self) -> Attribute:
        return promoted_to_float(*self.arguments())


class FloatScalarOp(ScalarOp):
    """Base class of real functions of a tensor and a number; integers are converted to floats."""

    def common_element(self) -> Attribute:
        return promoted_to_float(*self.arguments())


class ScalarFirstOp(ElementwiseOp):
    """Base class of functions of a number and a tensor."""

    input = number()
    other = tensor()

    def arguments(self) -> Sequence[SSAValue | Attribute]:
        return self.input, self.other
