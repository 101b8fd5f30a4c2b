# SPDX-License-Identifier: Apache-2.0
"""Estimated sizes of a space of schedules."""

import pytest

from tilewright.tuning.space import Space
from tilewright.tuning.space_sizes import sizes

from .kernels import ELEMENTS, kernel_of
from .trees import Tree


def test_the_size_of_a_regular_tree_is_exact():
    assert sizes(Tree((3, 4, 2)), probes=1).schedules == 24


def test_dead_ends_are_no_schedules():
    tree = Tree((2, 5), is_dead=lambda digits: digits == (1,))
    assert sizes(tree, probes=2000).schedules == pytest.approx(5, rel=0.1)


def test_the_questions_of_the_default():
    questions = sizes(Space(kernel_of(ELEMENTS)).root, probes=1).questions
    first = [question.answers[0] for question in questions]
    assert first[0].startswith("blockify-launch n=")
    assert first[-1].startswith("register-tile items=")
    assert all(len(question.answers) > 1 for question in questions)
