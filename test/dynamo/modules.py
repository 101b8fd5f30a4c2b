# SPDX-License-Identifier: Apache-2.0
"""
Small modules and functions as users compile them, each with calls of one kind and of several kinds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._dynamo import graph_break

Call = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """Callable to compile, with the arguments of its calls."""

    make: Callable[[], Callable[..., Any]]
    calls: list[Call]
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])
    warning: str = ""
    """
    Pattern that each warning about code that runs in PyTorch must match; empty if there must be no
    warning.
    """
    kernels: bool = True
    """True if anything is compiled into kernels."""


def rand(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return random numbers."""
    return torch.randn(*shape).to(dtype)


class Attention(nn.Module):
    """Attention block of a transformer."""

    def __init__(self, causal: bool):
        super().__init__()
        self.norm, self.causal = nn.LayerNorm(8), causal
        self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.qkv(self.norm(x)).view(*x.shape[:2], 3, 2, 4).permute(2, 0, 3, 1, 4)
        values = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return x + self.out(values.transpose(1, 2).flatten(2))


class Model(nn.Module):
    """Embedding, norm, and a head that shares the embedding's weight."""

    def __init__(self):
        super().__init__()
        self.embed, self.norm = nn.Embedding(11, 6), nn.RMSNorm(6)
        self.head = nn.Linear(6, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens: Tensor) -> dict[str, Tensor]:
        hidden = self.norm(self.embed(tokens))
        return {"logits": self.head(hidden), "hidden": hidden}


class Cell(nn.Module):
    """Recurrent cell with its state in buffers."""

    h: Tensor
    c: Tensor

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)
        self.register_buffer("h", torch.zeros(2, 4))
        self.register_buffer("c", torch.zeros(2, 4))

    def forward(self, x: Tensor) -> Tensor:
        h, c = self.cell(x, (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        return h


class Cache(nn.Module):
    """Module that writes a row of a buffer, at a position that is an input."""

    rows: Tensor

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(4, 3))

    def forward(self, row: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
        self.rows.index_copy_(0, at, row)
        return self.rows, self.rows.sum(0)


class Counter(nn.Module):
    """Module that counts calls in a Python number, and in a buffer without axes."""

    steps: Tensor

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.register_buffer("steps", torch.tensor(0))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        self.steps += 1
        return x * self.steps


class Gated(nn.Module):
    """Module whose results depend on its arguments; one result is None."""

    def __init__(self):
        super().__init__()
        self.up = nn.Linear(4, 6)

    def forward(
        self, x: Tensor, *, gate: Tensor | None = None, scale: float = 1.0
    ) -> tuple[Any, ...]:
        y = self.up(x) * scale
        return (y if gate is None else y * torch.sigmoid(gate)), gate, None, x.shape[0], scale


def evaluated(module: nn.Module) -> nn.Module:
    """Return the module in eval mode, with statistics unlike those of a new module."""
    for buffer in module.buffers():
        if buffer.is_floating_point():
            buffer.uniform_(0.5, 1.5)
    return module.eval()


def broken(x: Tensor) -> Tensor:
    """Compute with a graph break, for which Dynamo makes two graphs."""
    y = torch.relu(x) + 1
    graph_break()
    return y.sum(0) * 2


def depends(x: Tensor) -> Tensor:
    """Branch on a value, which Dynamo reads in the middle."""
    return x * 2 if x.sum() > 0 else x - 1


def sort_inside(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    """Call an operator that the compiler does not support, between some that it does."""
    h = torch.relu(x @ w)
    values, places = torch.topk(h, 2)
    return torch.exp(values).sum(-1), places + 1


def sort_only(x: Tensor) -> Tensor:
    """Call only an operator that the compiler does not support."""
    return torch.sort(x)[0]


def complex_inside(x: Tensor) -> Any:
    """Compute with tensors of a dtype that the compiler does not support."""
    fft: Any = torch.fft
    return fft.rfft(x * 2).abs() + 1


def views(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    """Return outputs that are inputs, or share memory with them or with each other."""
    z = x + y
    return x, x.view(-1), x.t()[1:], z, z.t(), z[0], z.narrow(0, 1, 1), y.unsqueeze(0)


def only_views(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return views only, which need no kernel."""
    return x.t(), x[0]


def write(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Write to an input, and return its new value."""
    x.mul_(2)
    x[0] += y[0]
    return x.t(), x.sum()


def write_copy(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Write equal values to an input and to an output, which do not share memory."""
    z = x * 2 + y
    x.copy_(z)
    return z, z.t()


def write_part(x: Tensor, y: Tensor) -> Tensor:
    """Write to a view of an input."""
    x[1:].zero_()
    x[:, :1].add_(y[:, :1])
    return y * 2


def numbers(x: Tensor, scale: float, power: int, flag: bool, name: str) -> Tensor:
    """Compute with numbers, flags and texts."""
    y = x * scale + power
    return (y if flag else -y) + len(name)


def dtypes(x: Tensor) -> tuple[Tensor, ...]:
    """Return results of several dtypes."""
    return x > 0, x.argmax(-1), x.to(torch.int32), x.sum().double(), (x > 0).any()


def nested(inputs: dict[str, Any]) -> dict[str, Any]:
    """Compute with nested inputs, and return nested results."""
    first, (second, third) = inputs["a"], inputs["b"]
    return {"sum": first + second, "rest": [third * 2, {"one": 1, "none": None}]}


def rows_at(x: Tensor, at: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return views at subscripts that are tensors, one of them computed."""
    return x[at], x[:, at - 1], x[at].sin()


def only_row_at(x: Tensor, at: Tensor) -> Tensor:
    """Return a view at a subscript that is a tensor."""
    return x[at]


def write_row_at(x: Tensor, at: Tensor) -> tuple[Tensor, Tensor]:
    """Write to a row, then to its subscript."""
    row = x[at].add_(1)
    return row, at.add_(1)


def unnamed_views(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    """Return views and unchanged inputs of operators whose schemas do not declare that."""
    torch.einsum("ii->i", x).zero_()
    nn.functional.dropout(x, 0.0).add_(1)
    same = nn.functional.dropout(y, 0.5, training=False)
    return same, torch.einsum("ij->ji", x), torch.einsum("ii->i", y), x * 2


def write_unnamed(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    """
    Return views that no schema declares: two of a written input, and one of a tensor that is copied
    into another input.
    """
    x.add_(1)
    new = y + 1
    y.copy_(new)
    kept = nn.functional.dropout(nn.functional.dropout(x, 0.5, False).T, 0.5, False)
    return kept, torch.einsum("ij->ji", x), nn.functional.dropout(new, 0.5, False)


def strided(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return results with the strides of the input."""
    return torch.relu(x), x + 1


_EXPORTS_READS = torch.__version__ >= "2.13"
"""True if PyTorch can export `x[p]`, where it reads the value of a tensor `p`."""

_READ = "a number is read from a tensor" if _EXPORTS_READS else "depends on the values of a tensor"

_AT: list[Call] = [(rand(4, 3), torch.tensor(n)) for n in (2, 1, -1)]

CASES: dict[str, Case] = {
    "mlp": Case(
        lambda: nn.Sequential(nn.Linear(5, 7), nn.GELU(), nn.Linear(7, 3)),
        [(rand(2, 5),), (rand(2, 5),), (rand(4, 5),), (rand(6, 5),), (rand(1, 5),)],
    ),
    "conv": Case(
        lambda: evaluated(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())),
        [(rand(2, 3, 6, 6),), (rand(2, 3, 6, 6).to(memory_format=torch.channels_last),)],
    ),
    "attention": Case(lambda: Attention(False), [(rand(2, 5, 8),), (rand(1, 3, 8),)]),
    "causal attention": Case(lambda: Attention(True), [(rand(2, 5, 8),)]),
    "encoder layer": Case(
        lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(),
        [(rand(2, 5, 8),)],
        warning=r"a graph runs .*_transformer_encoder_layer_fwd.*set_fastpath_enabled\(False\)",
        kernels=False,
    ),
    "language model": Case(Model, [(torch.tensor([[1, 2, 3]]),), (torch.tensor([[4, 10, 0]]),)]),
    "lstm cell": Case(Cell, [(rand(2, 3),), (rand(2, 3),)]),
    "lstm that Dynamo leaves alone": Case(
        lambda: nn.LSTM(3, 4, batch_first=True), [(rand(2, 3, 3),)], kernels=False
    ),
    "cache": Case(Cache, [(rand(1, 3), torch.tensor([n])) for n in (0, 2)]),
    "counter": Case(Counter, [(rand(3),), (rand(3),), (rand(3),)]),
    "keywords": Case(Gated, [(rand(2, 4),), (rand(3, 4),)], {"gate": rand(1, 6), "scale": 0.5}),
    "nothing": Case(Gated, [(rand(2, 4),)]),
    "training mode": Case(
        lambda: nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.ReLU()),
        [(rand(3, 4),), (rand(3, 4),)],
        warning="training mode",
    ),
    "graph break": Case(lambda: broken, [(rand(3, 4),), (rand(2, 4),)]),
    "branch": Case(lambda: depends, [(torch.ones(3),), (-torch.ones(3),)]),
    "topk": Case(
        lambda: sort_inside, [(rand(3, 4), rand(4, 5))] * 2 + [(rand(2, 4), rand(4, 5))],
        warning=r"aten.topk.default \(node topk\) is not supported: there is no sorting",
    ),
    "sort": Case(lambda: sort_only, [(rand(3, 4),)], warning="a graph runs .* sort", kernels=False),
    "complex": Case(lambda: complex_inside, [(rand(3, 4),)], warning="complex"),
    "views": Case(lambda: views, [(rand(3, 3), rand(3, 3)), (rand(4, 3), rand(4, 3))]),
    "only views": Case(lambda: only_views, [(rand(2, 3),)], kernels=False),
    "unnamed views": Case(lambda: unnamed_views, [(rand(3, 3), rand(3, 3))] * 2),
    "write unnamed": Case(lambda: write_unnamed, [(rand(2, 3), rand(2, 3))]),
    "write": Case(lambda: write, [(rand(2, 3), rand(2, 3)), (rand(4, 3), rand(4, 3))]),
    "write a copy": Case(lambda: write_copy, [(rand(2, 2), rand(2, 2))]),
    "write a part": Case(lambda: write_part, [(rand(3, 2), rand(3, 2))]),
    "rows at": Case(lambda: rows_at, _AT, warning=_READ, kernels=_EXPORTS_READS),
    "only a row at": Case(lambda: only_row_at, _AT, warning=_READ, kernels=False),
    "write a row at": Case(
        lambda: write_row_at,
        _AT,
        warning="a part of an input that it writes" if _EXPORTS_READS else _READ,
        kernels=False,
    ),
    "numbers": Case(
        lambda: numbers,
        [(rand(3), s, p, f, "ab") for s, p, f in
         ((0.5, 2, True), (0.25, 2, True), (-0.0, 3, False), (1.5, 5, True))],
    ),
    "dtypes": Case(lambda: dtypes, [(rand(2, 3),), (rand(2, 3, dtype=torch.bfloat16),)]),
    "half": Case(
        lambda: nn.Linear(4, 3).half(), [(rand(2, 4, dtype=torch.float16),)]
    ),
    "nested": Case(lambda: nested, [({"a": rand(2), "b": (rand(2), rand(3))},)]),
    "no axes": Case(lambda: strided, [(torch.tensor(2.0),), (torch.tensor(-1.0),)]),
    "empty": Case(lambda: strided, [(rand(0, 3),), (rand(2, 0),)]),
    "strided": Case(
        lambda: strided,
        [(rand(3, 4).t(),), (rand(4, 3),), (rand(8, 3)[::2],), (rand(4, 1).expand(4, 3),)],
    ),
    "bool": Case(lambda: torch.logical_and, [(rand(3) > 0, rand(3) > 0)]),
    "integers": Case(lambda: torch.add, [(torch.arange(3), torch.arange(3)), (torch.arange(5), 2)]),
}  # fmt: skip
