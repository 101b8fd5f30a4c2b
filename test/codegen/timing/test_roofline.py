# SPDX-License-Identifier: Apache-2.0
"""Roofline times, and the number of copies of its buffers that a measurement rotates through."""

import pytest

from tilewright.codegen.timing.roofline import Peaks, Work
from tilewright.codegen.timing.rotation import BEYOND, LEAST, MEMORY, MOST, Rotation, rotation
from tilewright.dialects.target import TARGETS, target

H100 = Peaks(flops=66.9e12, bandwidth=3.35e12, tensor_flops=1070.4e12)
MIB = 2**20
L2 = 50 * MIB


@pytest.mark.parametrize(
    ("work", "floor", "least"),
    [
        (Work(0, 3_350_000), 1.0, 1.0),  # bound by memory
        # bound by arithmetic: three products on tf32 take three eighths of the float32 lanes' time
        (Work(66_900_000, 3_350), 0.375, 0.03125),
        (Work(2 * 512 * 3584 * 18944, 4), 389.7, 32.475),
        (Work(1_070_400_000, 4, half_flops=1_070_400_000), 1.0, 0.5),
        (Work(1_070_400_000, 4, half_flops=535_200_000), 3.0, 0.5),
    ],
)
def test_floors(work: Work, floor: float, least: float) -> None:
    assert H100.floor_us(work) == pytest.approx(floor, rel=1e-4)
    assert H100.least_us(work) == pytest.approx(least, rel=1e-3)


def test_float32_products_take_the_faster_way() -> None:
    """An RTX 5090 multiplies faster on its float32 lanes than three times on tf32."""
    geforce = Peaks(flops=104.8e12, bandwidth=1.792e12, tensor_flops=419e12)
    work = Work(104_800_000, 4)
    assert geforce.floor_us(work) == pytest.approx(1.0)
    assert geforce.floor_us(work, allows_tf32=True) == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize("name", TARGETS)
def test_no_floor_is_below_the_bound_for_pytorch(name: str) -> None:
    gpu = target(name)
    peaks = Peaks(gpu.flops, gpu.bandwidth, gpu.tensor_flops)
    for half in (0, 10**15):
        work = Work(10**15, 1, half)
        assert peaks.floor_us(work, allows_tf32=True) >= peaks.least_us(work) * (1 - 1e-9)


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
