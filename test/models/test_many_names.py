# SPDX-License-Identifier: Apache-2.0
"""Lists of tensor names for messages."""

from tilewright.models.many_names import folded, listed


def test_equal_layers_are_one_line():
    names = [f"h.{layer}.{part}" for layer in (0, 1, 2, 4, 10) for part in ("a", "b.0.c")]
    assert folded([*names, "lm_head"]) == ["h.{0-2,4,10}.a", "h.{0-2,4,10}.b.0.c", "lm_head"]


def test_one_layer_keeps_its_number():
    assert folded(["h.3.a", "h.4.b", "7", "a.7"]) == ["7", "a.7", "h.3.a", "h.4.b"]


def test_long_lists_are_cut():
    lines = listed([f"line {number}" for number in range(100)]).splitlines()
    assert lines[:2] == ["", "  line 0"]
    assert lines[20:] == ["  line 19", "  and 80 more"]
    assert listed([]) == ""
