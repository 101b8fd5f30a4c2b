# SPDX-License-Identifier: Apache-2.0
"""
Verification of single ops, once for each form.

The form of an op is its kind, its types, its properties and attributes, and the arguments of its
blocks: all of these never change. The form alone decides whether an op fits its definition and,
for most kinds, together with the op's place, whether the op is well-formed. Kernels consist of
thousands of ops of few forms, and programs compiled one after the other share most of them.
Unnecessary when xDSL verifies the constraints of an op once for all of the same types and
properties.
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
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.traits import OpTrait

from tilewright.dialects.faster_xdsl.built_op import BuiltOp


class FormedOp(BuiltOp, ABC):
    """An op that is well-formed if another op of its form is."""

    FORM_DECIDES: ClassVar[bool] = True
    """True if properties and types, with those of its blocks' arguments, decide if it verifies."""

    def surroundings(self) -> Hashable:
        """Return all else that decides if the op verifies; None where its form does alone."""
        return None


def types_at_the_end(op: Operation) -> Hashable:
    """Kind of the last op of each block in `op`, with the types of its operands."""
    ends = [block.last_op for region in op.regions for block in region.blocks]
    return tuple([end and (type(end), *[v.type for v in end.operands]) for end in ends])


_MOST_FORMS = 1 << 15
_places: dict[Hashable, set[Hashable]] = {}
"""Places in which ops of a form were well-formed, by forms that fit their definition."""


def verify_definition(op: Operation) -> None:
    """Raise `VerifyException` unless `op` fits the definition of its kind, traits included."""
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
    """Raise `VerifyException` unless `op`, whose contents are well-formed, is so itself."""
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
    """Note that `form` fits its definition; return the places in which it is well-formed."""
    if len(_places) >= _MOST_FORMS:
        _places.clear()
    return _places.setdefault(form, set())


def _form(op: Operation) -> Hashable:
    """Everything but the op's operands themselves, its place and the contents of its blocks."""
    values = op._operands  # pyright: ignore[reportPrivateUsage]: without a view of them
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
    """Surroundings that the kind of `op` asks for, and what `op` ends as the last of its block."""
    look, is_last = _surroundings(type(op)), op.next_op is None
    if look is None and not is_last:  # most ops
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
    FuncOp: None,  # dominance is verified before, and with it that functions are isolated
    ReturnOp: _function_type,
    scf.ForOp: types_at_the_end,
    scf.IfOp: types_at_the_end,
    scf.YieldOp: None,
}
"""Ops of xDSL that their form and place decide, with what that place consists of."""


@cache
def _form_decides(kind: type[Operation]) -> bool:
    """True if an op of `kind` is well-formed if another of its form is, in such a place."""
    return kind in _UPSTREAM or (issubclass(kind, FormedOp) and kind.FORM_DECIDES)


@cache
def _surroundings(kind: type[Operation]) -> Callable[[Any], Hashable] | None:
    """Function that returns the surroundings of ops of `kind`; None where they do not matter."""
    if not issubclass(kind, FormedOp):
        return _UPSTREAM[kind]
    return None if kind.surroundings is FormedOp.surroundings else kind.surroundings


@cache
def _verified_traits(kind: type[IRDLOperation]) -> list[OpTrait]:
    """Traits of `kind` that have something to verify."""
    traits = kind.get_irdl_definition().traits
    return [trait for trait in traits if type(trait).verify is not OpTrait.verify]
