# SPDX-License-Identifier: Apache-2.0
"""
Shortcuts through what xDSL 0.74 does whenever an op or an attribute is built or verified.

    building ops        Definitions say once for each class how many operands, results and regions a
                        field takes. xDSL asks each field, for each op, in several calls.
    default properties  Looked up once for each class of op.
    new ops             An op without successors has none to register.
    attributes          Verified once, and not whenever an equal one is built: they never change.
    definitions of ops  Types, properties and blocks alone decide whether an op fits its definition.
                        Traits, which also look around, are verified each time, as xDSL does.
    names               Matched once, as each kernel has the names of others.
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import (
    Attribute,
    Operation,
    OpResult,
    ParametrizedAttribute,
    Region,
    SSAValue,
    Use,
    core,
)
from xdsl.irdl import IRDLOperation, OpDef, OptionalDef, VariadicDef

from tilewright.dialects.xdsl_shortcuts import replace

_MOST_VERIFIED = 1 << 14
"""Equal attributes, and ops of one class that are alike, of which more are not remembered."""

_CORE: Any = core

_built_as_xdsl_does: Any = IRDLOperation.__init__
_matched_as_xdsl_does: Any = _CORE.IRWithName.extract_valid_name
_verified_as_xdsl_does: Any = OpDef.verify
_attribute_verified_as_xdsl_does: Any = vars(ParametrizedAttribute)["_verify"]


def take_shortcuts() -> None:
    """Put the shortcuts in the place of xDSL's functions."""
    _CORE._unknown_loc = lambda: UNKNOWN_LOC
    _CORE.IRWithName.extract_valid_name = classmethod(_valid_name)
    replace(Operation, {"__init__": _new})
    replace(IRDLOperation, {"__init__": _built, "__post_init__": _with_defaults})
    replace(Attribute, {"__post_init__": _verify})
    replace(ParametrizedAttribute, {"_verify": _verify_once})
    replace(OpDef, {"verify": _verify_definition})


# --- Ops


def _new(
    self: Any,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = {},
    attributes: Mapping[str, Attribute] = {},
    location: Any = None,
    successors: Sequence[Any] = (),
    regions: Sequence[Region] = (),
) -> None:
    values = core.SSAValues(operands)
    uses = tuple([Use(self, index) for index in range(len(values))])
    for value, use in zip(values, uses, strict=True):
        value.add_use(use)
    self._operands, self._operand_uses = values, uses
    self.results = core.SSAValues(
        [OpResult(type, self, index) for index, type in enumerate(result_types)]
    )
    self.properties, self.attributes = dict(properties), dict(attributes)
    self.location = UNKNOWN_LOC if location is None else location
    if successors:
        self.successors = [*successors]
    self.regions = ()
    for region in regions:
        self.add_region(region)
    self.__post_init__()


def _built(self: IRDLOperation, **given: Any) -> None:
    """Build an op whose values are given as fields hold them; else xDSL does it."""
    fields = None if given.get("successors") else _fields(type(self))
    if fields is None:
        _built_as_xdsl_does(self, **given)
        return
    operands, types, regions = (
        _flat(given.get(name) or (), *part)
        for name, part in zip(("operands", "result_types", "regions"), fields, strict=True)
    )
    if operands is None or types is None or regions is None:
        _built_as_xdsl_does(self, **given)
        return
    Operation.__init__(
        self,
        operands=operands,
        result_types=types,
        properties=_present(given.get("properties")),
        attributes=_present(given.get("attributes")),
        regions=regions,
    )


def _flat(given: Sequence[Any], kind: type, many: Sequence[bool]) -> list[Any] | None:
    """All values of fields, of which some hold many; None where values are given otherwise."""
    if len(given) != len(many):
        return None
    found: list[Any] = []
    for values, holds_many in zip(given, many, strict=True):
        if isinstance(values, kind):
            found.append(values)
            continue
        if not holds_many or not isinstance(values, _LISTS):
            return None
        several: Sequence[Any] = values
        if not all([isinstance(value, kind) for value in several]):
            return None
        found.extend(several)
    return found


_LISTS: Any = (list, tuple, core.OpOperands)


def _present(given: Mapping[str, Attribute | None] | None) -> dict[str, Attribute]:
    return {name: value for name, value in given.items() if value is not None} if given else {}


_Fields = tuple[tuple[type, tuple[bool, ...]], ...]
"""For operands, results and regions the class of a value, and which fields hold many."""


@cache
def _fields(kind: type[IRDLOperation]) -> _Fields | None:
    """The fields of an op; None if the sizes of its lists are written down too."""
    definition = kind.get_irdl_definition()
    if definition.options or definition.successors:
        return None
    parts: Any = {
        SSAValue: definition.operands,
        Attribute: definition.results,
        Region: definition.regions,
    }
    return tuple(
        (value, tuple(_holds_many(field) for _, field in fields)) for value, fields in parts.items()
    )


def _holds_many(field: object) -> bool:
    return isinstance(field, VariadicDef) and not isinstance(field, OptionalDef)


def _with_defaults(self: IRDLOperation) -> None:
    properties, attributes = _defaults(type(self))
    for name, value in properties:
        self.properties.setdefault(name, value)
    for name, value in attributes:
        self.attributes.setdefault(name, value)
    Operation.__post_init__(self)  # where builders wait for new ops


@cache
def _defaults(kind: type[IRDLOperation]) -> tuple[list[Any], list[Any]]:
    """The properties, and the attributes, that an op has where none are given."""
    definition = kind.get_irdl_definition()
    properties, attributes = (
        [
            (name, field.default_value)
            for name, field in fields.items()
            if not isinstance(field, OptionalDef) and field.default_value is not None
        ]
        for fields in (definition.properties, definition.attributes)
    )
    return properties, attributes


def _valid_name(kind: type, name: str | None) -> str | None:
    return None if name is None else _matched(name)


@lru_cache(maxsize=_MOST_VERIFIED)
def _matched(name: str) -> str | None:
    return _matched_as_xdsl_does(name)


# --- What is verified once


_verified = set[Hashable]()
"""Attributes that were verified, with their classes: those without parameters are hashed alike."""


def _verify(self: Any) -> None:
    self._verify()


def _verify_once(self: ParametrizedAttribute) -> None:
    key = type(self), self
    if key in _verified:
        return
    _attribute_verified_as_xdsl_does(self)
    if len(_verified) >= _MOST_VERIFIED:
        _verified.clear()
    _verified.add(key)


def _verify_definition(self: OpDef, op: Operation) -> None:
    """Verify an op as its definition says, if no op of its form was."""
    forms: set[Hashable] = self.__dict__.setdefault("_verified", set())
    form = _form(op)
    if form in forms:
        for trait in self.traits:
            trait.verify(op)
        return
    _verified_as_xdsl_does(self, op)
    if len(forms) >= _MOST_VERIFIED:
        forms.clear()
    forms.add(form)


def _form(op: Any) -> Hashable:
    return (
        tuple([value.type for value in op._operands]),
        tuple([value.type for value in op.results]),
        tuple(op.properties.items()),
        tuple(op.attributes.items()),
        len(op.successors),
        tuple([tuple([block.arg_types for block in region.blocks]) for region in op.regions]),
    )
