# SPDX-License-Identifier: Apache-2.0
"""Words for precisions, and attributes of a module that name them."""

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp, StringAttr, i64
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.precision import (
    WORDS,
    Precision,
    Precisions,
    allows_rounding,
    precisions_of,
    remove_precisions,
)
from tilewright.passes.driver.verification import InvalidOpError, verify_module


def _module(**attributes: Attribute) -> ModuleOp:
    return ModuleOp([], {f"torch.{name}": value for name, value in attributes.items()})


@pytest.mark.parametrize("word", WORDS)
def test_pytorch_has_the_same_words(word: str):
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision(word)
        assert torch.get_float32_matmul_precision() == word
    finally:
        torch.set_float32_matmul_precision(before)


def test_one_word_names_both_precisions():
    highest, high, medium = map(Precisions.of_word, WORDS)
    assert highest == Precisions()
    assert high == (Precision.HIGH, Precision.HIGH)
    assert medium == (Precision.MEDIUM, Precision.HIGH)


def test_an_absent_attribute_means_highest():
    assert precisions_of(_module()) == (Precision.HIGHEST, Precision.HIGHEST)
    module = _module(conv_precision=StringAttr("high"))
    assert precisions_of(module) == (Precision.HIGHEST, Precision.HIGH)
    assert allows_rounding(module)
    remove_precisions(module)
    assert not module.attributes


@pytest.mark.parametrize("value", [StringAttr("hi"), i64])
@pytest.mark.parametrize("name", ["matmul_precision", "conv_precision"])
def test_a_wrong_word_is_an_error_that_names_the_words(name: str, value: Attribute):
    module = _module(**{name: value})
    message = rf'torch.{name} is .*, but has to be one of "highest", "high", "medium"'
    with pytest.raises(VerifyException, match=message):
        precisions_of(module)
    with pytest.raises(InvalidOpError, match=message):
        verify_module(module)
