# SPDX-License-Identifier: Apache-2.0
"""
Building blocks of torch ops: argument declarations, the verifying base class, and the op decorator.

An op is a class with one field per argument of its ATen overload, in the schema's order. Tensors
are operands, everything else is a property, None is an absent property. ATen's `self` is called
`input`, as in PyTorch's own documentation.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeVar, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttrSetConstraint,
    AttrSizedOperandSegments,
    IRDLOperation,
    MessageConstraint,
    OpDef,
    Operand,
    OptOperand,
    VarOperand,
    VarOperandDef,
    eq,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.element_types import ELEMENTS
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.torch.promotion import promoted
from tilewright.dialects.torch.shapes import shown
from tilewright.dialects.torch.syntax import give_syntax, is_bool
from tilewright.dialects.types import element_of, shape_of
from tilewright.errors import one_line

# --- Types -----------------------------------------------------------------------------------

Scalar = IntegerAttr[IntegerType] | FloatAttr[Float64Type]
"""A Python number as an attribute: bool is `i1`, int is `i64`, float is `f64`."""

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
_REALS = DenseArrayBase.constr(f64)


# --- Arguments of a schema -------------------------------------------------------------------


def tensor() -> Operand:
    """Declare an argument of type `Tensor`."""
    return operand_def(TENSOR)


def opt_tensor() -> OptOperand:
    """Declare an argument of type `Tensor?`."""
    return opt_operand_def(TENSOR)


def tensors() -> VarOperand:
    """
    Declare an argument of type `Tensor[]`.

    Also `Tensor?[]`: for an argument `a`, a property `a_at` lists the positions of the tensors that
    are not None.
    """
    return var_operand_def(TENSOR)


def number(default: int | float | None = None) -> Scalar:
    """Declare an argument of type `Scalar`."""
    if default is None:
        return prop_def(_SCALAR)
    is_float = isinstance(default, float)
    value = FloatAttr(default, f64) if is_float else IntegerAttr(int(default), i64)
    return prop_def(_SCALAR, default_value=value)


def opt_number() -> Scalar | None:
    """Declare an argument of type `Scalar?`."""
    return opt_prop_def(_SCALAR)


def real(default: float | None = None) -> FloatAttr[Float64Type]:
    """Declare an argument of type `float`."""
    return prop_def(_F64, default_value=None if default is None else FloatAttr(default, f64))


def opt_real() -> FloatAttr[Float64Type] | None:
    """Declare an argument of type `float?`."""
    return opt_prop_def(_F64)


def integer(default: int | None = None) -> IntegerAttr[IntegerType]:
    """Declare an argument of type `int` or `SymInt`."""
    return prop_def(_I64, default_value=None if default is None else IntegerAttr(default, i64))


def opt_integer() -> IntegerAttr[IntegerType] | None:
    """Declare an argument of type `int?`."""
    return opt_prop_def(_I64)


def opt_boolean() -> IntegerAttr[IntegerType] | None:
    """Declare an argument of type `bool?`."""
    return opt_prop_def(_I1)


def opt_reals() -> DenseArrayBase[Float64Type] | None:
    """Declare an argument of type `float[]?`."""
    return opt_prop_def(_REALS)


def boolean(default: bool | None = None) -> IntegerAttr[IntegerType]:
    """Declare an argument of type `bool`."""
    return prop_def(_I1, default_value=None if default is None else IntegerAttr(default, i1))


def integers(default: Sequence[int] | None = None) -> DenseArrayBase[IntegerType]:
    """Declare an argument of type `int[]` or `SymInt[]`."""
    empty = None if default is None else DenseArrayBase.from_list(i64, default)
    return prop_def(_INTS, default_value=empty)


def opt_integers() -> DenseArrayBase[IntegerType] | None:
    """Declare an argument of type `int[]?`."""
    return opt_prop_def(_INTS)


def text(default: str | None = None) -> StringAttr:
    """Declare an argument of type `str`."""
    default_value = None if default is None else StringAttr(default)
    return prop_def(StringAttr, default_value=default_value)


def opt_text() -> StringAttr | None:
    """
    Declare an argument of type `str?`, `MemoryFormat?`, `Layout?` or `Device?`.

    The argument's value is the PyTorch name without `torch.`.
    """
    return opt_prop_def(StringAttr)


def opt_dtype() -> Attribute | None:
    """Declare an argument of type `ScalarType?`, whose value is an element type."""
    return opt_prop_def(_DTYPE)


def dtype_() -> Attribute:
    """Declare an argument of type `ScalarType`, whose value is an element type."""
    return prop_def(_DTYPE)


def python_value(
    attribute: Attribute,
) -> bool | int | float | str | tuple[int, ...] | tuple[float, ...]:
    """
    Return the Python value of a property; raise `ValueError` for a dtype, which is an attribute
    itself.
    """
    match attribute:
        case IntegerAttr(value=value):
            return bool(value.data) if is_bool(attribute) else value.data
        case FloatAttr(value=value):
            return value.data
        case StringAttr(data=data):
            return data
        case DenseArrayBase():
            numbers = cast(DenseArrayBase[IntegerType] | DenseArrayBase[Float64Type], attribute)
            return numbers.get_values()
        case _:
            raise ValueError(f"{attribute} stands for no Python value")


# --- The op ----------------------------------------------------------------------------------


class TorchOp(FormedOp, ABC):
    """
    Base class of torch ops: one overload of one ATen operator, a pure function of tensors and
    options.
    """

    ATEN: ClassVar[str]
    """The overload in PyTorch's spelling without `aten.`: `add.Tensor`; `relu` for the default."""

    traits = traits_def(Pure())

    __init__ = IRDLOperation.__init__  # records the lengths of several operand lists

    @abstractmethod
    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        """
        Return the types that ATen gives the results; raise `VerifyException` if the operands do not
        fit.
        """

    def common_element(self) -> Attribute:
        """Return the type to which ATen casts operands before it computes."""
        return element_of(self.results[0])

    def verify_(self) -> None:
        for value in (*self.operands, *self.results):
            if any(size < 0 for size in shape_of(value)):
                raise VerifyException(f"{value.type} has an unknown size; shapes are static here")
        try:
            expected = self.expected_types()
        except (ArithmeticError, ValueError) as err:  # from infinity, NaN or division by 0
            raise VerifyException(
                f"the size of the result is not defined: {one_line(err)}"
            ) from err
        if len(expected) != len(self.results):
            raise VerifyException(
                f"{self.name} of these operands gives {len(expected)} results, "
                f"not {len(self.results)}"
            )
        for result, type in zip(self.results, expected, strict=True):
            _verify_result(self.name, result, type)


def _verify_result(op: str, result: SSAValue, expected: TensorType[Attribute]) -> None:
    shape, expected_shape = shape_of(result), expected.get_shape()
    if shape != expected_shape:
        raise VerifyException(
            f"the result has shape {shown(shape)}, but {op} of these operands gives "
            f"{shown(expected_shape)}"
        )
    if (element := element_of(result)) != expected.element_type:
        raise VerifyException(
            f"the result holds {element}, but {op} of these operands gives {expected.element_type}"
        )


class TensorOp(TorchOp, ABC):
    """Base class of torch ops with one tensor as their result."""

    result = result_def(TENSOR)

    @abstractmethod
    def result_shape(self) -> tuple[int, ...]:
        """
        Return the shape that ATen gives the result; raise `VerifyException` if the operands do not
        fit.
        """

    def result_element(self) -> Attribute:
        """
        Return the element type that ATen gives the result: an explicit dtype, or the operands'
        promoted type.
        """
        return self.properties.get("dtype") or promoted(*self.operands)

    def expected_types(self) -> Sequence[TensorType[Attribute]]:
        return [TensorType(self.result_element(), self.result_shape())]


_Op = TypeVar("_Op", bound=TorchOp)


def torch_op(aten: str, name: str | None = None) -> Callable[[type[_Op]], type[_Op]]:
    """
    Return a decorator that turns a declaration into the op for the ATen overload `aten`.

    The op's name is `torch.` and the overload's name without `.Tensor`, the usual plain overload.
    If the operator has a default overload, too, `name` gives the full name.
    """

    def define(declaration: type[_Op]) -> type[_Op]:
        _refuse_shadowed_fields(declaration)
        declaration.name = "torch." + (name or aten.removesuffix(".Tensor"))
        definition = OpDef.from_pyrdl(declaration)
        _order_fields(declaration, definition)
        if sum(isinstance(d, VarOperandDef) for _, d in definition.operands) > 1:
            setattr(declaration, "irdl_options", (AttrSizedOperandSegments(as_property=True),))
        op = irdl_op_definition(declaration)
        op.ATEN = aten
        give_syntax(op)
        return op

    return define


def _order_fields(declaration: type[TorchOp], definition: OpDef) -> None:
    """
    Put the fields of base classes first, because schemas of one family share their first arguments.

    pyrdl puts them last.
    """
    fields = {name for name, _ in definition.operands} | {*definition.properties}
    bases = [base for base in reversed(declaration.mro()) if fields & {*vars(base)}]
    if len(bases) < 2:
        return
    found = {name: field for base in bases for name, field in vars(base).items() if name in fields}
    for name, field in found.items():
        if name in vars(declaration):
            delattr(declaration, name)
        setattr(declaration, name, field)


def _refuse_shadowed_fields(declaration: type[TorchOp]) -> None:
    """
    Raise `TypeError` for fields named like members of `Operation`, which pyrdl silently drops.
    """
    members = {"name", "traits", "irdl_options", "verify_"}
    shadowed = [f for f in vars(declaration) if hasattr(Operation, f) and f not in members]
    if fields := [f for f in shadowed if not f.startswith("_")]:
        raise TypeError(f"{declaration.__name__}: {fields} would shadow members of Operation")
