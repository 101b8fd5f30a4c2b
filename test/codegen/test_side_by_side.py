# SPDX-License-Identifier: Apache-2.0
"""Functions applied to items in threads."""

from threading import Barrier

import pytest

from tilewright.codegen.side_by_side import side_by_side


def two_cores(process: int) -> set[int]:
    return {0, 1}


def test_results_are_in_the_order_of_the_items():
    assert side_by_side(str, [3, 1, 3, 2]) == ["3", "1", "3", "2"]
    assert side_by_side(str, [1]) == ["1"]
    assert side_by_side(str, []) == []


def test_calls_wait_for_each_other(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("os.sched_getaffinity", two_cores)
    barrier = Barrier(2, timeout=20)
    assert sorted(side_by_side(lambda item: barrier.wait(), ["a", "b"])) == [0, 1]


def test_equal_items_are_done_once():
    done = list[int]()
    side_by_side(done.append, [1, 2, 1, 1])
    assert sorted(done) == [1, 2]


def test_the_first_error_in_order_is_raised():
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda item: 1 // item, [1, 0, 2])
