# SPDX-License-Identifier: Apache-2.0
"""
Verification of single ops, once for each form, and of attributes, once for equal ones.

The form of an op is its class, its types, its properties and attributes, and the types of its block
arguments. All of them are immutable. The form alone decides whether an op fits its definition. For
most classes, the form and the op's place together decide whether the op is well-formed. Kernels
consist of thousands of ops with few forms, and programs compiled in sequence share most forms.
Unnecessary when xDSL caches the verification of ops with equal types and properties, and that of
equal attributes.
"""

from abc import ABC
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, ClassVar

from xdsl.dialects import scf
from xdsl.dialects.arith import Arith
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.math import Math
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Operation, ParametrizedAttribute
from xdsl.irdl import IRDLOperation
from xdsl.traits import OpTrait

from tilewright.dialects.faster_xdsl.built_op import BuiltOp


class FormedOp(BuiltOp, ABC):
    """Base class of ops that are well-formed if another op with the same form is."""

    FORM_DECIDES: ClassVar[bool] = True
    """
    True if properties and types, block arguments included, decide whether an op is well-formed.
    """

    def surroundings(self) -> Hashable:
        """
        Return all other facts that decide whether the op is well-formed; None if its form suffices.
        """
        return None


def types_at_the_end(op: Operation) -> Hashable:
    """Return the class and the operand types of the last op of each block in `op`."""
    ends = [block.last_op for region in op.regions for block in region.blocks]
    return tuple([end and (type(end), *[v.type for v in end.operands]) for end in ends])


_MAX_FORMS = 1 << 15
_verify_attribute: Any = vars(ParametrizedAttribute)["_verify"]
_attributes: set[ParametrizedAttribute] = set()
"""Attributes that were found well-formed."""


def verify_attribute(self: ParametrizedAttribute) -> None:
    """Raise `VerifyException` unless an attribute, or an equal one before it, is well-formed."""
    if self in _attributes:
        return
    _verify_attribute(self)
    if len(_attributes) >= _MAX_FORMS:
        _attributes.clear()
    _attributes.add(self)


_places: dict[Hashable, set[Hashable]] = {}
"""Places in which ops of a form were found well-formed, by form."""


def verify_definition(op: Operation) -> None:
    """Raise `VerifyException` unless `op` fits the definition of its class, traits included."""
    if not isinstance(op, IRDLOperation):
        return
    if not _form_decides(type(op)):
        op.get_irdl_definition().verify(op)
    elif (form := _form(op)) not in _places:
        op.get_irdl_definition().verify(op)
        _remember(form)
    else:
        for trait in _verified_traits(type(op)):
            trait.verify(op)


def verify_op(op: Operation) -> None:
    """Raise `VerifyException` unless `op` is well-formed; its contents are verified already."""
    if not _form_decides(type(op)):
        op.verify(verify_nested_ops=False)
        return
    places = _places.get(form := _form(op))
    if places is None:
        op.verify(verify_nested_ops=False)
        _remember(form).add(_place(op))
    elif (place := _place(op)) not in places:
        op.verify(verify_nested_ops=False)
        places.add(place)


def _remember(form: Hashable) -> set[Hashable]:
    """Record that `form` fits its definition; return the places in which it is well-formed."""
    if len(_places) >= _MAX_FORMS:
        _places.clear()
    return _places.setdefault(form, set())


def _form(op: Operation) -> Hashable:
    """Return the op's form: everything except operand values, place, and block contents."""
    values = op._operands  # pyright: ignore[reportPrivateUsage]: avoids a view of the tuple
    operands = [value.type for value in values]
    results = [result.type for result in op.results]
    properties, attributes = op.properties, op.attributes
    counts = len(operands), len(results), len(properties), len(attributes)
    named = *properties, *properties.values(), *attributes, *attributes.values()
    simple = type(op), counts, *operands, *results, *named
    if not op.regions and not op.successor_uses:
        return simple
    blocks = tuple([tuple([block.arg_types for block in r.blocks]) for r in op.regions])
    return simple, blocks, len(op.successor_uses)


def _place(op: Operation) -> Hashable:
    """
    Return the op's place: its `surroundings`, and, for the last op of a block, the class of the
    parent op and True if the region has several blocks.
    """
    look, is_last = _surroundings(type(op)), op.next_op is None
    if look is None and not is_last:  # the case of most ops
        return None
    around = None if look is None else look(op)
    if not is_last:
        return around, None
    region = op.parent_region()
    ended = (None, False) if region is None else (type(region.parent), len(region.blocks) > 1)
    return around, ended


def _function_type(op: ReturnOp) -> Hashable:
    function = op.parent_op()
    return None if function is None else function.properties.get("function_type")


_UPSTREAM: dict[type[Operation], Callable[[Any], Hashable] | None] = {
    **dict.fromkeys((*Arith.operations, *Math.operations, AllocOp)),
    FuncOp: None,  # dominance is verified earlier, which implies that functions are isolated
    ReturnOp: _function_type,
    scf.ForOp: types_at_the_end,
    scf.IfOp: types_at_the_end,
    scf.YieldOp: None,
}
"""
xDSL's op classes that are well-formed if another op with the same form and place is, each with the
function that returns the op's surroundings. None means that surroundings do not matter.
"""


@cache
def _form_decides(kind: type[Operation]) -> bool:
    """True if the form and the place of an op of `kind` decide whether it is well-formed."""
    return kind in _UPSTREAM or (issubclass(kind, FormedOp) and kind.FORM_DECIDES)


@cache
def _surroundings(kind: type[Operation]) -> Callable[[Any], Hashable] | None:
    """
    Return the function that computes the surroundings of an op of `kind`; None if the op's form
    suffices.
    """
    if not issubclass(kind, FormedOp):
        return _UPSTREAM[kind]
    return None if kind.surroundings is FormedOp.surroundings else kind.surroundings


@cache
def _verified_traits(kind: type[IRDLOperation]) -> list[OpTrait]:
    """Return the traits of `kind` that have a `verify` of their own."""
    traits = kind.get_irdl_definition().traits
    return [trait for trait in traits if type(trait).verify is not OpTrait.verify]
