# SPDX-License-Identifier: Apache-2.0
"""
Scripts that search for mistakes by random calls, damaged files and odd surroundings find none.
"""

import random
from typing import Any

import damaged_files
import miscalls
import pytest
import surroundings
from needs import needs_nvrtc

import tilewright


@needs_nvrtc
def test_a_few_calls():
    assert miscalls.run(seed=1, count=6)[1] == []


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
def test_many_calls():
    assert miscalls.run(seed=2, count=300)[1] == []


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
def test_damaged_files():
    assert damaged_files.run(seed=2, count=200)[1] == []


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
def test_odd_surroundings():
    assert surroundings.run(seed=2, count=20) == []


def wrongly(*_: Any, **__: Any) -> Any:
    """Compile another function, which adds one more."""
    return too_much


def too_much(x: Any, k: Any) -> Any:
    """Return a sum that is too large by 1."""
    return x + k + 1


def test_a_wrong_result_and_a_leak_are_found(monkeypatch: pytest.MonkeyPatch):
    tensors, functions = miscalls.TENSORS, miscalls.FUNCTIONS
    monkeypatch.setattr(miscalls, "TENSORS", {"plain": tensors["plain"]})
    monkeypatch.setattr(miscalls, "FUNCTIONS", {"add": functions["add"]})
    monkeypatch.setattr(tilewright, "compile", wrongly)
    draw = random.Random(3)
    found = [miscalls.attempt(draw) for _ in range(4)]
    assert any("not close" in problem for end, problem in found if end == "ran")
    monkeypatch.setattr(tilewright, "compile", None)
    ends = [miscalls.attempt(draw)[0] for _ in range(4)]
    assert "leaked" in ends
