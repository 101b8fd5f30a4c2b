# SPDX-License-Identifier: Apache-2.0
"""Settings of a model's folder that generation follows, and the names of those that it ignores."""

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_models import tiny_config

from tilewright.errors import UsageError
from tilewright.models.generation_config import FILE, generation_config_of


def ends_of(config: Any, folder: Path) -> frozenset[int]:
    return generation_config_of(config, folder).ends


@pytest.mark.parametrize(
    ("value", "expected"), [(7, {7}), ([7, 9], {7, 9}), (None, set[int]())], ids=str
)
def test_the_generation_config_comes_first(tmp_path: Path, value: Any, expected: set[int]):
    (tmp_path / FILE).write_text(json.dumps({"eos_token_id": value}))
    assert ends_of(tiny_config("llama"), tmp_path) == expected


def test_without_a_file_the_config_decides(tmp_path: Path):
    assert ends_of(tiny_config("llama"), tmp_path) == {2}
    assert ends_of(tiny_config("llama", eos_token_id=None), tmp_path) == set()


@pytest.mark.parametrize("value", [1.5, True, "</s>", [[2]], [2, None], {"a": 1}], ids=str)
def test_values_that_are_no_tokens(tmp_path: Path, value: Any):
    (tmp_path / FILE).write_text(json.dumps({"eos_token_id": value}))
    with pytest.raises(UsageError) as caught:
        ends_of(tiny_config("llama"), tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / FILE} has the eos_token_id {value!r} (it must be a token's number, a list of "
        "numbers, or null)"
    )


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000], ids=["cut", "list", "deep"])
def test_a_generation_config_that_cannot_be_read(text: str, tmp_path: Path):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(UsageError, match=r"generation_config.json cannot be read: "):
        ends_of(tiny_config("llama"), tmp_path)


def test_what_changes_the_likeliest_token(tmp_path: Path):
    config = tiny_config("llama")
    assert generation_config_of(config, tmp_path) == ({2}, 1.0, ())
    neutral = {"do_sample": True, "temperature": 0.6, "num_beams": 1, "no_repeat_ngram_size": 0}
    (tmp_path / FILE).write_text(json.dumps({"repetition_penalty": 1.05, **neutral}))
    assert generation_config_of(config, tmp_path) == (set[int](), 1.05, ())
    (tmp_path / FILE).write_text(json.dumps({"no_repeat_ngram_size": 3, "bad_words_ids": [[5]]}))
    ignored = generation_config_of(config, tmp_path).ignored
    assert ignored == ("bad_words_ids", "no_repeat_ngram_size")


@pytest.mark.parametrize("value", [0, -1, True, "1.05", [1.05], float("inf")], ids=str)
def test_values_that_are_no_penalty(tmp_path: Path, value: Any):
    (tmp_path / FILE).write_text(json.dumps({"repetition_penalty": value}))
    with pytest.raises(UsageError, match=r"has the repetition_penalty .* above 0 and at most 1e30"):
        generation_config_of(tiny_config("llama"), tmp_path)
