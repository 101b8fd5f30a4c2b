# SPDX-License-Identifier: Apache-2.0
"""Lengths that programs are compiled for: the smallest bucket that holds the tokens."""

import pytest

from tilewright.models.generation import bucket


@pytest.mark.parametrize(
    ("length", "most", "expected"),
    [
        (1, 2048, 16),
        (16, 2048, 16),
        (17, 2048, 32),
        (1025, 2048, 2048),
        (1025, 1500, 1500),
        (1500, 1500, 1500),
        (3, 8, 8),
    ],
)
def test_the_smallest_bucket_that_holds_the_tokens(length: int, most: int, expected: int):
    assert bucket(length, most) == expected
