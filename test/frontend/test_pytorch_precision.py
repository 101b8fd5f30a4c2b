# SPDX-License-Identifier: Apache-2.0
"""PyTorch's settings for float32 products, by its old and new interface."""

from collections.abc import Iterator

import pytest
import torch

from tilewright.errors import UsageError
from tilewright.frontend.pytorch_precision import precisions_named, pytorch_precisions


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Restore PyTorch's default settings."""
    yield
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = True


def test_matrix_products_and_convolutions_have_settings_of_their_own():
    assert pytorch_precisions() == ("highest", "high")
    torch.set_float32_matmul_precision("medium")
    assert pytorch_precisions() == ("medium", "high")
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = True
    assert pytorch_precisions() == ("high", "highest")
    torch.backends.cuda.matmul.allow_tf32 = False
    assert pytorch_precisions() == ("highest", "highest")


@pytest.mark.parametrize("word", ["highest", "high"])
def test_the_setting_of_one_backend(word: str, monkeypatch: pytest.MonkeyPatch):
    """If a program sets `fp32_precision`, PyTorch's older function raises an error."""
    torch.set_float32_matmul_precision(word)  # fp32_precision becomes "tf32" or "ieee"

    def refuse() -> str:
        raise RuntimeError("mix of the legacy and new APIs")

    monkeypatch.setattr(torch, "get_float32_matmul_precision", refuse)
    assert pytorch_precisions() == (word, "high")


@pytest.mark.parametrize("word", ["hi", "HIGH", "", None, 3])
def test_an_unknown_word_is_an_error_that_names_the_words(word: object):
    with pytest.raises(UsageError, match=r"unknown matmul_precision .*highest, high, medium"):
        precisions_named(word)
