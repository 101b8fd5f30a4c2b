# SPDX-License-Identifier: Apache-2.0
"""Input sets of the judged kernels: an extreme element takes each position in turn."""

import numpy as np
import pytest

from tilewright.codegen.launch_plan import ArrayType
from tilewright.tools.planted_bugs.input_sets import (
    DISTANCES,
    INDICES,
    SPIKES,
    TURNS,
    input_sets,
    spiked,
)

FLOAT, INDEX = np.dtype(np.float32), np.dtype(np.int64)


@pytest.mark.parametrize("shape", [(64, 64), (65, 40), (3, 130, 130), (201, 7), (97,), ()])
def test_a_line_has_one_extreme_element_and_every_place_has_its_turn(shape: tuple[int, ...]):
    axis = max(range(len(shape)), key=lambda a: (shape[a], a), default=0)
    lines = int(np.prod(shape)) // max(shape, default=1)
    turns = -(-max(shape, default=1) // lines)
    found = [np.abs(spiked(np.zeros(shape, np.float32), t, 3e4)) for t in range(turns)]
    for array in found:
        assert set(np.unique(array.sum(axis) if shape else array)) == {3e4}
    others = tuple(a for a in range(len(shape)) if a != axis)
    assert np.all(np.sum(found, axis=0).any(others) if shape else found)


def test_a_square_has_one_extreme_element_a_row_and_a_column():
    array = spiked(np.zeros((96, 96), np.float32), 0, 1.0)
    assert set(array.sum(0)) == set(array.sum(1)) == {1.0}


def test_signs_alternate():
    assert spiked(np.zeros((4, 96), np.float32), 0, 1.0).min() == 0
    assert spiked(np.zeros((4, 96), np.float32), 1, 1.0).max() == 0
    assert set(spiked(np.zeros((2, 96, 96), np.float32), 0, 1.0).sum(2).flat) == {-1.0, 1.0}


def test_sets_of_a_kernel():
    sets = [*input_sets([ArrayType((8, 32), FLOAT), ArrayType((4,), INDEX)])]
    assert [each.what for each in sets] == [
        "ordered",
        "normal",
        "low",
        "ties",
        *(f"spikes in input 0, turn {turn}" for turn in range(TURNS)),
    ]
    ordered, _, low, ties, spikes, *_ = sets
    floats, indices = ordered.versions[0]()
    assert floats.argmax(1).tolist() == [31, 0] * 4
    assert floats.max() < 1
    assert [int(version()[1].max()) < bound for version, bound in zip(ordered.versions, INDICES)]
    assert indices.max() >= INDICES[-1]
    assert low.versions[0]()[0].max() < -DISTANCES[0] + 10
    assert ties.versions[0]()[0].min() > DISTANCES[0] - 10
    assert len(np.unique(ties.versions[0]()[0])) < 10
    largest = {round(float(version()[0].max())) for version in spikes.versions}
    assert largest == {*SPIKES}


def test_a_kernel_may_have_fewer_turns():
    sets = input_sets([ArrayType((8, 32), FLOAT)], turns=1)
    assert [each.what for each in sets][4:] == ["spikes in input 0, turn 0"]


def test_sets_are_the_same_each_time():
    types = [ArrayType((8, 32), FLOAT)]
    for one, two in zip(input_sets(types, 3), input_sets(types, 3), strict=True):
        np.testing.assert_array_equal(one.versions[0](), two.versions[0]())


def test_in_one_turn_no_element_is_masked():
    *_, first, second = input_sets([ArrayType((64,), FLOAT), ArrayType((1,), INDEX)], turns=2)
    positions = [[version()[1].item() for version in each.versions] for each in (first, second)]
    last = [bound - 1 for _ in SPIKES for bound in INDICES]
    assert positions[0] == last
    assert positions[1] != last
