# SPDX-License-Identifier: Apache-2.0
"""
Obligations of an op, by a table of one function for each kind of op.

Ops that only compute values have none. Every other op that is not in the table is not covered: it
is named and counted, and its kernel is not proved.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation
from xdsl.traits import is_side_effect_free

from tilewright.proof.answer import Obligation
from tilewright.proof.points import NotCoveredError

Table = Mapping[type[Operation], Callable[[Any], Iterator[Obligation]]]


def obligations_by(table: Table, op: Operation) -> Iterator[Obligation]:
    """Yield the obligations of an op; raises `NotCoveredError` if there are others than known."""
    if (generate := table.get(type(op))) is not None:
        yield from generate(op)
    elif not _only_computes(op):
        raise NotCoveredError(op.name)


def _only_computes(op: Operation) -> bool:
    has_memory = any(isinstance(value.type, MemRefType) for value in (*op.operands, *op.results))
    return is_side_effect_free(op) and not op.regions and not has_memory
