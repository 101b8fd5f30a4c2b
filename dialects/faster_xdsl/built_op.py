# SPDX-License-Identifier: Apache-2.0
"""
Ops built from what is given, without a look at their definition.

xDSL's builder sorts operands, types and regions into the fields of the definition, to find those
that do not fit: two thirds of the time that it takes to build an op. Verification finds them too.
Unnecessary when `irdl_op_definition` generates an `__init__` for each op, as `dataclass` does.
"""

from abc import ABC
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypeVar, cast

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

T = TypeVar("T")


class BuiltOp(IRDLOperation, ABC):
    """An op whose operands and results are values and lists of values, of whatever sizes."""

    def __init__(
        self,
        *,
        operands: Sequence[SSAValue | Sequence[SSAValue] | None] = (),
        result_types: Sequence[Attribute | Sequence[Attribute]] = (),
        properties: Mapping[str, Attribute | None] | None = None,
        regions: Sequence[Region | None] = (),
    ):
        """
        Build the op of `operands`, `result_types` and `regions`, in the order of the fields that
        they are for. Parts and properties that are None are left out.
        """
        given = properties or {}
        Operation.__init__(
            self,
            operands=_flat(operands, SSAValue),
            result_types=_flat(result_types, Attribute),
            properties={name: value for name, value in given.items() if value is not None},
            location=UNKNOWN_LOC,
            regions=_flat(regions, Region),
        )

    def __post_init__(self) -> None:
        if _has_defaults(type(self)):
            super().__post_init__()  # it fills them in


def _flat(parts: Sequence[T | Sequence[T] | None], single: type[T]) -> list[T]:
    flat: list[T] = []
    for part in parts:
        if isinstance(part, single):
            flat.append(part)
        elif part is not None:
            flat += cast(Sequence[T], part)
    return flat


@cache
def _has_defaults(kind: type[IRDLOperation]) -> bool:
    """True if ops of `kind` have properties or attributes that need not be given."""
    definition = kind.get_irdl_definition()
    fields = (*definition.properties.values(), *definition.attributes.values())
    return any(field.default_value is not None for field in fields)
