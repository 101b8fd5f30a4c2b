# SPDX-License-Identifier: Apache-2.0
"""Driver that launches nothing, for measuring the host's work before a launch."""

from collections.abc import Sequence
from typing import Any

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.runtime.driver import Arguments, Bound, Memory


class _Nothing:
    """Bound launch, fill or graph that does nothing when it is called."""

    nodes: Sequence[Any] = ()

    def __init__(self, name: str):
        self.name = name

    def __call__(self, stream: int) -> None:
        pass

    def update(self, step: int, bound: Bound) -> None:
        pass


class _NullFunction:
    registers = 0
    local_bytes = 0

    def clusters(self, launch: Launch) -> int | None:
        return None

    def blocks_per_sm(self, launch: Launch) -> int | None:
        return None

    def bind(self, launch: Launch, arguments: Arguments) -> Bound:
        return _Nothing(launch.kernel)


class _NullModule:
    def function(self, name: str, dynamic_shared_bytes: int) -> _NullFunction:
        return _NullFunction()


class NullDriver:
    """Driver for CPU memory that accepts every call and does nothing."""

    name = "null"
    device = "cpu"

    def load(self, source: str, target: str) -> _NullModule:
        return _NullModule()

    def compile_ahead(self, sources: Sequence[str], target: str) -> None:
        pass

    def bind_fill(self, memory: Memory, value: float | int, name: str = "a fill") -> Bound:
        return _Nothing(name)

    def graph(self, steps: Sequence[Bound]) -> _Nothing:
        return _Nothing("a graph")

    def enter(self) -> None:
        pass

    def leave(self) -> None:
        pass

    def capture(self, stream: int) -> int:
        return 0

    def synchronize(self, stream: int) -> None:
        pass
