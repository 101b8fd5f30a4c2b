# SPDX-License-Identifier: Apache-2.0
"""Tiny models with random weights, saved in folders as `save_pretrained` writes them."""

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from tiny_models import tiny_config, tiny_model


def save(folder: Path, family: str, *, shards: str = "1GB", **changed: Any) -> None:
    """
    Save a model of a family in files of at most `shards` bytes; `changed` are fields of its config.
    """
    tiny_model(tiny_config(family, **changed)).save_pretrained(folder, max_shard_size=shards)


def save_tokenizer(folder: Path, words: Sequence[str]) -> None:
    """
    Save a tokenizer that makes one token of each of `words`, and `<unk>` of any other.

    It puts `<s>` before a text.
    """
    tokenizers = import_module("tokenizers")
    numbers = {word: number for number, word in enumerate(words)}
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token="<unk>"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", numbers["<s>"])]
    )
    fast = import_module("transformers").PreTrainedTokenizerFast
    fast(tokenizer_object=backend, bos_token="<s>", unk_token="<unk>").save_pretrained(folder)


def load(folder: Path, dtype: str = "auto") -> Any:
    """Return the saved model, as `transformers` loads it."""
    auto = import_module("transformers").AutoModelForCausalLM
    return auto.from_pretrained(folder, dtype=dtype)


def change(folder: Path, edit: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    """Apply `edit` to the tensors that are stored in a folder's single file."""
    path, safetensors = folder / "model.safetensors", import_module("safetensors.torch")
    stored = {name: tensor.clone() for name, tensor in safetensors.load_file(path).items()}
    edit(stored)
    safetensors.save_file(stored, path)
