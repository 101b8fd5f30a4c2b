# SPDX-License-Identifier: Apache-2.0
"""
Greedy shrinker of graphs that fail: each step keeps a smaller graph if it fails in the same way.

    results    one result instead of several
    nodes      a node without readers, or replaced by one of its operands
    sizes      an axis of an input with 1, 2, or half of its elements
    numbers    0 as the number of a node; float32 as the dtype of an input
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tilewright.tools.fuzz.graphs import Graph, Input, Node, fitting_value, tensors_of
from tilewright.tools.smallest import Attempts

_MOST_ELEMENTS = 1 << 20


def shrunk(graph: Graph, fails: Callable[[Graph], bool]) -> Graph:
    """Return a graph that fails, of which no graph with one thing less does."""
    return Attempts().smallest(graph, _valid_smaller, fails, lambda each: each)


def _valid_smaller(graph: Graph) -> Iterator[Graph]:
    return filter(_is_valid, _smaller(graph))


def _smaller(graph: Graph) -> Iterator[Graph]:
    """Yield graphs with one thing less; those that may lose most come first."""
    if len(graph.results) > 1:
        for result in dict.fromkeys(reversed(graph.results)):
            yield _used(replace(graph, results=(result,)))
    for at in reversed(range(len(graph.nodes))):
        for operand in dict.fromkeys(graph.nodes[at].operands):
            yield _used(_without(graph, at, operand))
    for number, input in enumerate(graph.inputs):
        for smaller in _smaller_inputs(input):
            yield _with_input(graph, number, smaller)
    for at, node in enumerate(graph.nodes):
        if node.number:
            nodes = (*graph.nodes[:at], node._replace(number=0), *graph.nodes[at + 1 :])
            yield replace(graph, nodes=nodes)
    yield from _with_equal_sizes(graph)


def _smaller_inputs(input: Input) -> Iterator[Input]:
    """Yield inputs with an axis less, a smaller axis, or the usual dtype."""
    shape, dtype = input
    for axis, size in enumerate(shape):
        before, after = shape[:axis], shape[axis + 1 :]
        if len(shape) > 1:
            yield Input((*before, *after), dtype)
        for less in _less(size):
            yield Input((*before, less, *after), dtype)
    usual = "float32" if "float" in dtype else "int64"
    if dtype != usual:
        yield Input(shape, usual)


def _with_equal_sizes(graph: Graph) -> Iterator[Graph]:
    """Yield graphs in which all axes of one size are smaller, as operands of products need."""
    sizes = sorted({size for input in graph.inputs for size in input.shape}, reverse=True)
    for size in sizes:
        for less in _less(size):
            inputs = (
                Input(tuple(less if s == size else s for s in shape), dtype)
                for shape, dtype in graph.inputs
            )
            yield replace(graph, inputs=tuple(inputs))


def _less(size: int) -> Sequence[int]:
    return [less for less in dict.fromkeys((1, 2, size // 2, size - 1)) if 0 < less < size]


def _with_input(graph: Graph, number: int, input: Input) -> Graph:
    inputs = (*graph.inputs[:number], input, *graph.inputs[number + 1 :])
    return replace(graph, inputs=inputs)


def _without(graph: Graph, at: int, operand: int) -> Graph:
    """Return a graph without the node `at`, whose readers read the value `operand`."""
    removed = len(graph.inputs) + at

    def renumbered(value: int) -> int:
        value = operand if value == removed else value
        return value - (value > removed)

    return replace(
        graph,
        nodes=_renumbered(graph, at, renumbered),
        results=tuple(map(renumbered, graph.results)),
    )


def _renumbered(graph: Graph, without: int, renumbered: Callable[[int], int]) -> tuple[Node, ...]:
    nodes = (*graph.nodes[:without], *graph.nodes[without + 1 :])
    return tuple(n._replace(operands=tuple(map(renumbered, n.operands))) for n in nodes)


def _used(graph: Graph) -> Graph:
    """Return a graph without nodes that no result needs; inputs stay."""
    needed = {*graph.results}
    first = len(graph.inputs)
    for at in reversed(range(len(graph.nodes))):
        if first + at in needed:
            needed |= {*graph.nodes[at].operands}
        else:
            graph = _without(graph, at, 0)
    return graph


def _is_valid(graph: Graph) -> bool:
    """True if PyTorch computes all values of a graph."""
    values: list[Any] = tensors_of(graph.inputs)
    for node in graph.nodes:
        if (value := fitting_value(node, values, _MOST_ELEMENTS)) is None:
            return False
        values.append(value)
    return True
