# SPDX-License-Identifier: Apache-2.0
"""Calls that a program repeats are traced once; layers that only look equal stay different."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from unittest.mock import Mock

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tilewright.frontend import export, repeated_calls
from tilewright.frontend.capture import Captured, capture

Tensor = torch.Tensor


class Layer(nn.Module):
    """Layer that computes the function that a test passes."""

    def __init__(self, compute: Callable[["Layer", Tensor], Tensor], number: int):
        super().__init__()
        self.compute, self.number = compute, number
        self.linear = nn.Linear(8, 8)
        self.shift: Tensor
        self.row: Tensor
        self.register_buffer("shift", torch.full((8,), float(number)))
        self.register_buffer("row", torch.tensor(number))

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(self.compute(self, x))


class Model(nn.Module):
    def __init__(self, compute: Callable[[Layer, Tensor], Tensor], layers: int = 3):
        super().__init__()
        self.layers = nn.ModuleList(Layer(compute, number) for number in range(layers))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def text(captured: Captured) -> list[str]:
    """Return the IR, and the location of each op."""
    return [str(captured.module), *(str(op.location) for op in captured.module.walk())]


def traced(make: Callable[[], nn.Module], monkeypatch: pytest.MonkeyPatch) -> tuple[Captured, int]:
    """
    Return a captured module and the number of copied calls, after a check that the IR equals that
    of a trace without copies.
    """
    x = torch.randn(4, 8)
    with monkeypatch.context() as patch:
        patch.setattr(export, "repeated_calls", lambda module: nullcontext())  # pyright: ignore
        expected = capture(make(), (x,))
    with monkeypatch.context() as patch:
        copied: Any = repeated_calls._Call.copied  # pyright: ignore[reportPrivateUsage]
        count = Mock(side_effect=lambda *args: copied(*args))  # pyright: ignore
        patch.setattr(repeated_calls._Call, "copied", lambda *args: count(*args))  # pyright: ignore
        found = capture(make(), (x,))
    assert text(found) == text(expected)
    return found, count.call_count


def test_equal_layers_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    def compute(layer: Layer, x: Tensor) -> Tensor:
        a, b = layer.linear(x).chunk(2, -1)  # views; the second has an offset
        return torch.cat([b.T.reshape(4, 4), a], -1) + layer.shift

    _, copied = traced(lambda: Model(compute), monkeypatch)
    # linear, chunk, T, reshape, cat, add and relu are called; T is an attribute, which is always
    # traced.
    assert copied == 2 * 6


def a_number(layer: Layer, x: Tensor) -> Tensor:
    return layer.linear(x) * layer.number


def a_branch(layer: Layer, x: Tensor) -> Tensor:
    return layer.linear(x) if layer.number % 2 else layer.linear(x.tanh())


def what_is_written(layer: Layer, x: Tensor) -> Tensor:
    y = layer.linear(x)
    y.add_(layer.shift)
    return y.unsqueeze_(0).squeeze(0)


def what_is_written_shows_in_views(layer: Layer, x: Tensor) -> Tensor:
    y = layer.linear(x)
    half = y[layer.row].reshape(2, 4)[0]
    y.mul_(2)
    half.add_(1)
    return y + half.repeat(2)


def another_dtype(layer: Layer, x: Tensor) -> Tensor:
    dtype = torch.float16 if layer.number == 1 else torch.float32
    return layer.linear(x.to(dtype).float())


def autocast(layer: Layer, x: Tensor) -> Tensor:
    with torch.autocast("cpu", torch.bfloat16, enabled=layer.number == 1):
        return layer.linear(x).float()


def a_default(layer: Layer, x: Tensor) -> Tensor:
    torch.set_default_dtype(torch.float64 if layer.number == 1 else torch.float32)
    try:
        return layer.linear(x) + torch.ones(8).float() * 2
    finally:
        torch.set_default_dtype(torch.float32)


def another_order(layer: Layer, x: Tensor) -> Tensor:
    y = layer.linear(x)
    return torch.sub(x, y) if layer.number else torch.sub(y, x)


def the_same_twice(layer: Layer, x: Tensor) -> Tensor:
    y = layer.linear(x)
    return torch.mul(y, y if layer.number == 1 else x)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "compute",
    [
        a_number,
        a_branch,
        what_is_written,
        what_is_written_shows_in_views,
        another_dtype,
        autocast,
        a_default,
        another_order,
        the_same_twice,
    ],
)
def test_layers_that_differ_stay_different(
    compute: Callable[[Layer, Tensor], Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, copied = traced(lambda: Model(compute), monkeypatch)
    assert copied > 0


def test_a_closure_may_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> Model:
        calls: list[int] = []

        def compute(layer: Layer, x: Tensor) -> Tensor:
            calls.append(len(calls))
            return layer.linear(x) * len(calls)

        return Model(compute)

    captured, _ = traced(make, monkeypatch)
    assert [f"other {factor} " in str(captured.module) for factor in (1, 2, 3)] == [True] * 3


def test_a_layer_may_have_a_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> Model:
        model = Model(lambda layer, x: layer.linear(x))
        model.layers[1].register_forward_hook(lambda module, args, result: result + 1)  # pyright: ignore
        return model

    captured, _ = traced(make, monkeypatch)
    assert str(captured.module).count("torch.add") == 1


def test_layers_may_share_a_weight(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> Model:
        model = Model(lambda layer, x: layer.linear(x))
        first, _, last = model.layers
        assert isinstance(first, Layer) and isinstance(last, Layer)  # noqa: PT018
        last.linear.weight = first.linear.weight
        return model

    captured, _ = traced(make, monkeypatch)
    assert len([i for i in captured.inputs if i.name.endswith("linear.weight")]) == 2


def test_a_value_may_be_read_at_trace_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> Model:
        model = Model(lambda layer, x: layer.linear(x) * int(layer.power))  # pyright: ignore
        for number, layer in enumerate(model.layers):
            layer.power = torch.tensor(number + 5)  # not a buffer: its value is known
        return model

    captured, _ = traced(make, monkeypatch)
    assert [f"other {factor} " in str(captured.module) for factor in (5, 6, 7)] == [True] * 3


def test_constants_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def compute(layer: Layer, x: Tensor) -> Tensor:
        return F.embedding(torch.tensor([0, 2, 1, 5]), layer.linear.weight) + x

    traced(lambda: Model(compute), monkeypatch)
