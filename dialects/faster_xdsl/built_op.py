# SPDX-License-Identifier: Apache-2.0
"""
Ops built from given parts, without a look at their definition.

xDSL's builder sorts operands, types and regions into the fields of the definition, and reports
parts that do not fit. This takes two thirds of the time to build an op, and verification reports
the same errors. Unnecessary when `irdl_op_definition` generates an `__init__` for each op, as
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
        self._operands = SSAValues(_flat(operands, SSAValue))
        self._operand_uses = tuple([Use(self, at) for at in range(len(self._operands))])
        for operand, use in zip(self._operands, self._operand_uses, strict=True):
            operand.add_use(use)
        types = _flat(result_types, Attribute)
        self.results = SSAValues([OpResult(type, self, at) for at, type in enumerate(types)])
        self.properties = {name: value for name, value in given.items() if value is not None}
        self.attributes = {}
        self.location = UNKNOWN_LOC
        for region in regions:
            if region is not None:
                self.add_region(region)
        self.__post_init__()

    def __post_init__(self) -> None:
        if _has_defaults(type(self)):
            super().__post_init__()  # fills in the defaults


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
