# SPDX-License-Identifier: Apache-2.0
"""
In-place writes of a program: new values are returned first, and written back to inputs and buffers.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils import _pytree as pytree

from tilewright.arrays import as_array, dtype_named
from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.call import Call
from tilewright.frontend.capture import Captured, capture
from tilewright.frontend.export import export
from tilewright.frontend.expression import parse_expression
from tilewright.frontend.in_place_writes import write_back
from tilewright.frontend.reference import eager, reference
from tilewright.frontend.signature import inputs_of, outputs_of


class State(nn.Module):
    """Module that keeps its last input, and counts its inputs."""

    def __init__(self):
        super().__init__()
        self.last: torch.Tensor
        self.total: torch.Tensor
        self.count: torch.Tensor
        self.register_buffer("last", torch.zeros(3))
        self.register_buffer("total", torch.zeros(3), persistent=False)
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor):
        self.last.copy_(x)
        self.total += x
        self.count += 1
        self.weight.mul_(2)
        return x * self.total, self.count


def both(x: torch.Tensor, y: torch.Tensor):
    """Write to both inputs."""
    x.add_(y)
    y.mul_(x)
    return {"x": x, "sum": x + y}


def nested(cache: dict[str, torch.Tensor], y: torch.Tensor):
    """Write to one of several tensors, and return nothing."""
    cache["v"].mul_(y)


def view(x: torch.Tensor):
    """Write to a part of the input."""
    first = x.unsqueeze(0)
    first.neg_()
    return first


@pytest.mark.one_in(3)
@pytest.mark.parametrize("function", [both, nested, view], ids=lambda f: f.__name__)
@pytest.mark.parametrize("arrays", [False, True])
def test_inputs_are_written_as_eager_does(function: Callable[..., Any], arrays: bool):
    first: Any = torch.randn(3)
    args: tuple[Any, ...] = {
        both: (first, torch.randn(3)),
        nested: ({"k": torch.randn(3), "v": first}, torch.randn(3)),
        view: (first,),
    }[function]
    expected, ours = copy.deepcopy(args), copy.deepcopy(args)
    result = function(*expected)
    captured = capture(function, args)
    assert torch.equal(args[0]["v"] if function is nested else args[0], first)
    if arrays:
        ours = pytree.tree_map(as_array, ours)
    call = Call(captured, ours, {})
    got = call.results(eager(captured, [as_array(value) for value in call.values()]))
    assert pytree.tree_structure(got) == pytree.tree_structure(result)
    pairs = zip(
        pytree.tree_leaves((got, ours)), pytree.tree_leaves((result, expected)), strict=True
    )
    for one, other in pairs:
        np.testing.assert_array_equal(one, other)


def test_buffers_and_parameters_are_written():
    module, x = State(), torch.tensor([1.0, 2.0, 3.0])
    twin = copy.deepcopy(module)
    captured = capture(module, (x,))
    assert module.count == 0
    assert [i.name for i in captured.mutated] == ["weight", "last", "total", "count"]
    for _ in range(2):
        call = Call(captured, (x,), {})
        got = call.results(eager(captured, [as_array(value) for value in call.values()]))
        with torch.no_grad():
            expected = twin(x)
        torch.testing.assert_close(got, expected)
    for name in ("last", "total", "count", "weight"):
        torch.testing.assert_close(getattr(module, name), getattr(twin, name))
    assert module.count == 2


def main(captured: Captured) -> str:
    """Return the signature of the function."""
    return str(captured.module).splitlines()[1]


def test_the_ir_names_the_written_inputs():
    captured = capture(both, (torch.randn(3), torch.randn(3)))
    results = main(captured).partition("->")[2]
    assert results == (
        ' (tensor<3xf32> {torch.mutates = "x"}, tensor<3xf32> {torch.mutates = "y"}, '
        "tensor<3xf32>, tensor<3xf32>) {"
    )
    assert 'torch.name = "last"' in main(capture(State(), (torch.ones(3),)))
    assert "torch.mutates" not in main(capture(torch.exp, (torch.ones(3),)))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "text",
    [
        "x = torch.randn(3); x.add_(1)",
        "x = torch.randn(3); x.add_(1); x",
        "x = torch.randn(3); x += 1; x * 2",
        "x = torch.randn(3); y = x; y.mul_(2); x",
        "torch.randn(3).add_(1)",
        "x = torch.randn(3); y = torch.randn(3); x.unsqueeze(0).add_(y); x.relu()",
        "x = torch.randn(3)\nfor i in range(3): x.mul_(i + 1)\nx",
        "x, y = torch.randn(3), torch.randn(3)\nx.mul_(y); y.neg_()\n(x, y)",
    ],
)
def test_expressions_that_write(text: str):
    expression = parse_expression(text, seed=1)
    captured = capture(expression.module, expression.args)
    inputs = [i.tensor.clone() for i in captured.inputs]
    results = eager(captured, inputs)
    exact = reference(captured, inputs)
    expected = parse_expression(text, seed=1)
    value: Any = expected.module(*expected.args)
    written = [t for t, i in zip(expected.args, captured.inputs, strict=True)
               if i in captured.mutated]  # fmt: skip
    returned: list[Any] = [*value] if isinstance(value, tuple) else [value]
    assert len(results) == len(exact) == len(written) + len(returned)
    for got, want in zip(results, [*written, *returned], strict=True):
        np.testing.assert_array_equal(got, want.numpy())


class Cache(nn.Module):
    """Keys of attention, written at one position or at several."""

    def __init__(self):
        super().__init__()
        self.keys: torch.Tensor
        self.register_buffer("keys", torch.zeros(2, 5, 3))
        self.norm = nn.BatchNorm1d(3)

    def forward(self, y: torch.Tensor, at: torch.Tensor, values: torch.Tensor):
        self.keys[:, 3] = y
        values.index_copy_(1, at, self.norm(y)[:, None])
        return values.sum(1)


def test_parts_of_a_cache_are_written():
    inputs = (torch.randn(2, 3), torch.tensor([1]), torch.zeros(2, 4, 3))
    program = export(Cache(), inputs, {})
    arguments = inputs_of(program)
    outputs = outputs_of(program, arguments)
    written = [output.mutates.name for output in outputs if output.mutates is not None]
    assert written == ["keys", "values"]  # in eval mode the norm counts nothing
    assert len(outputs) == 3
    assert all(output.is_tensor for output in outputs)


def frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the array, made read-only."""
    array.flags.writeable = False
    return array


def test_what_cannot_be_written_is_refused():
    captured = capture(view, (torch.zeros(3),))
    with torch.inference_mode():
        inference = torch.zeros(3)
    for value, reason in (
        (frozen(np.zeros(3, np.float32)), "input 'x', which is read-only"),
        (torch.zeros(1).expand(3), "elements that share memory with each other"),
        (inference, "made in inference mode"),
    ):
        with pytest.raises(UsageError, match=reason):
            Call(captured, (value,), {})


def test_a_written_input_must_not_share_memory():
    x, y = torch.zeros(3), torch.zeros(4)
    captured = capture(both, (x, y[:3]))
    for pair in ((y[:3], y[1:]), (x, x), (x.numpy(), x)):
        with pytest.raises(UsageError, match=r"'x', which shares memory with 'y' \(pass a copy\)"):
            Call(captured, pair, {})
    both_halves = torch.zeros(3, 2)
    Call(captured, (both_halves[:, 0], both_halves[:, 1]), {})
    with pytest.raises(UnsupportedError, match="two inputs share memory"):
        capture(both, (x, x))


def test_what_is_no_buffer_is_not_written():
    class Plain(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = torch.zeros(3)

        def forward(self, x: torch.Tensor):
            self.table.add_(x)
            return x

    with pytest.raises(UnsupportedError, match=r"writes to 'table'.*register_buffer\('table'"):
        capture(Plain(), (torch.ones(3),))


def test_tensors_are_written_into_arrays():
    """
    Results on a GPU must be fetched first, and NumPy cannot take tensors of bfloat16 directly.
    """
    array = np.ones(2, dtype_named("bfloat16"))

    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x.mul_(2)

    captured = capture(doubled, (torch.ones(2, dtype=torch.bfloat16),))
    write_back(captured, [array], [torch.full((2,), 2.0, dtype=torch.bfloat16)])
    assert array.tolist() == [2, 2]
