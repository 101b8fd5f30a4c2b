# SPDX-License-Identifier: Apache-2.0
"""The class of mutations: one thing that may be wrong with an operation of Kernel IR."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.types import memref_type

Change = Callable[[Operation], None]


class Mutation(NamedTuple):
    """
    A bug that can be planted in an operation: its description, and the function that plants it.
    """

    what: str
    change: Change
    is_of_values: bool = False
    """True if it changes what is computed or accessed, and not what orders threads and copies."""


Rule = Callable[[Any], Iterator[Mutation]]
"""Function that yields the possible mutations of a given operation."""

Rules = Mapping[type[Operation], Sequence[Rule]]


def dropped(op: Operation) -> Iterator[Mutation]:
    """Yield the mutation that removes the operation."""
    yield Mutation("dropped", Operation.detach)


def insert_before(op: Operation, new: Operation) -> None:
    """Insert `new` before `op`."""
    assert op.parent is not None
    op.parent.insert_op_before(new, op)


def is_local(memref: SSAValue) -> bool:
    """True if a buffer is in a thread's registers, which no other thread sees."""
    return memref_type(memref).memory_space == LOCAL
