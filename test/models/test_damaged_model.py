# SPDX-License-Identifier: Apache-2.0
"""Damaged files of a model's folder either can be read, or give an error that names them."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from damage import damaged, retyped
from draws import drawn
from saved_models import save, save_tokenizer
from tiny_models import tiny_config

from tilewright.errors import TilewrightError, UsageError
from tilewright.models.checkpoint import Checkpoint
from tilewright.models.config_file import read_config
from tilewright.models.generation_config import generation_config_of
from tilewright.models.prompt import prompt_of_text
from tilewright.models.structure import build
from tilewright.models.weights import model_tensors

CONFIG = tiny_config("llama", num_hidden_layers=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Model in several files, with a tokenizer."""
    folder = tmp_path_factory.mktemp("model")
    save(folder, "llama", shards="80KB", num_hidden_layers=1)
    save_tokenizer(folder, ["<unk>", "<s>", "a", "b"])
    return folder


@pytest.fixture(scope="module")
def model() -> Any:
    """Structure of the model."""
    return build(CONFIG)


def read(folder: Path, model: Any) -> None:
    """Read all files that `generate` reads."""
    read_config(folder / "config.json")
    model_tensors(model, Checkpoint.open(folder))
    generation_config_of(CONFIG, folder)
    prompt = prompt_of_text(folder, "a b", 100)
    assert prompt.text_of(prompt.tokens)


@pytest.mark.parametrize(
    "name",
    [
        *("config.json", "generation_config.json", "model.safetensors.index.json"),
        *("model-00001-of-*.safetensors", "tokenizer.json", "tokenizer_config.json"),
    ],
)
def test_damaged_files_are_clean_errors(name: str, folder: Path, model: Any) -> None:
    (path,) = folder.glob(name)
    sound, random = path.read_bytes(), Random(0)
    refused = 0
    try:
        for _ in range(drawn(80)):
            path.write_bytes(_changed(sound, path.suffix, random))
            try:
                read(folder, model)
            except TilewrightError:
                refused += 1
    finally:
        path.write_bytes(sound)
    assert refused > drawn(80) / 5


def _changed(sound: bytes, suffix: str, random: Random) -> bytes:
    """Damage a file: its bytes, or values in its JSON, which is the header in safetensors."""
    if random.random() < 0.4:
        return damaged(sound, random)
    if suffix == ".json":
        return retyped(sound.decode(), random).encode()
    size = int.from_bytes(sound[:8], "little")
    head = retyped(sound[8 : 8 + size].decode(), random).encode()
    return len(head).to_bytes(8, "little") + head + sound[8 + size :]


def test_a_tokenizer_that_fails_where_it_is_used(folder: Path) -> None:
    path = folder / "tokenizer_config.json"
    sound = path.read_text()
    path.write_text(json.dumps(json.loads(sound) | {"model_max_length": "long"}))
    try:
        with pytest.raises(UsageError, match=f"cannot read the tokenizer in '{folder}': "):
            prompt_of_text(folder, "a b", 100)
    finally:
        path.write_text(sound)
