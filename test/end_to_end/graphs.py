# SPDX-License-Identifier: Apache-2.0
"""Graphs of ops drawn at random: values with several readers, and several results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

Tensor = torch.Tensor
Shape = tuple[int, ...]

# Values stay near 1, so that an error in one of them is not lost in another.
_UNARY: dict[str, Callable[[Tensor], Tensor]] = {
    "sin": torch.sin,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "neg": torch.neg,
    "exp": lambda x: torch.exp(-x.abs()),
    "turned": lambda x: x.transpose(0, -1),
    "rows": lambda x: x[: max(x.shape[0] // 2, 1)],
    "padded": lambda x: torch.nn.functional.pad(x, (1, 0)),
    "mean": lambda x: x.mean(-1, keepdim=True),
    "columns": lambda x: x.mean(0, keepdim=True),
    "largest": lambda x: x.amax(-1, keepdim=True),
    "softmax": lambda x: x.softmax(-1),
    "softmax of columns": lambda x: x.softmax(0),
    "norm": lambda x: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 0.1),
    "sums so far": lambda x: x.cumsum(-1) / x.shape[-1],
}
_BINARY: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "add": lambda x, y: (x + y) / 2,
    "sub": lambda x, y: (x - y) / 2,
    "mul": lambda x, y: torch.tanh(x) * y,
    "maximum": torch.maximum,
    "joined": lambda x, y: torch.cat((x, y), 0),
    "product": lambda x, y: x @ y.transpose(0, 1) / x.shape[1],
}


@dataclass(frozen=True)
class Graph:
    """Ops on two inputs of rank 2; each reads what is before it, by position."""

    inputs: tuple[Shape, Shape]
    nodes: tuple[tuple[str, tuple[int, ...]], ...]
    results: tuple[int, ...]

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """What it computes."""
        values = [*inputs]
        for name, operands in self.nodes:
            values.append(_apply(name, [values[i] for i in operands]))
        return tuple(values[i] for i in self.results)

    def examples(self) -> list[Tensor]:
        """Inputs, the same every time."""
        generator = torch.Generator().manual_seed(0)
        return [torch.randn(shape, generator=generator) for shape in self.inputs]


def _apply(name: str, operands: Sequence[Tensor]) -> Tensor:
    function: Callable[..., Any] = _UNARY[name] if len(operands) == 1 else _BINARY[name]
    return function(*operands)


@st.composite
def graphs(draw: DrawFn, least: int, most: int) -> Graph:
    """A graph of `least` to `most` ops."""
    size = st.sampled_from([1, 2, 3, 5, 8])
    inputs = (draw(st.tuples(size, size)), draw(st.tuples(size, size)))
    shapes: list[Shape] = [*inputs]
    nodes: list[tuple[str, tuple[int, ...]]] = []
    for _ in range(draw(st.integers(least, most))):
        x = draw(st.integers(0, len(shapes) - 1))
        name, operands = draw(st.sampled_from(_choices(shapes, x)))
        metas = [torch.empty(shapes[i], device="meta") for i in operands]
        shapes.append(tuple(_apply(name, metas).shape))
        nodes.append((name, operands))
    results = draw(st.sets(st.integers(2, len(shapes) - 1), min_size=1, max_size=4))
    return Graph(inputs, tuple(nodes), tuple(sorted({*results, len(shapes) - 1})))


def _choices(shapes: Sequence[Shape], x: int) -> list[tuple[str, tuple[int, ...]]]:
    """What can be done to value `x`, with another where that fits."""
    rows, columns = shapes[x]
    found = [(name, (x,)) for name in _UNARY if name != "padded" or columns < 12]
    for y, (others, width) in enumerate(shapes):
        if others in (1, rows) and width in (1, columns):
            found += [(name, (x, y)) for name in ("add", "sub", "mul", "maximum")]
        if width == columns and rows + others < 20:
            found += [("joined", (x, y))]
        if width == columns:
            found += [("product", (x, y))]
    return found
