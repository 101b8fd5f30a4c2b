# SPDX-License-Identifier: Apache-2.0
"""Random graphs through the whole compiler: drawn by a seed and a number, checked, and shrunk."""

from collections.abc import Iterator
from importlib import import_module
from random import Random
from time import process_time
from typing import NamedTuple

from tilewright.dialects.target import TARGETS
from tilewright.tools.fuzz.checks import Checked, Failure, Settings, check
from tilewright.tools.fuzz.forked import Lost, TooLongError, forked
from tilewright.tools.fuzz.graphs import Graph, Sizes, random_graph
from tilewright.tools.fuzz.shrink import shrunk

_FEWEST, _MOST = 4, 20
"""Numbers of ops of a graph."""

_SIZES = Sizes((1, 2, 3, 5, 8, 16, 17, 32, 33, 40, 64), 3000)

_DTYPES = (
    ("float32", "float32", "int64"),
    ("float32", "float32", "int32"),
    ("bfloat16", "bfloat16", "int64"),
    ("float16", "float16", "int64"),
    ("float32", "bfloat16", "bool"),
    ("float64", "float32", "uint8"),
)
"""Dtypes of the inputs, of which one row is drawn."""

_PRECISIONS = ("highest", "highest", "high", "medium")

_SECONDS = 300.0
"""Limit of the CPU seconds of a graph, shrinking included."""

_SHRINKING = 120.0
"""CPU seconds after which no smaller graph is tried."""

_GRAPHS = 25
"""Number of graphs that one process checks."""

_BYTES = 8 << 30
"""Limit of the memory of a process."""


class Fuzzed(NamedTuple):
    """Graph of a seed and a number, shrunk if it fails, with the result of its check."""

    number: int
    graph: Graph
    settings: Settings
    checked: Checked


def random_programs(seed: int, numbers: range, jobs: int, schedules: int) -> Iterator[Fuzzed]:
    """
    Yield the graphs of a seed with these numbers, as their checks end in `jobs` processes. Each
    runs with the planner's schedules and with `schedules` random ones.
    """
    _prepare()

    def call(number: int) -> Fuzzed:
        return fuzzed(number, *drawn(seed, number, schedules))

    answers = forked(call, numbers, jobs=jobs, seconds=_SECONDS, bytes=_BYTES, most=_GRAPHS)
    for number, answer in answers:
        if isinstance(answer, Lost):
            yield _lost(number, *drawn(seed, number, schedules), answer.reason)
        else:
            yield answer


def fuzzed(number: int, graph: Graph, settings: Settings) -> Fuzzed:
    """Check a graph. Return it, or the smallest graph found that fails in the same way."""
    start = process_time()
    try:
        checked = check(graph, graph.tensors(), settings)
    except TooLongError:
        return _lost(number, graph, settings, f"the check takes over {_SECONDS:.0f} CPU seconds")
    failure = checked.failure
    if failure is None:
        return Fuzzed(number, graph, settings, checked)

    def fails(smaller: Graph) -> bool:
        if process_time() - start > _SHRINKING:
            return False
        found = check(smaller, smaller.tensors(), settings).failure
        return found is not None and found.kind == failure.kind

    try:
        graph = shrunk(graph, fails)
        checked.failure = check(graph, graph.tensors(), settings).failure or failure
    except TooLongError:
        pass  # the graph is reported as it was drawn
    return Fuzzed(number, graph, settings, checked)


def drawn(seed: int, number: int, schedules: int) -> tuple[Graph, Settings]:
    """Return the graph of a seed and a number, and the settings of its check."""
    random = Random(f"{seed}:{number}")
    graph = random_graph(random, _FEWEST, _MOST, _SIZES, _DTYPES)
    target, precision = random.choice(TARGETS), random.choice(_PRECISIONS)
    return graph, Settings(target, schedules, f"{seed}:{number}", precision)


def _lost(number: int, graph: Graph, settings: Settings, reason: str) -> Fuzzed:
    """Return a graph whose check did not end."""
    return Fuzzed(number, graph, settings, Checked(Failure("no end", reason, reason)))


def _prepare() -> None:
    """Import modules that all graphs need, before processes are forked."""
    import torch

    torch.set_num_threads(1)  # a process with threads cannot be forked
    for name in ("api", "frontend.capture", "interpreters.check", "tuning.space"):
        import_module(f"tilewright.{name}")
