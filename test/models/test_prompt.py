# SPDX-License-Identifier: Apache-2.0
"""Prompts as text and as tokens."""

import os
from pathlib import Path

import pytest
from saved_models import save_tokenizer

from tilewright.errors import UsageError
from tilewright.models.prompt import prompt_of_text, prompt_of_tokens


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_tokenizer(tmp_path, ["<s>", "<unk>", "tiles", "are", "right"])
    return tmp_path


def test_a_text_is_tokens_as_the_models_tokenizer_has_it(folder: Path):
    prompt = prompt_of_text(folder, "tiles are wrong", 5)
    assert prompt.tokens == (0, 2, 3, 1)
    assert prompt.text_of([2, 4]) == "tiles right"


def test_tokens_by_number(folder: Path, tmp_path_factory: pytest.TempPathFactory):
    assert prompt_of_tokens(folder, [4, 4], 5).text_of([3]) == "are"
    bare = prompt_of_tokens(tmp_path_factory.mktemp("bare"), [4, 4], 5)
    assert (bare.tokens, bare.text_of([3])) == ((4, 4), None)


@pytest.mark.parametrize("tokens", [[], [0, 5, -1, 5], [99]])
def test_what_is_no_prompt(folder: Path, tokens: list[int]):
    problem = "no tokens: 5, -1|no tokens: 99|is empty"
    with pytest.raises(UsageError, match=problem):
        prompt_of_tokens(folder, tokens, 5)


def test_an_empty_text(folder: Path):
    with pytest.raises(UsageError, match="the prompt is empty"):
        prompt_of_text(folder, "", 5)


def test_bytes_that_are_no_text(folder: Path):
    text = os.fsdecode("tiles \xfc".encode("latin-1"))
    with pytest.raises(UsageError, match="the prompt is no text: its character 7 is not UTF-8"):
        prompt_of_text(folder, text, 5)


def test_a_tokenizer_of_another_model(folder: Path):
    with pytest.raises(UsageError, match=r"no tokens: 4 \(the model's tokens are 0 to 3\)"):
        prompt_of_text(folder, "tiles are right", 4)


def test_no_tokenizer(tmp_path: Path):
    with pytest.raises(UsageError, match=r"has no tokenizer for --prompt \(.*--prompt-ids 1,2,3"):
        prompt_of_text(tmp_path, "tiles", 5)


def test_a_damaged_tokenizer(folder: Path):
    (folder / "tokenizer.json").write_text("{")
    with pytest.raises(UsageError, match="cannot read the tokenizer in"):
        prompt_of_text(folder, "tiles", 5)
    # Prompts of token numbers need no tokenizer.
    assert prompt_of_tokens(folder, [1], 5).text_of([1]) is None
