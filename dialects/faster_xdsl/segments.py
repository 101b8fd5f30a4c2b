# SPDX-License-Identifier: Apache-2.0
"""
Ops with more than one list of operands, such as the indices and the mask of a load.

A property holds the length of each list, as bytes. xDSL packs the lengths whenever it builds an op,
and unpacks them whenever an operand is accessed by name. Here both are cached, because the ops of
loop bodies have few distinct lengths. An op that xDSL parses, clones or builds (`LoadOp.build`) is
identical.

    @segmented
    @irdl_op_definition
    class LoadOp(SegmentedOp): ...

Unnecessary when xDSL caches the packed and unpacked sizes of operand segments.
"""

import struct
from abc import ABC
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, TypeVar

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.core import SSAValues
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.irdl.operations import BaseAttrAccessor, SingleAttrAccessor, VariadicAttrAccessor

from tilewright.dialects.faster_xdsl.built_op import BuiltOp

_SIZES = AttrSizedOperandSegments.attribute_name

OpT = TypeVar("OpT", bound="SegmentedOp")


class SegmentedOp(BuiltOp, ABC):
    """Base class of ops whose operand fields are single values and lists of values."""

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        *,
        operands: Sequence[SSAValue | Sequence[SSAValue]],
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute | None],
    ):
        """
        Build the op as `BuiltOp` does, and record the length of each list among `operands`.

        `operands` are in the order of the declared fields.
        """
        sizes = [1 if isinstance(part, SSAValue) else len(part) for part in operands]
        super().__init__(
            operands=operands,
            result_types=result_types,
            properties={**properties, _SIZES: _packed(tuple(sizes))},
        )


def segmented(op: type[OpT]) -> type[OpT]:
    """
    Decorate an op class so that operands are found by name without unpacking the sizes again.

    Apply it after `irdl_op_definition`, whose accessors it replaces.
    """
    accessors = {
        name: accessor
        for name, accessor in vars(op).items()
        if isinstance(accessor, BaseAttrAccessor) and accessor.option in SegmentedOp.irdl_options
    }
    lists = [a.idx for a in accessors.values() if not isinstance(a, SingleAttrAccessor)]
    for name, accessor in accessors.items():
        is_ahead = accessor.idx < min(lists)
        setattr(op, name, (_FirstOperand if is_ahead else _Operand)(accessor))
    return op


def has_segments(op: Operation) -> bool:
    """True unless the sizes of the op's operand lists are missing or do not match its operands."""
    if not isinstance(op, SegmentedOp):
        return True
    sizes = op.properties.get(_SIZES)
    if not isinstance(sizes, DenseArrayBase) or sizes.parameters[0] != i32:
        return False
    found = _unpacked(sizes.data.data)
    return min(found, default=0) >= 0 and sum(found) == len(op.operands)


def start_of(op: SegmentedOp, segment: int) -> int:
    """
    Return the position of the first operand of a list, or where it would be if the list is empty.
    """
    sizes: Any = op.properties[_SIZES]
    return _spans(sizes.data.data)[segment][0]


class _Operand:
    """Descriptor that returns the operand, or the list of operands, of one field."""

    def __init__(self, accessor: BaseAttrAccessor):
        self._at, self._is_single = accessor.idx, isinstance(accessor, SingleAttrAccessor)
        self._is_list = isinstance(accessor, VariadicAttrAccessor)

    def __get__(self, op: Operation, kind: type[Operation] | None = None) -> Any:
        sizes: Any = op.properties[_SIZES]
        operands = op._operands  # pyright: ignore[reportPrivateUsage]: avoids a view of the tuple
        start, end = _spans(sizes.data.data)[self._at]
        if self._is_single:
            return operands[start]
        if self._is_list:
            return SSAValues(operands[start:end])
        return operands[start] if end > start else None

    def __set__(self, op: Operation, value: object) -> None:
        raise NotImplementedError("an op's operands are replaced through `operands`")


class _FirstOperand(_Operand):
    """Descriptor that returns a single operand ahead of all lists."""

    def __get__(self, op: Operation, kind: type[Operation] | None = None) -> Any:
        return op._operands[self._at]  # pyright: ignore[reportPrivateUsage]


@lru_cache(maxsize=1 << 10)
def _packed(sizes: tuple[int, ...]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, sizes)


@lru_cache(maxsize=1 << 10)
def _spans(sizes: bytes) -> list[tuple[int, int]]:
    """Return the start and end of each list in the tuple of all operands."""
    ends = [*accumulate(_unpacked(sizes))]
    return [*zip([0, *ends], ends)]


@lru_cache(maxsize=1 << 10)
def _unpacked(sizes: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(sizes) // 4}i", sizes)
