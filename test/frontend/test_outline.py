# SPDX-License-Identifier: Apache-2.0
"""Equal layers become one function that is called once for each layer."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from xdsl.dialects.func import CallOp, FuncOp

from tilewright import api
from tilewright.dialects.origin import story
from tilewright.dialects.prim import PredicateOp
from tilewright.frontend.capture import Captured, capture


class Layer(nn.Module):
    def __init__(self, width: int = 8):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.tanh(self.linear(self.norm(x)))


class Model(nn.Module):
    """Model of two layers in a list, and a third layer that is called twice."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.last = Layer()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.last(self.last(x)) * 2


def functions(captured: Captured) -> dict[str, FuncOp]:
    return {op.sym_name.data: op for op in captured.module.ops if isinstance(op, FuncOp)}


def calls(captured: Captured) -> list[CallOp]:
    return [op for op in captured.module.walk() if isinstance(op, CallOp)]


def test_equal_layers_are_one_function() -> None:
    captured = capture(Model(), (torch.randn(2, 8),))
    found = functions(captured)
    assert [*found] == ["main", "layer"]
    assert [op.name for op in found["layer"].body.block.ops] == [
        "torch.layer_norm",
        "torch.linear",
        "torch.tanh",
        "torch.add",
        "func.return",
    ]
    # Each call passes the parameters of its own layer; the last layer's are passed twice.
    first, second, *last = calls(captured)
    assert first.arguments[1].name_hint == "p_layers_0_norm_weight"
    assert second.arguments[1].name_hint == "p_layers_1_norm_weight"
    assert [call.arguments[1].name_hint for call in last] == ["p_last_norm_weight"] * 2
    assert found["layer"].args[1].name_hint == "p_norm_weight"


def test_layers_that_differ_stay() -> None:
    class Different(Model):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layers[1](torch.cat([self.layers[0](x), x]))

    assert calls(capture(Different(), (torch.randn(2, 8),))) == []


def test_one_op_modules_stay_beside_each_other() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8), nn.Tanh())
    assert calls(capture(model, (torch.randn(2, 8),))) == []


def test_layers_with_several_results() -> None:
    class Pair(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = Layer()

        def forward(self, x: torch.Tensor, state: torch.Tensor):
            y = self.layer(x)
            return y, state + y.sum()

    class Chain(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(Pair() for _ in range(3))

        def forward(self, x: torch.Tensor):
            state = torch.zeros(())
            for layer in self.layers:
                x, state = layer(x, state)
            return x, state

    model, x = Chain(), torch.randn(2, 8)
    captured = capture(model, (x,))
    assert len(calls(captured)) >= 2
    for got, expected in zip(api.compile(model, x)(x), model(x), strict=True):
        torch.testing.assert_close(got, expected)


def test_outlined_layers_compute_the_same_at_each_level() -> None:
    model, x = Model(), torch.randn(2, 8)
    captured = api.capture(model, x)
    for level in ("torch", "tensor", "loop", "tile", "kernel"):
        lowered = captured if level == "torch" else api.lower(captured, level)
        inputs = [i.tensor.detach() for i in captured.inputs]
        (got,) = api.interpret(lowered, *inputs)
        torch.testing.assert_close(torch.as_tensor(got), model(x).detach())
    torch.testing.assert_close(api.compile(model, x)(x), model(x).detach())


class Attention(nn.Module):
    """Attention with a mask that all layers share."""

    def __init__(self):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        return x + self.linear(F.scaled_dot_product_attention(y, y, y, mask))


class Window(nn.Module):
    """Attention to the last three positions, by a mask of booleans or of numbers to add."""

    def __init__(self, is_added: bool):
        super().__init__()
        self.layers = nn.ModuleList(Attention() for _ in range(2))
        self.is_added = is_added

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k = torch.arange(9)[:, None], torch.arange(9)
        mask = ((k <= q) & (q - k < 3))[None]
        if self.is_added:
            mask = torch.where(mask, 0.0, torch.finfo(x.dtype).min)
        for layer in self.layers:
            x = layer(x, mask)
        return x


@pytest.mark.one_in(2)
@pytest.mark.parametrize("is_added", [False, True])
def test_a_mask_of_all_layers_is_made_in_each(is_added: bool) -> None:
    model, x = Window(is_added), torch.randn(2, 9, 8)
    captured = capture(model, (x,))
    found = functions(captured)
    assert [op.name for op in found["main"].body.block.ops] == ["func.call"] * 2 + ["func.return"]
    (predicate,) = [op for op in found["attention"].walk() if isinstance(op, PredicateOp)]
    assert "((d1 + (d2 * -1)), (((d1 * -1) + d2) + 2))" in str(predicate.map)
    assert story(predicate.location).startswith("predicate of layers.0: Attention")
    torch.testing.assert_close(api.compile(model, x)(x), model(x).detach())


class UpToPosition(nn.Module):
    """Attention to the keys up to a position that is only known at run time."""

    def __init__(self, mask: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]):
        super().__init__()
        self.layers = nn.ModuleList(Attention() for _ in range(2))
        self.mask = mask

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        mask = self.mask(torch.arange(9)[None, None], position[0] + torch.arange(1))
        for layer in self.layers:
            x = layer(x, mask)
        return x


def window(keys: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    inside = position.new_ones((), dtype=torch.bool) & (keys > position - 3)
    return (inside & (keys <= position[:, None])).expand(2, -1, 9)


def lowest_behind(keys: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    return torch.where(keys <= position, 0.0, torch.finfo(torch.float32).min)


def decaying(keys: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    return torch.exp((keys - position).float())


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mask", [window, lowest_behind])
def test_a_mask_up_to_a_position_is_made_in_each_layer(
    mask: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> None:
    model, x = UpToPosition(mask), torch.randn(2, 9, 8)
    captured = capture(model, (x, torch.tensor([0])))
    found = functions(captured)
    assert [op.name for op in found["main"].body.block.ops] == ["func.call"] * 2 + ["func.return"]
    assert [str(argument.type) for argument in found["attention"].args][-3:].count(
        "tensor<1xi64>"
    ) == 1
    lowered = str(api.lower(captured, "loop"))
    assert "xi1>" not in lowered
    compiled = api.compile(model, x, torch.tensor([0]))
    for place in (0, 5, 8):
        position = torch.tensor([place])
        torch.testing.assert_close(compiled(x, position), model(x, position).detach())


def test_numbers_that_cost_something_stay_in_one_table() -> None:
    model, inputs = UpToPosition(decaying), (torch.randn(2, 9, 8), torch.tensor([5]))
    captured = capture(model, inputs)
    found = functions(captured)
    assert "torch.exp" in [op.name for op in found["main"].body.block.ops]
    assert "torch.exp" not in [op.name for op in found["attention"].body.block.ops]
    torch.testing.assert_close(api.compile(model, *inputs)(*inputs), model(*inputs).detach())


def test_a_mask_that_one_scope_uses_stays_one() -> None:
    def twice(x: torch.Tensor) -> torch.Tensor:
        mask = torch.arange(8)[:, None] >= torch.arange(8)
        return torch.where(mask, x, 0.0) + torch.where(mask, 0.0, x.exp())

    captured = capture(twice, (torch.randn(8, 8),))
    assert sum(isinstance(op, PredicateOp) for op in captured.module.walk()) == 1


def test_one_kernel_serves_all_layers() -> None:
    x = torch.randn(2, 8)
    two, four = (api.lower(api.capture(_stack(layers), x), "cuda") for layers in (2, 4))
    assert len([*two.ops]) == len([*four.ops])


def _stack(layers: int) -> nn.Module:
    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(Layer() for _ in range(layers))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for layer in self.layers:
                x = layer(x)
            return x

    return Stack()
