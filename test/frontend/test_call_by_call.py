# SPDX-License-Identifier: Apache-2.0
"""Programs broken down call by call equal the programs that PyTorch breaks down as a whole."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tilewright.frontend import call_by_call as broken_down
from tilewright.frontend.aten import decompositions
from tilewright.frontend.call_by_call import call_by_call
from tilewright.frontend.capture import capture
from tilewright.frontend.composite_ops import faster_composite_ops

Tensor = torch.Tensor

pytestmark = pytest.mark.filterwarnings("ignore:.*treespec")


def exported(function: Callable[[Any], Any], *args: Tensor) -> Any:
    module = nn.Module()
    module.forward = function
    with torch.no_grad():
        return torch.export.export(module.eval(), args, strict=False)


def run_decompositions(program: Any) -> Any:
    with faster_composite_ops(), torch.no_grad():
        return program.run_decompositions(decompositions())


def graph(program: Any) -> list[tuple[Any, ...]]:
    """Return all parts of a graph that the translation reads."""
    return [
        (
            node.name,
            str(node.target),
            str(node.args),
            str(node.kwargs),
            str(node.meta.get("val")),
            node.meta.get("stack_trace") if "getitem" not in node.name else None,
        )
        for node in program.graph.nodes
        if node.op != "output" and "assert" not in node.name
    ]


BATCH_NORM, LSTM = nn.BatchNorm1d(6).eval(), nn.LSTM(6, 4).eval()

FAMILIES: dict[str, Callable[[Tensor], Any]] = {
    "views": lambda x: (x.reshape(2, 12), x.T.reshape(-1), x.mT.contiguous(), x.flatten()),
    "several": lambda x: (
        *x.chunk(4, 1),
        *x.unbind(),
        torch.split(x, [1, 5], 1)[1],
        torch.var_mean(x),
    ),
    "casts": lambda x: (x.to(torch.float32), x.double(), x.to("cpu"), x.type_as(x.half())),
    "made": lambda x: (x[[2, 0]], torch.arange(4).to(x), x.new_ones(3), x * 2.5),
    "eval": lambda x: (F.dropout(x, training=False), BATCH_NORM(x), F.rrelu(x), F.prelu(x, x[0])),
    "composite": lambda x: (F.softshrink(x), F.hardshrink(x), torch.einsum("ij,kj->ik", x, x)),
    "layers": lambda x: (LSTM(x), F.interpolate(x[None], scale_factor=2.0, mode="linear")),
    "indices": lambda x: (x[:, None, 1:3], x[..., -1], x[1:].expand_as(x[:3]), x.movedim(0, 1)),
    "twice": lambda x: (torch.cat([x, x]).reshape(-1), torch.stack([x, x, x.T.reshape(4, 6)])),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_program_is_broken_down_as_by_pytorch(name: str) -> None:
    program = exported(FAMILIES[name], torch.randn(4, 6))
    expected = run_decompositions(program)
    found = call_by_call(program, run_decompositions)
    assert found is not None
    assert graph(found) == graph(expected)
    assert str(found.graph_signature) == str(expected.graph_signature)


def test_what_was_broken_down_before_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broken_down, "_broken", {})
    traced: list[Any] = []

    def run(program: Any) -> Any:
        traced.append(program)
        return run_decompositions(program)

    def calls(x: Tensor) -> Tensor:
        return x.reshape(-1)[:6] + x.T.reshape(-1)[:6] + x.reshape(-1)[6:12]

    for size, count in ((4, 1), (4, 1), (5, 2)):
        call_by_call(exported(calls, torch.randn(size, 6)), run)
        assert len(traced) == count
    # One node of each kind: x.reshape(-1) was called twice.
    reshapes = [node for node in traced[0].graph.nodes if "reshape" in node.name]
    assert len(reshapes) == 2
    call_by_call(exported(lambda x: torch.relu(x), torch.randn(4)), run)
    assert len(traced) == 2  # calls that stay unchanged need no run at all


WRITING: list[Callable[[Tensor], Tensor]] = [
    lambda x: x.clone().relu_(),
    lambda x: torch.add(x, 1, out=torch.empty_like(x)),
    lambda x: x.add_(1).reshape(-1),
]


@pytest.mark.parametrize("function", WRITING)
def test_what_writes_in_place_is_left_to_pytorch(function: Callable[[Any], Any]) -> None:
    assert call_by_call(exported(function, torch.randn(4)), run_decompositions) is None


def square(x: Tensor) -> Tensor:
    return F.linear(x, x)


def test_autocast_is_left_to_pytorch() -> None:
    program = exported(square, torch.randn(4, 4))
    with torch.autocast("cpu", torch.bfloat16):
        assert call_by_call(program, run_decompositions) is None


def test_an_exported_program_is_not_changed() -> None:
    program = exported(lambda x: x[[2, 0]].reshape(-1), torch.randn(4, 6))
    before = str(program.graph), str(program.graph_signature), [*program.constants]
    capture(program, ())
    assert (str(program.graph), str(program.graph_signature), [*program.constants]) == before
