# SPDX-License-Identifier: Apache-2.0
"""
Postorder traversal without recursion: a result for each value follows from its operands' results.

    for each in needed_first(value, known, operands_of):
        known[each] = ...  # the results of its operands are in `known` already

A recursive function fails on chains of a thousand operations, Python's default recursion limit.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from typing import TypeVar

from xdsl.ir import Operation, SSAValue

Item = TypeVar("Item")


def needed_first(
    item: Item, known: Container[Item], needs: Callable[[Item], Iterable[Item]]
) -> Iterator[Item]:
    """
    Yield `item` and everything it needs, in postorder, without the items that are `known`.

    The caller must add each yielded item to `known` before it asks for the next one.
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
    """Return the operands of the op that defines `value`; none for a block argument."""
    return value.owner.operands if isinstance(value.owner, Operation) else ()
