# SPDX-License-Identifier: Apache-2.0
"""
Tensor maps: what the tensor memory accelerator has to know of an array in global memory. The host
makes one for each launch (CUDA driver API, `cuTensorMapEncodeTiled`) and passes it by value.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.tile.layout import SWIZZLES


@irdl_attr_definition
class TensorMapType(ParametrizedAttribute, TypeAttribute):
    """
    A parameter `const __grid_constant__ TensorMap`: of the kernel's input number `of`, which has
    that shape, a copy moves a `box`, and permutes chunks of 16 bytes within `swizzle` bytes.

    ```mlir
    !cuda.tensor_map<6x256x128xf32, box [1, 128, 16], swizzle 64, of 0>
    ```
    """

    name = "cuda.tensor_map"

    shape: ArrayAttr[IntAttr]
    element: Attribute
    box: ArrayAttr[IntAttr]
    swizzle: IntAttr
    input: IntAttr

    @staticmethod
    def get(
        shape: Sequence[int], element: Attribute, box: Sequence[int], swizzle: int, input: int
    ) -> "TensorMapType":
        """The map of an input of that shape; no swizzle is 0 bytes."""
        return TensorMapType(
            ArrayAttr(map(IntAttr, shape)),
            element,
            ArrayAttr(map(IntAttr, box)),
            IntAttr(swizzle),
            IntAttr(input),
        )

    @property
    def extents(self) -> tuple[int, ...]:
        """The shape of the input."""
        return tuple(extent.data for extent in self.shape)

    @property
    def box_extents(self) -> tuple[int, ...]:
        """The shape of what one copy moves."""
        return tuple(extent.data for extent in self.box)

    def verify(self) -> None:
        if len(self.shape) != len(self.box):
            raise VerifyException("a box has an extent for each axis")
        if self.swizzle.data and self.swizzle.data not in SWIZZLES:
            raise VerifyException(f"swizzles span {SWIZZLES} bytes, not {self.swizzle.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def number() -> int:
            return parser.parse_integer(allow_boolean=False, allow_negative=False)

        with parser.in_angle_brackets():
            shape, element = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            parser.parse_keyword("box")
            box = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number)
            parser.parse_punctuation(",")
            swizzle = 0
            if parser.parse_optional_keyword("swizzle"):
                swizzle = number()
                parser.parse_punctuation(",")
            parser.parse_keyword("of")
            return cls.get(shape, element, box, swizzle, number()).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_dimension_list(self.extents)
            printer.print_string("x")
            printer.print_attribute(self.element)
            printer.print_string(f", box {list(self.box_extents)}")
            printer.print_string(f", swizzle {self.swizzle.data}" if self.swizzle.data else "")
            printer.print_string(f", of {self.input.data}")
