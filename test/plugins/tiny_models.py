# SPDX-License-Identifier: Apache-2.0
"""Tiny causal language models of `transformers`: their configs, and models with random weights."""

from importlib import import_module
from typing import Any

import torch

SIZES: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "head_dim": 16,
    "vocab_size": 100,
    "max_position_embeddings": 64,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}

SMALL: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 32, "head_dim": 4}
SMALL_GPT2: dict[str, Any] = {"n_embd": 16, "n_inner": 32}
"""Sizes with which no kernel spills: compiling and simulating these models takes half the time."""

MODEL_TYPES = ("llama", "qwen2", "qwen3", "mistral", "gpt2", "gemma")
"""Families that are supported."""

_OTHERWISE: dict[str, dict[str, Any]] = {
    "mistral": {"sliding_window": 8},
    "gpt2": {"n_embd": 64, "n_inner": 128, "n_head": 4, "n_layer": 2, "n_positions": 64},
}
_MEANT_AT_GPT2 = ("vocab_size", "bos_token_id", "eos_token_id", "pad_token_id")


def tiny_config(family: str, **changed: Any) -> Any:
    """Return the config of a model of two layers; `family` is one of `MODEL_TYPES`."""
    sizes = SIZES
    if family == "gpt2":
        sizes = {name: SIZES[name] for name in _MEANT_AT_GPT2}
    facts = {**sizes, **_OTHERWISE.get(family, {}), **changed}
    return import_module("transformers").AutoConfig.for_model(family, **facts)


def tiny_model(config: Any, attention: str = "sdpa") -> Any:
    """Return a model with random weights, the same every time."""
    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    auto = import_module("transformers").AutoModelForCausalLM
    return auto.from_config(config, attn_implementation=attention).eval()
