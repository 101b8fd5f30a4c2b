# SPDX-License-Identifier: Apache-2.0
"""
Ops built from given parts, without a look at their definition.

xDSL's builder sorts operands, types and regions into the fields of the definition, and reports
parts that do not fit. This takes two thirds of the time to build an op, and verification reports
the same errors. xDSL's own ops with single operands and results, like arithmetic, are built in
the same way. Unnecessary when `irdl_op_definition` generates an `__init__` for each op, as
`dataclass` does.
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, OpResult, Region, SSAValue, Use
from xdsl.ir.core import SSAValues
from xdsl.irdl import IRDLOperation
from xdsl.irdl.operations import VariadicDef

T = TypeVar("T")


class BuiltOp(IRDLOperation, ABC):
    """
    Base class of ops built directly from operands and results, each a value or a list of any
    length.
    """

    def __init__(
        self,
        *,
        operands: Sequence[SSAValue | Sequence[SSAValue] | None] = (),
        result_types: Sequence[Attribute | Sequence[Attribute]] = (),
        properties: Mapping[str, Attribute | None] | None = None,
        regions: Sequence[Region | None] = (),
    ):
        """
        Build the op from `operands`, `result_types` and `regions`, in the order of their fields.

        Parts and properties that are None are omitted.
        """
        given = properties or {}
        _fill(self, _flat(operands, SSAValue), _flat(result_types, Attribute), given, {}, regions)

    def __post_init__(self) -> None:
        if _has_defaults(type(self)):
            super().__post_init__()  # fills in the defaults


def _fill(
    op: IRDLOperation,
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    properties: Mapping[str, Attribute | None],
    attributes: Mapping[str, Attribute | None],
    regions: Sequence[Region | None] = (),
) -> None:
    """Set all fields of an op that is being built."""
    op._operands = SSAValues(operands)  # pyright: ignore[reportPrivateUsage]
    uses = tuple([Use(op, at) for at in range(len(operands))])
    op._operand_uses = uses  # pyright: ignore[reportPrivateUsage]
    for operand, use in zip(operands, uses, strict=True):
        operand.add_use(use)
    op.results = SSAValues([OpResult(type, op, at) for at, type in enumerate(result_types)])
    op.properties = {name: value for name, value in properties.items() if value is not None}
    op.attributes = {name: value for name, value in attributes.items() if value is not None}
    op.location = UNKNOWN_LOC
    for region in regions:
        if region is not None:
            op.add_region(region)
    op.__post_init__()


_xdsl_init: Any = vars(IRDLOperation)["__init__"]


def init_op(
    self: IRDLOperation,
    *,
    operands: Any = None,
    result_types: Any = None,
    properties: Mapping[str, Attribute | None] | None = None,
    attributes: Mapping[str, Attribute | None] | None = None,
    **others: Any,
) -> None:
    """
    Build an op of xDSL directly if all of its operands and results are single values, as those of
    arithmetic are.
    """
    values, types = operands or (), result_types or ()
    is_single = (
        (len(values), len(types)) == _single_parts(type(self))
        and all(isinstance(value, SSAValue) for value in values)
        and all(isinstance(type, Attribute) for type in types)
    )
    if is_single and not any(others.values()):
        _fill(self, values, types, properties or {}, attributes or {})
        return
    given = {"properties": properties, "attributes": attributes, **others}
    _xdsl_init(self, operands=operands, result_types=result_types, **given)


@cache
def _single_parts(kind: type[IRDLOperation]) -> tuple[int, int] | None:
    """Return the numbers of operands and results; None if an op of `kind` has other parts."""
    definition = kind.get_irdl_definition()
    parts = (*definition.operands, *definition.results)
    if definition.options or definition.regions or definition.successors:
        return None
    if any(isinstance(part, VariadicDef) for _, part in parts):
        return None
    return len(definition.operands), len(definition.results)


def _flat(parts: Sequence[T | Sequence[T] | None], single: type[T]) -> list[T]:
    flat: list[T] = []
    each: Any
    for each in parts:
        if isinstance(each, single):
            flat.append(each)
        elif each is not None:
            flat += each
    return flat


@cache
def _has_defaults(kind: type[IRDLOperation]) -> bool:
    """True if ops of `kind` have properties or attributes with default values."""
    definition = kind.get_irdl_definition()
    fields = (*definition.properties.values(), *definition.attributes.values())
    return any(field.default_value is not None for field in fields)
