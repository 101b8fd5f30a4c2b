# SPDX-License-Identifier: Apache-2.0
"""Torch ops for products along several dimensions: inner and outer products, einsum, distances."""

from xdsl.dialects.builtin import FloatAttr, i1
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import FLOATS
from tilewright.dialects.torch.einsum_equation import Equation, parse_equation
from tilewright.dialects.torch.op import (
    TensorOp,
    number,
    opt_integer,
    opt_integers,
    real,
    tensor,
    tensors,
    text,
    torch_op,
)
from tilewright.dialects.torch.promotion import promoted, sum_type
from tilewright.dialects.torch.shapes import broadcast, check_expands, shown
from tilewright.dialects.types import element_of, shape_of


def _check_vector(shape: tuple[int, ...], name: str) -> None:
    if len(shape) != 1:
        raise VerifyException(f"{name} has one dimension, not the shape {shown(shape)}")


@torch_op("inner")
class InnerOp(TensorOp):
    """
    The sums of products along the last dimension of input and other; a scalar multiplies every
    element.

        %2 = torch.inner %0, %1 : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
    """

    input = tensor()
    other = tensor()

    def result_shape(self) -> tuple[int, ...]:
        left, right = shape_of(self.input), shape_of(self.other)
        if left and right and left[-1] != right[-1]:
            raise VerifyException(f"the last sizes of {shown(left)} and {shown(right)} differ")
        return (*left[:-1], *right[:-1]) if left and right else left + right

    def result_element(self) -> Attribute:
        left, right = element_of(self.input), element_of(self.other)
        if not (shape_of(self.input) and shape_of(self.other)):
            return promoted(self.input, self.other)
        if left != right or left == i1:
            raise VerifyException(f"inner of {left} and {right}: cast both to one number type")
        return left


@torch_op("outer")
class OuterOp(TensorOp):
    """
    Every element of one vector times every element of the other.

        %2 = torch.outer %0, %1 : (tensor<4xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    vec2 = tensor()

    def result_shape(self) -> tuple[int, ...]:
        left, right = shape_of(self.input), shape_of(self.vec2)
        _check_vector(left, "input")
        _check_vector(right, "vec2")
        return (*left, *right)


@torch_op("addr")
class AddrOp(TensorOp):
    """
    beta * input + alpha * outer(vec1, vec2); with beta 0, input is ignored, even if NaN.

        %3 = torch.addr %0, %1, %2 beta 0.5
            : (tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    """

    input = tensor()
    vec1 = tensor()
    vec2 = tensor()
    beta = number(1)
    alpha = number(1)

    def result_shape(self) -> tuple[int, ...]:
        left, right = shape_of(self.vec1), shape_of(self.vec2)
        _check_vector(left, "vec1")
        _check_vector(right, "vec2")
        check_expands(shape_of(self.input), (*left, *right), "input")
        return (*left, *right)

    def result_element(self) -> Attribute:
        element = promoted(*self.operands)
        if element == i1:
            raise VerifyException("addr of bools is not supported: cast them")
        for scale in (self.beta, self.alpha):
            if element not in FLOATS and isinstance(scale, FloatAttr):
                raise VerifyException(f"beta and alpha of {element} are integers")
        return element


@torch_op("einsum")
class EinsumOp(TensorOp):
    """
    Products of the tensors, summed by the equation; path chooses the order of multiplication.

        %2 = torch.einsum %0, %1 equation "bij,bjk->bik"
            : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
    """

    equation = text()
    tensors = tensors()
    path = opt_integers()

    def parsed(self) -> Equation:
        """Return the parsed equation, with the labels of all dimensions."""
        return parse_equation(self.equation.data, [*map(shape_of, self.tensors)])

    def steps(self) -> list[tuple[int, int]]:
        """
        Return the pair of operands multiplied in each step, as positions among the remaining
        operands.

        The product becomes the last of the remaining operands. Without a path, it becomes the
        first, and operands are multiplied in order.
        """
        count = len(self.tensors) - 1
        if self.path is None:
            return [(0, 1)] * count
        path = [*self.path.get_values()]
        pairs = [*zip(path[::2], path[1::2])]
        fits = len(path) == 2 * count and all(
            a != b and {a, b} <= {*range(count + 1 - step)} for step, (a, b) in enumerate(pairs)
        )
        if not fits:
            raise VerifyException(f"path {path} does not combine {count + 1} operands pair by pair")
        return pairs

    def result_shape(self) -> tuple[int, ...]:
        self.steps()
        return self.parsed().result_shape

    def result_element(self) -> Attribute:
        elements = [*map(element_of, self.tensors)]
        sums = self.parsed().sums
        if len(elements) == 1:
            return sum_type(elements[0]) if sums else elements[0]
        if sums and (i1 in elements or len({*elements}) > 1):
            shown_elements = " and ".join(map(str, elements))
            raise VerifyException(f"einsum of {shown_elements}: cast all to one number type")
        return promoted(*self.tensors)


@torch_op("_cdist_forward")
class CdistForwardOp(TensorOp):
    """
    The p-norm of the difference of each row of x1 and each row of x2; `compute_mode` is ignored.

        %2 = torch._cdist_forward %0, %1 p 2.0
            : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32>
    """

    x1 = tensor()
    x2 = tensor()
    p = real()
    compute_mode = opt_integer()

    def result_shape(self) -> tuple[int, ...]:
        left, right = shape_of(self.x1), shape_of(self.x2)
        if len(left) < 2 or len(right) < 2 or left[-1] != right[-1]:
            raise VerifyException(
                f"{shown(left)} and {shown(right)} are not two sets of rows of one length"
            )
        if self.p.value.data < 0:
            raise VerifyException(f"p is at least 0, not {self.p.value.data}")
        return (*broadcast(left[:-2], right[:-2]), left[-2], right[-2])

    def result_element(self) -> Attribute:
        left, right = element_of(self.x1), element_of(self.x2)
        if left != right or left not in FLOATS:
            raise VerifyException(f"distances of {left} and {right}: cast both to one float type")
        return left
