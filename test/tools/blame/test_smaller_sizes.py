# SPDX-License-Identifier: Apache-2.0
"""Whole numbers of an expression become smaller, wherever they are written."""

from tilewright.tools.blame.smaller_sizes import smaller_sizes


def test_equal_numbers_change_together():
    text = "é = torch.randn(8, 3)\né @ torch.ones(3, 8) * 1.5"
    assert [*smaller_sizes(text)] == [
        text.replace("8", number) for number in ("1", "2", "4", "7")
    ] + [text.replace("3", number) for number in ("1", "2")]


def test_a_number_that_is_part_of_another_one_stays():
    assert "torch.randn(1, 44, 4.0)" in [*smaller_sizes("torch.randn(4, 44, 4.0)")]


def test_texts_without_sizes():
    assert [*smaller_sizes("x.exp(True, 1)")] == []
    assert [*smaller_sizes("f(")] == []
