# SPDX-License-Identifier: Apache-2.0
"""The model of `examples/next_token` agrees with its page, and is right at every level."""

# PyTorch's functions are typed in part.
# pyright: reportUnknownMemberType=false

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import torch
from needs import needs_nvrtc
from xdsl.dialects.func import CallOp

import tilewright

FILE = Path(__file__).parents[2] / "examples" / "next_token" / "next_token.py"
TEXTS = [torch.tensor([3, 14, 15, 9, 2, 6]), torch.tensor([0, 23, 23, 0, 1, 1])]


@pytest.fixture(scope="module")
def example() -> Any:
    """The file, as a module."""
    spec = spec_from_file_location("next_token", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def model(example: Any) -> torch.nn.Module:
    """The model, with the same weights in each run."""
    torch.manual_seed(0)
    return example.NextToken().eval()


def test_a_layer_is_a_function_and_the_mask_a_formula(model: torch.nn.Module):
    module = tilewright.capture(model, TEXTS[0]).module
    assert [str(op.callee) for op in module.walk() if isinstance(op, CallOp)] == ["@layer"] * 2
    assert {"prim.predicate", "torch.argmax"} <= {op.name for op in module.walk()}
    assert "constant" not in str(module)


def test_the_mask_is_a_causal_window(example: Any):
    assert example.causal_window(4, 2).int().tolist() == [
        [1, 0, 0, 0],
        [1, 1, 0, 0],
        [0, 1, 1, 0],
        [0, 0, 1, 1],
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("level", ["torch", "tensor", "loop"])
def test_every_level_gives_the_tokens(level: str, model: torch.nn.Module):
    captured = tilewright.capture(model, TEXTS[0])
    weights = [input.tensor for input in captured.inputs[:-1]]
    lowered = tilewright.lower(captured, level)
    for text in TEXTS:
        (tokens,) = tilewright.interpret(lowered, *weights, text)
        assert tokens.tolist() == model(text).tolist()


@needs_nvrtc
def test_the_kernels_give_the_tokens(model: torch.nn.Module):
    program = tilewright.compile(model, TEXTS[0], device="sim")
    assert program(TEXTS[1]).tolist() == model(TEXTS[1]).tolist()


def test_the_texts_distinguish_wrong_tokens(model: torch.nn.Module):
    """The tokens differ within a text and between both."""
    first, second = (model(text).tolist() for text in TEXTS)
    assert first != second
    assert len({*first}) > 2
