# SPDX-License-Identifier: Apache-2.0
"""
What is found out about an op is remembered while nothing changes, so that each of those who ask may
ask for all that he needs:

    @remembered
    def conflicts_of(launch: tile.LaunchOp) -> SlabConflicts: ...

    with unchanged():
        conflicts_of(launch)
        conflicts_of(launch)  # what was found before

Elsewhere it is found anew each time: who changes ops need not know who looked at them.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from xdsl.ir import Operation

Found = TypeVar("Found")
Op = TypeVar("Op", bound=Operation)

_found: ContextVar[dict[Any, Any] | None] = ContextVar("found", default=None)


@contextmanager
def unchanged() -> Generator[None]:
    """Inside, no op changes that has been asked about; new ones may be made."""
    token = _found.set({})
    try:
        yield
    finally:
        _found.reset(token)


def remembered(find: Callable[[Op], Found]) -> Callable[[Op], Found]:
    """`find`, which inside `unchanged` is called once for each op."""

    @wraps(find)
    def found(op: Op) -> Found:
        if (known := _found.get()) is None:
            return find(op)
        if (find, op) not in known:
            known[find, op] = find(op)
        return known[find, op]

    return found
