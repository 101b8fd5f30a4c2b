# SPDX-License-Identifier: Apache-2.0
"""
Attributes of CUDA IR: types of pointers, arrays, variables and tensor maps, and operators.

Numbers have C++ types: `i1` is bool, `i32` int, `i64` long long, `f32` float, `f64` double. The
other types are only loaded, stored, moved and converted: `i8`, `ui8`, `i16`, `f16`, `bf16`. No
memory has `ui16`, `ui32` or `ui64`: they are unsigned views of bits during a conversion.

A tensor map describes an array in global memory to the tensor memory accelerator (TMA). The host
encodes one for each launch (CUDA driver API, `cuTensorMapEncodeTiled`) and passes it by value.
"""

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects.builtin import (
    ArrayAttr,
    ContainerType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    Signedness,
    SymbolRefAttr,
    UnitAttr,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import (
    Attribute,
    ParametrizedAttribute,
    SpacedOpaqueSyntaxAttribute,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.tile.layout import SWIZZLES

STORED: tuple[Attribute, ...] = (
    *(i1, i8, i16, i32, i64, IntegerType(8, Signedness.UNSIGNED)),
    *(f16, bf16, f32, f64),
)
"""Types that elements of memory, and variables, may have."""

COMPUTED: tuple[Attribute, ...] = (
    *(i1, i32, i64, IntegerType(32, Signedness.UNSIGNED), IntegerType(64, Signedness.UNSIGNED)),
    *(f32, f64),
)
"""Types of operands that operators take; C++ would promote narrower integers to int."""


@lru_cache(maxsize=1 << 10)  # steps, sizes and widths have few distinct values
def number(value: int) -> IntegerAttr:
    """Return `value` as an i64 attribute, for a property of an op."""
    return IntegerAttr(value, i64)


@lru_cache(maxsize=1 << 10)
def symbol(name: str) -> SymbolRefAttr:
    """Return a reference to the function `name`, for a call."""
    return SymbolRefAttr(name)


@irdl_attr_definition
class PointerType(ParametrizedAttribute, TypeAttribute, ContainerType[Attribute]):
    """
    Pointer to memory: `!cuda.ptr<f32, const>` is `const float *`, `!cuda.ptr<f32>` is `float *`.
    """

    name = "cuda.ptr"

    element: Attribute
    qualifier: UnitAttr | NoneAttr

    @staticmethod
    @lru_cache(maxsize=1 << 10)
    def get(element: Attribute, *, const: bool = False) -> "PointerType":
        """Return the pointer type to `element`, optionally const."""
        return PointerType(element, UnitAttr() if const else NoneAttr())

    @property
    def is_const(self) -> bool:
        """True if stores through this pointer are forbidden."""
        return isinstance(self.qualifier, UnitAttr)

    def get_element_type(self) -> Attribute:
        return self.element

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            element = parser.parse_type()
            if parser.parse_optional_punctuation(",") is None:
                return element, NoneAttr()
            parser.parse_keyword("const")
            return element, UnitAttr()

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element)
            if self.is_const:
                printer.print_string(", const")


@irdl_attr_definition
class ArrayType(ParametrizedAttribute, TypeAttribute, ContainerType[Attribute]):
    """Array private to one thread: `!cuda.array<4x8xf32>` is `float a[4][8]`."""

    name = "cuda.array"

    shape: ArrayAttr[IntAttr]
    element: Attribute

    @staticmethod
    @lru_cache(maxsize=1 << 10)
    def get(shape: tuple[int, ...], element: Attribute) -> "ArrayType":
        """Return the array type with that shape and element type."""
        return ArrayType(ArrayAttr(map(IntAttr, shape)), element)

    @property
    def extents(self) -> tuple[int, ...]:
        """Shape of the array."""
        return tuple(extent.data for extent in self.shape)

    def get_element_type(self) -> Attribute:
        return self.element

    def verify(self) -> None:
        if not self.extents or min(self.extents) < 1:
            raise VerifyException("an array has at least one axis, and elements along each")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element = parser.parse_ranked_shape()
            return cls.get(tuple(shape), element).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_dimension_list(self.extents)
            printer.print_string("x")
            printer.print_attribute(self.element)


@irdl_attr_definition
class VariableType(ParametrizedAttribute, TypeAttribute):
    """Mutable variable, which assignments change: `!cuda.var<f32>`."""

    name = "cuda.var"

    element: Attribute

    @staticmethod
    @lru_cache(maxsize=1 << 10)
    def get(element: Attribute) -> "VariableType":
        """Return the type of a variable that holds `element`."""
        return VariableType(element)


class Builtin(StrEnum):
    """Built-in variable (CUDA C++ Programming Guide, built-in variables)."""

    BLOCK = "block_idx"
    THREAD = "thread_idx"


@irdl_attr_definition
class BuiltinAttr(EnumAttribute[Builtin], SpacedOpaqueSyntaxAttribute):
    """Attribute for a built-in variable."""

    name = "cuda.builtin_variable"


class BinaryOperator(StrEnum):
    """Operator on two values of one type."""

    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    REM = "rem"
    AND = "and"
    OR = "or"
    BIT_AND = "bit_and"
    BIT_OR = "bit_or"
    BIT_XOR = "bit_xor"


@irdl_attr_definition
class BinaryOperatorAttr(EnumAttribute[BinaryOperator], SpacedOpaqueSyntaxAttribute):
    """Attribute for an operator on two values of one type."""

    name = "cuda.binary_operator"


class Comparison(StrEnum):
    """Comparison of two values; with a NaN operand only `ne` is true."""

    LT = "lt"
    LE = "le"
    GT = "gt"
    GE = "ge"
    EQ = "eq"
    NE = "ne"


@irdl_attr_definition
class ComparisonAttr(EnumAttribute[Comparison], SpacedOpaqueSyntaxAttribute):
    """Attribute for a comparison."""

    name = "cuda.comparison"


@irdl_attr_definition
class TensorMapType(ParametrizedAttribute, TypeAttribute):
    """
    A parameter `const __grid_constant__ TensorMap`, which describes an input of the kernel to TMA.

    `of` is the input's number, and the type before `box` is its shape. One copy moves a `box`, and
    permutes chunks of 16 bytes within `swizzle` bytes. `strides` count elements; without them, the
    input is row-major.

    ```mlir
    !cuda.tensor_map<6x256x128xf32, box [1, 128, 16], swizzle 64, of 0>
    !cuda.tensor_map<4x256x32xf32, strides [32, 128, 1], box [2, 16, 32], swizzle 128, of 0>
    ```
    """

    name = "cuda.tensor_map"

    shape: ArrayAttr[IntAttr]
    element: Attribute
    box: ArrayAttr[IntAttr]
    swizzle: IntAttr
    input: IntAttr
    steps: ArrayAttr[IntAttr]

    @staticmethod
    def get(
        shape: Sequence[int],
        element: Attribute,
        box: Sequence[int],
        swizzle: int,
        input: int,
        strides: Sequence[int] = (),
    ) -> "TensorMapType":
        """
        Return the tensor map type of input number `input`. A `swizzle` of 0 bytes means none, and
        no `strides` mean a row-major input.
        """
        return TensorMapType(
            ArrayAttr(map(IntAttr, shape)),
            element,
            ArrayAttr(map(IntAttr, box)),
            IntAttr(swizzle),
            IntAttr(input),
            ArrayAttr(map(IntAttr, strides)),
        )

    @property
    def extents(self) -> tuple[int, ...]:
        """Shape of the input."""
        return tuple(extent.data for extent in self.shape)

    @property
    def box_extents(self) -> tuple[int, ...]:
        """Shape of the box that one copy moves."""
        return tuple(extent.data for extent in self.box)

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides of the axes in elements; empty for a row-major input."""
        return tuple(stride.data for stride in self.steps)

    def verify(self) -> None:
        if len(self.shape) != len(self.box):
            raise VerifyException("a box has an extent for each axis")
        if self.steps and (len(self.steps) != len(self.shape) or self.strides[-1] != 1):
            raise VerifyException("a tensor map has a stride for each axis, and 1 for the last")
        if self.swizzle.data and self.swizzle.data not in SWIZZLES:
            raise VerifyException(f"swizzles span {SWIZZLES} bytes, not {self.swizzle.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def number() -> int:
            return parser.parse_integer(allow_boolean=False, allow_negative=False)

        with parser.in_angle_brackets():
            shape, element = parser.parse_ranked_shape()
            parser.parse_punctuation(",")
            strides = list[int]()
            if parser.parse_optional_keyword("strides"):
                strides = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number)
                parser.parse_punctuation(",")
            parser.parse_keyword("box")
            box = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number)
            parser.parse_punctuation(",")
            swizzle = 0
            if parser.parse_optional_keyword("swizzle"):
                swizzle = number()
                parser.parse_punctuation(",")
            parser.parse_keyword("of")
            return cls.get(shape, element, box, swizzle, number(), strides).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_dimension_list(self.extents)
            printer.print_string("x")
            printer.print_attribute(self.element)
            printer.print_string(f", strides {list(self.strides)}" if self.steps else "")
            printer.print_string(f", box {list(self.box_extents)}")
            printer.print_string(f", swizzle {self.swizzle.data}" if self.swizzle.data else "")
            printer.print_string(f", of {self.input.data}")
