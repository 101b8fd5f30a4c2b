# SPDX-License-Identifier: Apache-2.0
"""Decoder layers of `transformers`, tiny and with random weights."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import torch

Tensor = torch.Tensor

TIME = 9
"""Odd number of tokens."""


@dataclass(frozen=True)
class Family:
    """Family of models, with a form of attention: `sdpa` or `eager`."""

    name: str
    attention: str

    def __str__(self) -> str:
        return f"{self.name}-{self.attention}"

    @property
    def snake(self) -> str:
        """Name of the family at the beginning of kernel names."""
        return self.name.lower()

    def _class(self, suffix: str) -> Any:
        module = import_module(f"transformers.models.{self.snake}.modeling_{self.snake}")
        return getattr(module, f"{self.name}{suffix}")

    def _config(self, layers: int) -> Any:
        return getattr(import_module("transformers"), f"{self.name}Config")(
            hidden_size=64,
            intermediate_size=128,
            num_attention_heads=4,
            num_key_value_heads=2,
            num_hidden_layers=layers,
            vocab_size=100,
            use_cache=False,
            attn_implementation=self.attention,
        )

    def layers(self, number: int) -> "Layers":
        """
        Return consecutive decoder layers, and the arguments with which their model calls each of
        them.
        """
        config = self._config(number)
        torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
        x = torch.randn(1, TIME, 64)
        tables = self._class("RotaryEmbedding")(config)(x, torch.arange(TIME)[None])
        causal = torch.full((1, 1, TIME, TIME), float("-inf")).triu(1)
        mask = causal if self.attention == "eager" else None
        layers = [self._class("DecoderLayer")(config, i).eval() for i in range(number)]
        module = layers[0] if number == 1 else Stack(layers)
        return Layers(module, x, {"attention_mask": mask, "position_embeddings": tables})


@dataclass(frozen=True)
class Layers:
    """Module, and the arguments of a call."""

    module: Any
    x: Tensor
    kwargs: dict[str, Any] = field(default_factory=dict[str, Any])


class Stack(torch.nn.Module):
    """Modules that run one after the other, all with the same further arguments."""

    def __init__(self, modules: Sequence[Any]):
        super().__init__()
        self.layers = torch.nn.ModuleList(modules)

    def forward(self, x: Tensor, **kwargs: Any) -> Tensor:
        """Apply the layers in turn, as a model does."""
        for layer in self.layers:
            x = layer(x, **kwargs)
        return x


FAMILIES = [Family(name, how) for name in ("Llama", "Qwen2") for how in ("sdpa", "eager")]
