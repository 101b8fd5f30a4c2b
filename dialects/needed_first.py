# SPDX-License-Identifier: Apache-2.0
"""
The order in which to find something of many values, each of which follows from others.

    for each in needed_first(value, known, operands_of):
        known[each] = ...  # what its operands come to is known

A function that calls itself for each operand fails on chains of a thousand operations, which is how
deep Python lets calls go.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TypeVar

from xdsl.ir import Operation, SSAValue

Item = TypeVar("Item")


def needed_first(
    item: Item, known: Container[Item], needs: Callable[[Item], Iterable[Item]]
) -> Iterator[Item]:
    """
    `item` and all that it needs, each after what it needs itself; but not what is `known`, to which
    whoever asks adds each one before the next.
    """
    pending = [item]
    while pending:
        last = pending[-1]
        missing = [] if last in known else [each for each in needs(last) if each not in known]
        if missing:
            pending += missing
            continue
        pending.pop()
        if last not in known:
            yield last


def operands_of(value: SSAValue) -> Sequence[SSAValue]:
    """What a value is computed of."""
    return value.owner.operands if isinstance(value.owner, Operation) else ()
