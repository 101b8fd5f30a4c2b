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


def test_a_generation_config_that_cannot_be_read(tmp_path: Path):
    (tmp_path / FILE).write_text("{")
    with pytest.raises(UsageError, match=r"generation_config.json cannot be read: "):
        ends_of(tiny_config("llama"), tmp_path)
