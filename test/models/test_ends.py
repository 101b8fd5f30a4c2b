# SPDX-License-Identifier: Apache-2.0
"""Which tokens end a text, by what a model's folder says."""

import json
from pathlib import Path
from typing import Any

import pytest
from tiny_models import tiny_config

from tilewright.errors import UsageError
from tilewright.models.ends import FILE, ends_of


@pytest.mark.parametrize(
    ("said", "expected"), [(7, {7}), ([7, 9], {7, 9}), (None, set[int]())], ids=str
)
def test_the_generation_config_comes_first(tmp_path: Path, said: Any, expected: set[int]):
    (tmp_path / FILE).write_text(json.dumps({"eos_token_id": said}))
    assert ends_of(tiny_config("llama"), tmp_path) == expected


def test_without_one_the_config_says_it(tmp_path: Path):
    assert ends_of(tiny_config("llama"), tmp_path) == {2}
    assert ends_of(tiny_config("llama", eos_token_id=None), tmp_path) == set()


@pytest.mark.parametrize("said", [1.5, True, "</s>", [[2]], [2, None], {"a": 1}], ids=str)
def test_what_is_no_token(tmp_path: Path, said: Any):
    (tmp_path / FILE).write_text(json.dumps({"eos_token_id": said}))
    with pytest.raises(UsageError) as caught:
        ends_of(tiny_config("llama"), tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / FILE} says that eos_token_id is {said!r} (it is a token's number, a list of "
        "them, or null)"
    )


@pytest.mark.parametrize("text", ["{", "[]", "[" * 100_000], ids=["cut", "list", "deep"])
def test_a_generation_config_that_cannot_be_read(text: str, tmp_path: Path):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(UsageError, match=r"generation_config.json cannot be read: "):
        ends_of(tiny_config("llama"), tmp_path)
