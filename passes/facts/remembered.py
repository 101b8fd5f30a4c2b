# SPDX-License-Identifier: Apache-2.0
"""
What is found out about an op is remembered while nothing changes, so that each of those who ask may
ask for all that he needs:

    @remembered
    def conflicts_of(launch: tile.LaunchOp) -> SlabConflicts: ...

    with Memory() as memory:
        with unchanged(memory):
            conflicts_of(launch)
            conflicts_of(launch)  # what was found before

Elsewhere it is found anew each time: who changes ops need not know who looked at them.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Found = TypeVar("Found")
Asked = ParamSpec("Asked")


class Memory(ExitStack):
    """What has been found out about ops, until it is closed; what is `held` is left then."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[Any, Any] = {}


_memory: ContextVar[Memory | None] = ContextVar("memory", default=None)


@contextmanager
def unchanged(memory: Memory) -> Generator[None]:
    """
    Inside, no op changes that is asked about later, nor has one changed that `memory` knows; new
    ones may be made.
    """
    token = _memory.set(memory)
    try:
        yield
    finally:
        _memory.reset(token)


def remembered(find: Callable[Asked, Found]) -> Callable[Asked, Found]:
    """`find`, which inside `unchanged` is called once for each op, and what else it is given."""

    @wraps(find)
    def found(*asked: Asked.args, **more: Asked.kwargs) -> Found:
        if (memory := _memory.get()) is None:
            return find(*asked, **more)
        key = find, asked, *more.items()
        if key not in memory.found:
            memory.found[key] = find(*asked, **more)
        return memory.found[key]

    return found


def held(
    find: Callable[Asked, AbstractContextManager[Found]],
) -> Callable[Asked, AbstractContextManager[Found]]:
    """`find`, entered once for the same arguments inside `unchanged`, and left with the memory."""

    @contextmanager
    def found(*asked: Asked.args, **more: Asked.kwargs) -> Generator[Found]:
        if (memory := _memory.get()) is None:
            with find(*asked, **more) as value:
                yield value
            return
        key = find, asked, *more.items()
        if key not in memory.found:
            memory.found[key] = memory.enter_context(find(*asked, **more))
        yield memory.found[key]

    return wraps(find)(found)
