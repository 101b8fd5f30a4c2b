# SPDX-License-Identifier: Apache-2.0
"""The simulated SM: rates of pipes, waits for scoreboards, barriers, rings, and blocks in turn."""

import pytest
from sass_text import sass

from tilewright.codegen.report.clock.flight import MemoryRates
from tilewright.codegen.report.clock.machine import machine_of
from tilewright.codegen.report.clock.multiprocessor import Multiprocessor, Run
from tilewright.codegen.report.clock.places import places_of
from tilewright.codegen.report.clock.route import route_of
from tilewright.codegen.report.clock.waits import Wait
from tilewright.codegen.report.control_code import ControlCode
from tilewright.codegen.report.instruction import Code
from tilewright.codegen.report.loops import loops
from tilewright.dialects.target import target

H100 = target("sm_90a")
MACHINE = machine_of(H100)
RATES = MemoryRates(10, 64, 700, 290, 1.0)


def run(
    code: Code,
    warps: int,
    blocks: int = 1,
    resident: int | None = None,
    box_bytes: float = 0,
    slots: int = 1,
) -> Run:
    places = places_of(code, H100, MACHINE, box_bytes)
    sm = Multiprocessor(places, route_of(code, places, {}, 1), {}, MACHINE, RATES, slots)
    return sm.run(blocks, resident or blocks, warps, blocks)


def clocks_of_each(line: str, warps: int, number: int = 800, stall: int = 1) -> float:
    """Return the clocks between two of the instructions `line` on one scheduler."""
    code = sass(*[line] * number, control=dict.fromkeys(range(number), ControlCode(stall)))
    return run(code, warps).clocks / number / max(1, warps // 4)


@pytest.mark.parametrize(
    ("line", "clocks"),
    # measured on an H100: ffma.free, mufu, hmma, lds.4.distinct, lds.16.distinct
    [
        ("FFMA R1, R3, R3, R4", 0.999),
        ("MUFU.EX2 R1, R2", 8.02),
        ("HMMA.16816.F32.BF16 R4, R8, R12, R4", 5.98),
        ("LDS R4, [R1]", 4 * 1.059),
        ("LDS.128 R4, [R1]", 4 * 3.98),
    ],
)
def test_eight_warps_reach_the_measured_rates(line: str, clocks: float):
    assert clocks_of_each(line, 8) == pytest.approx(clocks, rel=0.07)


def test_a_warp_alone_waits_for_its_stall_counts():
    assert clocks_of_each("FADD R1, R2, R3", 1, stall=4) == pytest.approx(4, rel=0.02)


def test_warps_hide_the_stall_counts_of_each_other():
    assert clocks_of_each("FADD R1, R2, R3", 16, stall=4) == pytest.approx(1, rel=0.02)


LOAD = sass(
    "LDG.E R4, desc[UR4][R2.64]",
    "FADD R1, R4, R3",
    control={0: ControlCode(1, write_scoreboard=0), 1: ControlCode(1, waits=(0,))},
)


def test_an_instruction_waits_for_its_scoreboard():
    found = run(LOAD, 1)
    assert found.clocks == pytest.approx(706, abs=5)
    assert found.meter.clocks[Wait.MEMORY][1] == pytest.approx(705, abs=5)


def test_stores_are_not_waited_for():
    found = run(sass("STG.E desc[UR4][R2.64], R5", "EXIT"), 1)
    assert found.clocks < 10
    assert found.stored > 700


def test_all_warps_wait_at_a_barrier_for_the_slowest():
    code = sass(
        "LDG.E R4, desc[UR4][R2.64]",
        "FADD R1, R4, R3",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        "EXIT",
        control={0: ControlCode(1, write_scoreboard=0), 1: ControlCode(1, waits=(0,))},
    )
    found = run(code, 8)
    assert found.clocks > 720
    assert found.meter.clocks[Wait.BARRIER][3] >= 8 * MACHINE.barrier


def test_asynchronous_copies_are_waited_for_by_group():
    def clocks(pending: int) -> float:
        copy = ["LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64]", "LDGDEPBAR"]
        return run(sass(*copy, f"DEPBAR.LE SB0, 0x{pending}", "EXIT"), 1).clocks

    assert clocks(0) > 700
    assert clocks(1) < 50


def test_blocks_start_when_others_end():
    found = run(LOAD, 4, blocks=4, resident=2)
    first, second, third, fourth = found.starts
    assert (first, second) == (0, 0)
    assert third == pytest.approx(found.clocks / 2, rel=0.05)
    assert fourth >= third


RING = sass(
    "@P0 BRA `(.L_x_0)",
    "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+URZ], R2",
    "SYNCS.ARRIVE.TRANS64 RZ, [UR13], R2",
    "UTMALDG.2D [UR12], [UR10]",
    ".L_x_0:",
    "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R6+URZ], R2",
    "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R58+URZ], RZ",
    "EXIT",
)


def test_warps_wait_until_a_slot_is_full():
    found = run(RING, 4, box_bytes=128)
    assert found.clocks == pytest.approx(710, abs=20)
    assert sum(found.meter.clocks[Wait.MEMORY]) > 4 * 600


def test_the_producer_waits_until_a_slot_is_free():
    body = [
        "@P0 BRA `(.L_x_{n})",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+URZ], R2",
        "SYNCS.ARRIVE.TRANS64 RZ, [UR13], R2",
        "UTMALDG.2D [UR12], [UR10]",
        ".L_x_{n}:",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R6+URZ], R2",
        "SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R58+URZ], RZ",
    ]
    twice = sass(*(line.replace("{n}", str(n)) for n in range(2) for line in body), "EXIT")
    assert run(twice, 4, box_bytes=128, slots=1).clocks > 1400


def test_warps_that_wait_for_each_other_forever_go_on():
    # The route of the first warp differs: it alone has the barrier.
    code = sass(
        "@P0 BRA `(.L_x_0)",
        "UTMALDG.2D [UR12], [UR10]",
        "BAR.SYNC.DEFER_BLOCKING 0x0",
        ".L_x_0:",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R6+URZ], R2",
        "EXIT",
    )
    assert run(code, 4, box_bytes=128).issued == 4 * 3 + 2


def test_a_warp_that_went_on_is_not_resumed_later():
    # Other warps wait for a group that the first warp opens after they have been resumed.
    code = sass(
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R6+URZ], R2",
        "@P0 BRA `(.L_x_0)",
        "SYNCS.ARRIVE.TRANS64 RZ, [UR13], R2",
        "UTMALDG.2D [UR12], [UR10]",
        ".L_x_0:",
        "EXIT",
    )
    assert run(code, 4, box_bytes=128).issued == 4 * 3 + 2


def test_steps_of_an_inner_loop_are_those_since_it_was_entered():
    code = sass(
        ".L_x_0:",
        *["FADD R1, R1, R1"] * 50,
        ".L_x_1:",
        "FFMA R3, R3, R3, R4",
        "@P1 BRA `(.L_x_1)",
        "@P0 BRA `(.L_x_0)",
        "EXIT",
    )
    places = places_of(code, H100, MACHINE, 0)
    trips = {loop: 3.0 if loop.start == 0 else 12.0 for loop in loops(code)}
    route = route_of(code, places, trips, 4)
    sm = Multiprocessor(places, route, {0: [50], 50: []}, MACHINE, RATES, 1)
    steps = sm.run(1, 1, 1, 1).step_clocks
    assert steps[50] == pytest.approx(2)
    assert steps[0] == pytest.approx(50 + 4 * 2 + 1)
