# SPDX-License-Identifier: Apache-2.0
"""Steps of loops that copy boxes or join the parts of other blocks."""

import pytest
from sass_text import sass

from tilewright.codegen.report.clock.trips import all_trips, sharing_blocks
from tilewright.passes.cost.launch_cost import KernelCost


@pytest.mark.parametrize(
    ("schedule", "blocks"),
    [
        ("tileify,split-matmul-k{factor=3 join=last_block},mark-unroll", 3),
        ("tileify,split-matmul-k{factor=3 join=cluster},mark-unroll", 1),
        ("tileify,cooperative-reduce{split=4 join=last_block}", 4),
        ("tileify,blockify-launch{m=64 n=64}", 1),
        ("", 1),
    ],
)
def test_blocks_that_share_a_result(schedule: str, blocks: int):
    assert sharing_blocks(schedule) == blocks


def test_a_pipeline_runs_until_its_boxes_have_moved_all_bytes():
    code = sass(
        ".L_x_0:",
        "UTMALDG.2D [UR12], [UR10]",
        "UTMALDG.2D [UR14], [UR10]",
        "FFMA R3, R3, R3, R3",
        "@P0 BRA `(.L_x_0)",
        "EXIT",
    )
    cost = KernelCost(blocks=10, threads=128, flops=256, accessed_bytes=10 * 16 * 8192)
    assert list(all_trips(code, cost, 4096, 1).values()) == [16]


def test_a_join_has_a_step_for_each_block():
    code = sass(
        "ATOMG.E.INC.STRONG.GPU PT, R4, desc[UR6][R4.64], R7",
        ".L_x_0:",
        "LDG.E R4, desc[UR4][R2.64]",
        "FADD R1, R4, R1",
        "@P0 BRA `(.L_x_0)",
        "EXIT",
    )
    cost = KernelCost(blocks=1, threads=32, accessed_bytes=32 * 4 * 100)
    assert list(all_trips(code, cost, 0, 1).values()) == [100]
    assert list(all_trips(code, cost, 0, 8).values()) == [8]


def test_a_loop_runs_in_each_step_of_the_loop_around_it():
    code = sass(
        ".L_x_0:",
        "UTMALDG.2D [UR12], [UR10]",
        ".L_x_1:",
        "UTMALDG.2D [UR14], [UR10]",
        "@P1 BRA `(.L_x_1)",
        "FFMA R3, R3, R3, R3",
        "@P0 BRA `(.L_x_0)",
        "EXIT",
    )
    cost = KernelCost(blocks=10, threads=128, flops=256, accessed_bytes=10 * 16 * 8192)
    assert list(all_trips(code, cost, 4096, 1).values()) == [16, 16]
