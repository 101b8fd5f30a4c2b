# SPDX-License-Identifier: Apache-2.0
"""
A cache of facts about ops, valid while no op changes. Every caller can therefore ask for all facts
that it needs:

    @memoised
    def conflicts_of(launch: tile.LaunchOp) -> SlabConflicts: ...

    with Memory() as memory:
        with unchanged(memory):
            conflicts_of(launch)
            conflicts_of(launch)  # what was found before

Outside of `unchanged` facts are computed anew each time: code that changes ops need not invalidate
any cache.
"""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

Found = TypeVar("Found")
Arguments = ParamSpec("Arguments")


class Memory(ExitStack):
    """
    Cache of facts about ops. When it is closed, the contexts that `held` functions have entered are
    left.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[Any, Any] = {}


_memory: ContextVar[Memory | None] = ContextVar("memory", default=None)


@contextmanager
def unchanged(memory: Memory) -> Generator[None]:
    """
    Use `memory` as the cache inside this context. Ops whose facts are asked for must not change
    inside it, nor may they have changed since their facts entered the cache. New ops may be
    created.
    """
    token = _memory.set(memory)
    try:
        yield
    finally:
        _memory.reset(token)


def memoised(find: Callable[Arguments, Found]) -> Callable[Arguments, Found]:
    """
    Return a function that calls `find`, and inside `unchanged` caches its results by its arguments.
    """

    @wraps(find)
    def found(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Found:
        if (memory := _memory.get()) is None:
            return find(*args, **kwargs)
        key = find, args, *kwargs.items()
        if key not in memory.found:
            memory.found[key] = find(*args, **kwargs)
        return memory.found[key]

    return found


def held(
    find: Callable[Arguments, AbstractContextManager[Found]],
) -> Callable[Arguments, AbstractContextManager[Found]]:
    """
    Return a context manager like `find`. Inside `unchanged` the context of `find` is entered once
    for equal arguments, and left only when the memory is closed.
    """

    @contextmanager
    def found(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Generator[Found]:
        if (memory := _memory.get()) is None:
            with find(*args, **kwargs) as value:
                yield value
            return
        key = find, args, *kwargs.items()
        if key not in memory.found:
            memory.found[key] = memory.enter_context(find(*args, **kwargs))
        yield memory.found[key]

    return wraps(find)(found)
