# SPDX-License-Identifier: Apache-2.0
"""
Small kernels: a bug is found with its kind and line, and its twin without the bug is clean.

Each second one runs only with `--every-case`.
"""

import pytest
from needs import needs_nvrtc
from some_cases import some

from .pairs import Pair, idioms, pairs

PAIRS = {pair.name: pair for pair in pairs()}
IDIOMS = {pair.name: pair for pair in idioms()}


def test_each_pair_has_a_name_of_its_own():
    assert len(PAIRS) == len([*pairs()]) >= 100


@pytest.mark.one_in(4)
@needs_nvrtc
@pytest.mark.parametrize("name", some(PAIRS))
def test_the_bug_is_found_and_its_twin_is_clean(name: str):
    pair: Pair = PAIRS[name]
    report, marked = pair.run(bug=True)
    found = [(error.kind, error.line) for error in report.errors]
    assert any(kind == pair.kind and line in marked for kind, line in found), report.errors
    report, _ = pair.run(bug=False)
    assert report.ok, report.errors


@pytest.mark.one_in(4)
@needs_nvrtc
@pytest.mark.parametrize("name", some(IDIOMS))
def test_a_correct_idiom_is_clean(name: str):
    report, _ = IDIOMS[name].run(bug=False)
    assert report.ok, report.errors
