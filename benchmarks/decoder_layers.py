# SPDX-License-Identifier: Apache-2.0
"""Decoder layers of TinyLlama-1.1B and Qwen2.5-7B, as `transformers` has them, without weights."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch


@dataclass(frozen=True)
class Model:
    """The sizes of a model."""

    family: str
    """As `transformers` calls its classes."""
    width: int
    hidden: int
    heads: int
    shared: int
    """Heads of keys and values."""


MODELS = {
    "tinyllama": Model("Llama", width=2048, hidden=5632, heads=32, shared=4),
    "qwen": Model("Qwen2", width=3584, hidden=18944, heads=28, shared=4),
}


class Stack(torch.nn.Module):
    """Layers one after the other."""

    def __init__(self, layers: Sequence[torch.nn.Module]):
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        """Each layer has the tables of cosines and sines."""
        for layer in self.layers:
            x = layer(x, position_embeddings=(cos, sin))
        return x


def decoder_layers(
    name: str, number: int, tokens: int
) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """`number` layers of a model and what they are called with, all on the device `meta`."""
    model = MODELS[name]
    package = import_module(
        f"transformers.models.{model.family.lower()}.modeling_{model.family.lower()}"
    )
    config: Any = getattr(import_module("transformers"), f"{model.family}Config")(
        hidden_size=model.width,
        intermediate_size=model.hidden,
        num_attention_heads=model.heads,
        num_key_value_heads=model.shared,
        num_hidden_layers=number,
        use_cache=False,
        attn_implementation="sdpa",
    )
    layer = getattr(package, f"{model.family}DecoderLayer")
    with torch.device("meta"):
        stack = Stack([layer(config, position) for position in range(number)]).eval()
        x = torch.randn(1, tokens, model.width)
        tables = [torch.randn(1, tokens, model.width // model.heads) for _ in range(2)]
    return stack, (x, *tables)
