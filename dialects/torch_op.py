# SPDX-License-Identifier: Apache-2.0
"""
What every op of the Torch dialect is made of: how an argument of an ATen schema is declared, the
base class that verifies, and the decorator that turns a declaration into an op.

An op is a class with one field per argument of its ATen overload, in the schema's order. Tensors
are operands, everything else is a property, None is an absent property. ATen's `self` is called
`input`, as in PyTorch's own documentation.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
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
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AttrConstraint,
    AttrSetConstraint,
    AttrSizedOperandSegments,
    IRDLOperation,
    MessageConstraint,
    OpDef,
    Operand,
    OptOperand,
    VarOperandDef,
    eq,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.torch_shapes import element_of, shape_of, shown
from tilewright.dialects.torch_syntax import is_bool, syntax_of

# --- Types -----------------------------------------------------------------------------------

ui8 = IntegerType(8, Signedness.UNSIGNED)
FLOATS: tuple[Attribute, ...] = (f16, bf16, f32, f64)
ELEMENTS: tuple[Attribute, ...] = (*FLOATS, i1, ui8, i8, i16, i32, i64)
"""The element types that a tensor may have: PyTorch's dtypes, bool being `i1`."""

Scalar = IntegerAttr[IntegerType] | FloatAttr[Float64Type]
"""A Python number: bool is `i1`, int is `i64`, float is `f64`."""

_DTYPE = MessageConstraint(
    AttrSetConstraint.get(*ELEMENTS),
    "a dtype is one of " + ", ".join(str(element) for element in ELEMENTS),
)
TENSOR = MessageConstraint(
    TensorType.constr(_DTYPE), "expected a ranked tensor with one of PyTorch's element types"
)
_I1 = cast(
    AttrConstraint[IntegerAttr[IntegerType]],
    MessageConstraint(IntegerAttr.constr(type=eq(i1)), "expected true or false"),
)
_I64 = cast(
    AttrConstraint[IntegerAttr[IntegerType]],
    MessageConstraint(IntegerAttr.constr(type=eq(i64)), "expected an integer such as 2"),
)
_F64 = cast(
    AttrConstraint[FloatAttr[Float64Type]],
    MessageConstraint(FloatAttr.constr(type=eq(f64)), "expected a float such as 2.0"),
)
_SCALAR = cast(
    AttrConstraint[Scalar],
    IntegerAttr.constr(type=AttrSetConstraint.get(i64, i1)) | FloatAttr.constr(type=eq(f64)),
)
_INTS = DenseArrayBase.constr(i64)


# --- Arguments of a schema -------------------------------------------------------------------


def tensor() -> Operand:
    """`Tensor`"""
    return operand_def(TENSOR)


def opt_tensor() -> OptOperand:
    """`Tensor?`"""
    return opt_operand_def(TENSOR)


def number(default: int | None = None) -> Scalar:
    """`Scalar`"""
    default_value = None if default is None else IntegerAttr(default, i64)
    return prop_def(_SCALAR, default_value=default_value)


def real(default: float | None = None) -> FloatAttr[Float64Type]:
    """`float`"""
    return prop_def(_F64, default_value=None if default is None else FloatAttr(default, f64))


def opt_real() -> FloatAttr[Float64Type] | None:
    """`float?`"""
    return opt_prop_def(_F64)


def integer(default: int | None = None) -> IntegerAttr[IntegerType]:
    """`int` or `SymInt`"""
    return prop_def(_I64, default_value=None if default is None else IntegerAttr(default, i64))


def boolean(default: bool | None = None) -> IntegerAttr[IntegerType]:
    """`bool`"""
    return prop_def(_I1, default_value=None if default is None else IntegerAttr(default, i1))


def integers(default: Sequence[int] | None = None) -> DenseArrayBase[IntegerType]:
    """`int[]` or `SymInt[]`"""
    empty = None if default is None else DenseArrayBase.from_list(i64, default)
    return prop_def(_INTS, default_value=empty)


def opt_integers() -> DenseArrayBase[IntegerType] | None:
    """`int[]?`"""
    return opt_prop_def(_INTS)


def text(default: str) -> StringAttr:
    """`str`"""
    return prop_def(StringAttr, default_value=StringAttr(default))


def opt_text() -> StringAttr | None:
    """`str?`, and `MemoryFormat?` by its name without `torch.`"""
    return opt_prop_def(StringAttr)


def opt_dtype() -> Attribute | None:
    """`ScalarType?` as an element type"""
    return opt_prop_def(_DTYPE)


def python_value(attribute: Attribute) -> bool | int | float | str | tuple[int, ...]:
    """The Python value that a property stands for (a dtype stands for itself: not here)."""
    match attribute:
        case IntegerAttr(value=value):
            return bool(value.data) if is_bool(attribute) else value.data
        case FloatAttr(value=value):
            return value.data
        case StringAttr(data=data):
            return data
        case DenseArrayBase():
            integers = cast(DenseArrayBase[IntegerType], attribute)
            return integers.get_values()
        case _:
            raise ValueError(f"{attribute} stands for no Python value")


# --- The op ----------------------------------------------------------------------------------


class TorchOp(IRDLOperation):
    """One overload of one ATen operator: pure, with one tensor as its result."""

    ATEN: ClassVar[str]
    """The overload as PyTorch names it, without `aten.`: `add.Tensor`; `relu` for the default."""

    result = result_def(TENSOR)
    traits = traits_def(Pure())

    def result_shape(self) -> tuple[int, ...]:
        """The shape that ATen gives the result, or a `VerifyException` that names the misfit."""
        raise NotImplementedError

    def result_element(self) -> Attribute:
        """The element type that ATen gives the result, where all operands share a float type."""
        return self.properties.get("dtype", element_of(self.operands[0]))

    def verify_(self) -> None:
        for value in (*self.operands, *self.results):
            if any(size < 0 for size in shape_of(value)):
                raise VerifyException(f"{value.type} has an unknown size; shapes are static here")
        shape, expected = shape_of(self.result), self.result_shape()
        if shape != expected:
            raise VerifyException(
                f"the result has shape {shown(shape)}, but {self.name} of these operands gives "
                f"{shown(expected)}"
            )
        elements = {element_of(operand) for operand in self.operands}
        if len(elements) > 1 or not elements <= {*FLOATS}:
            return
        if (element := self.result_element()) != element_of(self.result):
            raise VerifyException(
                f"the result holds {element_of(self.result)}, but {self.name} of these operands "
                f"gives {element}"
            )


_Op = TypeVar("_Op", bound=TorchOp)


def torch_op(aten: str) -> Callable[[type[_Op]], type[_Op]]:
    """
    Make a declaration the op for the ATen overload `aten`.

    The op is called `torch.` and the overload's name, less `.Tensor`, which most operators have
    as their plain form (and which the table spells out where there is a default overload too).
    """

    def define(declaration: type[_Op]) -> type[_Op]:
        _refuse_shadowed_fields(declaration)
        declaration.name = "torch." + aten.removesuffix(".Tensor")
        definition = OpDef.from_pyrdl(declaration)
        if sum(isinstance(d, VarOperandDef) for _, d in definition.operands) > 1:
            setattr(declaration, "irdl_options", (AttrSizedOperandSegments(as_property=True),))
            definition = OpDef.from_pyrdl(declaration)
        declaration.assembly_format, declaration.custom_directives = syntax_of(definition)
        op = irdl_op_definition(declaration)
        op.ATEN = aten
        return op

    return define


def _refuse_shadowed_fields(declaration: type[TorchOp]) -> None:
    """pyrdl silently drops a field that is called like a member of `Operation`."""
    members = {"name", "traits", "irdl_options", "verify_"}
    shadowed = [f for f in vars(declaration) if hasattr(Operation, f) and f not in members]
    if fields := [f for f in shadowed if not f.startswith("_")]:
        raise TypeError(f"{declaration.__name__}: {fields} would shadow members of Operation")
