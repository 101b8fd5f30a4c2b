# SPDX-License-Identifier: Apache-2.0
"""
The table of families in `docs/whole-models.md` has the numbers of kernels that real models take.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from xdsl.dialects.func import CallOp, FuncOp

from tilewright.dialects import loop
from tilewright.frontend.capture import capture
from tilewright.models.structure import build
from tilewright.models.whole import whole_sequence
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower

PAGE = Path(__file__).parents[2] / "docs" / "whole-models.md"

LENGTH = 128
IN_THREE_KERNELS = {("Gemma-2B", "eager")}
"""Cases whose scores, softmax and product with the values are apart, as the page says."""


def sizes(
    hidden: int, inner: int, heads: tuple[int, int, int], vocabulary: int, **others: Any
) -> dict[str, Any]:
    """
    Return the sizes of a config; `heads` are the number of query heads, of key heads, and their
    size.
    """
    queries, keys, head_dim = heads
    return {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_attention_heads": queries,
        "num_key_value_heads": keys,
        "head_dim": head_dim,
        "vocab_size": vocabulary,
        "num_hidden_layers": 2,
        **others,
    }


MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "TinyLlama-1.1B": ("llama", sizes(2048, 5632, (32, 4, 64), 32000)),
    "Qwen2.5-7B": ("qwen2", sizes(3584, 18944, (28, 4, 128), 152064)),
    "Qwen3-0.6B": ("qwen3", sizes(1024, 3072, (16, 8, 128), 151936)),
    "Mistral-7B": ("mistral", sizes(4096, 14336, (32, 8, 128), 32000, sliding_window=64)),
    "Gemma-2B": ("gemma", sizes(2048, 16384, (8, 1, 256), 256000)),
    "GPT-2": ("gpt2", {"n_layer": 2}),
}


def rows() -> dict[str, list[str]]:
    """Return the cells of the table, by the model in the first cell."""
    lines = [line.strip("|").split("|") for line in PAGE.read_text().splitlines()]
    cells = [[cell.strip() for cell in line] for line in lines if len(line) == 5]
    return {first: others for first, *others in cells if first in MODELS}


def counted(name: str, attention: str) -> tuple[int, int, int]:
    """
    Return the numbers of different kernels, of launches in a layer, and of launches around the
    layers.
    """
    family, facts = MODELS[name]
    config = import_module("transformers").AutoConfig.for_model(family, **facts)
    program = whole_sequence(build(config, dtype=torch.float32, attention=attention), LENGTH)
    module = lower(capture(program.module, program.args, program.kwargs).module, Level.LOOP)
    main, layer = (op for op in module.ops if isinstance(op, FuncOp))
    assert sum(isinstance(op, CallOp) for op in main.walk()) == 2
    launches = [sum(isinstance(op, loop.LaunchOp) for op in f.walk()) for f in (layer, main)]
    return sum(isinstance(op, loop.KernelOp) for op in module.ops), launches[0], launches[1]


def check(name: str, attention: str) -> None:
    kernels, in_layer, around, _ = rows()[name]
    more = 2 if (name, attention) in IN_THREE_KERNELS else 0
    expected = int(kernels) + more, int(in_layer) + more, int(around)
    assert counted(name, attention) == expected


def test_a_row():
    check("Mistral-7B", "sdpa")


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", MODELS)
def test_every_row(every_case: None, name: str, attention: str):
    check(name, attention)
