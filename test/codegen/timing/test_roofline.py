# SPDX-License-Identifier: Apache-2.0
"""Roofline times, and the number of copies of its buffers that a measurement rotates through."""

import pytest

from tilewright.codegen.timing.roofline import Peaks, Work
from tilewright.codegen.timing.rotation import BEYOND, LEAST, MEMORY, MOST, Rotation, rotation

H100 = Peaks(flops=66.9e12, bandwidth=3.35e12)
MIB = 2**20
L2 = 50 * MIB


@pytest.mark.parametrize(
    ("work", "floor", "least"),
    [
        (Work(0, 3_350_000), 1.0, 1.0),  # bound by memory
        (Work(66_900_000, 3_350), 1.0, 0.03125),  # bound by arithmetic: tensor cores are faster
        (Work(2 * 512 * 3584 * 18944, 4), 1039.2, 32.475),
    ],
)
def test_floors(work: Work, floor: float, least: float) -> None:
    assert H100.floor_us(work) == pytest.approx(floor, rel=1e-4)
    assert H100.least_us(work) == pytest.approx(least, rel=1e-3)


def test_float16_by_tensor_cores_is_possible() -> None:
    """H100 whitepaper: 989.4 TFLOP/s with float16 inputs."""
    assert H100.least_us(Work(989_400_000, 4)) < 1.0


@pytest.mark.parametrize(
    ("bytes", "held", "expected"),
    [
        (L2, L2, Rotation(BEYOND, False)),
        (10 * L2, 10 * L2, Rotation(LEAST, False)),  # its own buffers exceed the cache
        (BEYOND * L2 // MOST, 1, Rotation(MOST, False)),
        (1024, 1024, Rotation(MOST, True)),
        (0, 0, Rotation(MOST, True)),
        (1024, MEMORY // 3, Rotation(3, True)),  # a few rows of a large table are looked up
        (1024, MEMORY, Rotation(LEAST, True)),
    ],
)
def test_copies(bytes: int, held: int, expected: Rotation) -> None:
    assert rotation(bytes, held, L2) == expected
