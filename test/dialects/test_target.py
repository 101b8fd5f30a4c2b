# SPDX-License-Identifier: Apache-2.0
"""Blocks and clusters that fit on an SM."""

import pytest

from tilewright.dialects.target import TARGETS, target
from tilewright.errors import UsageError


def test_an_unknown_target_names_the_known_ones():
    with pytest.raises(UsageError, match=r"unknown target 'sm_9'.*sm_80.*sm_120"):
        target("sm_9")


@pytest.mark.parametrize("name", TARGETS)
def test_limits_fit_together(name: str):
    gpu = target(name)
    assert gpu.name == name
    assert gpu.shared_per_block + 1024 == gpu.shared_per_sm
    # full occupancy at 32 registers a thread, by warps or by blocks
    assert gpu.blocks_per_sm(gpu.max_threads_per_sm // 2, 0, 32) == 2
    assert gpu.blocks_per_sm(32, 0, 32) == gpu.max_blocks_per_sm


# Results of CUDA's occupancy calculator for compute capability 9.0.
@pytest.mark.parametrize(
    ("threads", "shared", "registers", "blocks"),
    [
        (256, 0, 32, 8),  # threads: 8 * 256 = 2048
        (256, 0, 33, 6),  # 40 registers a thread are allocated: 51 warps, 48 in fours
        (1024, 0, 64, 1),
        (1024, 0, 65, 0),  # 72 registers: 28 warps, a block has 32
        (33, 0, 16, 32),  # a block of two warps
        (128, 100 * 1024, 64, 2),
        (128, 227 * 1024, 64, 1),
        (128, 227 * 1024 + 1, 64, 0),
        (128, 0, 256, 0),
        (1025, 0, 16, 0),
    ],
)
def test_the_scarcest_resource_limits_occupancy(
    threads: int, shared: int, registers: int, blocks: int
):
    assert target("sm_90a").blocks_per_sm(threads, shared, registers) == blocks


@pytest.mark.parametrize(
    ("name", "per_sm", "cluster", "blocks"),
    [
        ("sm_90a", 1, 1, 132),
        ("sm_90a", 1, 2, 132),
        ("sm_90a", 1, 3, 117),  # measured, as the next one
        ("sm_90a", 1, 8, 120),
        ("sm_90a", 2, 4, 248),
        ("sm_90a", 4, 6, 474),
        ("sm_100a", 1, 8, 144),
        ("sm_120", 1, 8, 168),
    ],
)
def test_clusters_find_room_in_groups(name: str, per_sm: int, cluster: int, blocks: int):
    assert target(name).room(per_sm, cluster) == blocks


def test_a_multiprocessor_takes_its_turns():
    """256 blocks in clusters of four took two rounds: 248 are resident at once."""
    h100 = target("sm_90a")
    assert (h100.turns(256, 2), h100.turns(256, 2, 4), h100.turns(132, 2, 3)) == (2, 3, 2)
    assert (h100.turns(0, 1, 4), h100.turns(1, 1)) == (0, 1)


@pytest.mark.parametrize(
    ("name", "by_mma", "peak"),
    [
        ("sm_80", 312e12, 312e12),
        ("sm_86", 154.8e12, 154.8e12),
        ("sm_89", 362e12, 362e12),
        ("sm_90a", 2 / 3 * 989.4e12 * 1.98 / 1.83, 989.4e12 * 1.98 / 1.83),
        ("sm_100a", 2250e12 / 4, 2250e12),
        ("sm_120", 209.5e12, 419e12),
    ],
)
def test_rates_of_tensor_cores_are_those_of_the_products(name: str, by_mma: float, peak: float):
    """NVIDIA's figures of the products; the clocks of a B200 are not published exactly."""
    gpu = target(name)
    within = 0.07 if name == "sm_100a" else 0.02
    assert gpu.mma_flops == pytest.approx(by_mma, rel=within)
    assert gpu.tensor_flops == pytest.approx(peak, rel=within)
    assert gpu.flops < gpu.mma_flops <= gpu.tensor_flops
