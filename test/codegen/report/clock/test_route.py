# SPDX-License-Identifier: Apache-2.0
"""Order in which a warp executes code with loops, conditions, producers and early exits."""

from collections.abc import Mapping

from sass_text import sass

from tilewright.codegen.report.clock.machine import machine_of
from tilewright.codegen.report.clock.places import places_of
from tilewright.codegen.report.clock.route import Route, route_of
from tilewright.codegen.report.instruction import Code
from tilewright.codegen.report.loops import loops
from tilewright.dialects.target import target

H100 = target("sm_90a")


def route(code: Code, trips: Mapping[int, float], most: int = 4) -> Route:
    """Return the route of a code; `trips` are the steps of loops by their starts."""
    places = places_of(code, H100, machine_of(H100), 0)
    counted = {loop: trips[loop.start] for loop in loops(code) if loop.start in trips}
    return route_of(code, places, counted, most)


LOOP = sass("MOV R1, R2", ".L_x_0:", "FFMA R3, R3, R3, R3", "@P0 BRA `(.L_x_0)", "EXIT")


def test_a_loop_runs_its_steps():
    assert route(LOOP, {1: 3}).others == [0, 1, 2, 1, 2, 1, 2, 3]


def test_a_long_loop_is_cut():
    found = route(LOOP, {1: 1000}, most=2)
    assert found.others == [0, 1, 2, 1, 2, 3]
    assert list(found.steps.values()) == [2]


def test_an_inner_loop_runs_for_each_step_of_the_outer_one():
    code = sass(
        ".L_x_0:",
        "FADD R1, R1, R1",
        ".L_x_1:",
        "FFMA R3, R3, R3, R3",
        "@P1 BRA `(.L_x_1)",
        "@P0 BRA `(.L_x_0)",
        "EXIT",
    )
    found = route(code, {0: 2, 1: 6})
    assert found.others == [0, 1, 2, 1, 2, 1, 2, 3] * 2 + [4]


def test_a_loop_that_ends_in_its_middle():
    code = sass(
        ".L_x_0:",
        "FFMA R3, R3, R3, R3",
        "@P0 BRA `(.L_x_1)",
        "FADD R1, R1, R1",
        "BRA `(.L_x_0)",
        ".L_x_1:",
        "EXIT",
    )
    assert route(code, {0: 2}).others == [0, 1, 2, 3] * 2 + [0, 1, 4]


def test_both_sides_of_a_condition_are_executed_except_slow_paths():
    both = sass("@P0 BRA `(.L_x_0)", "FADD R1, R1, R1", ".L_x_0:", "EXIT")
    assert route(both, {}).others == [0, 1, 2]
    slow = sass("@P0 BRA `(.L_x_0)", "CALL.REL.NOINC `(.L_x_9)", ".L_x_0:", "EXIT")
    assert route(slow, {}).others == [0, 2]


def test_only_the_first_warp_copies_boxes():
    code = sass(
        "@P0 BRA `(.L_x_0)",
        "SYNCS.ARRIVE.TRANS64 RZ, [UR13], R2",
        "UTMALDG.2D [UR12], [UR10]",
        ".L_x_0:",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+URZ], R2",
        "@!P0 NANOSLEEP.SYNCS 0x989680",
        "EXIT",
    )
    found = route(code, {})
    assert found.first == [0, 1, 2, 3, 5]
    assert found.others == [0, 3, 5]
    assert found.producing == {1, 2}


def test_waits_behind_the_end_of_the_kernel_are_not_executed():
    code = sass(
        "@P0 BRA `(.L_x_0)",
        "@!P1 BRA `(.L_x_1)",
        ".L_x_2:",
        "UTMALDG.2D [UR12], [UR10]",
        ".L_x_0:",
        "FADD R1, R1, R1",
        "EXIT",
        ".L_x_1:",
        "NOP",
        "BRA `(.L_x_2)",
    )
    found = route(code, {})
    assert found.first == [0, 1, 2, 3, 4]
    assert found.others == [0, 3, 4]
    assert found.producing == {1, 2}


def test_blocks_leave_the_join_to_the_last_one():
    code = sass(
        "ATOMG.E.INC.STRONG.GPU PT, R4, desc[UR6][R4.64], R7",
        "@!P0 EXIT",
        "FADD R1, R1, R1",
        "EXIT",
    )
    found = route(code, {})
    assert found.others == [0, 1, 2, 3]
    assert found.exit_others == 2
    assert route(LOOP, {1: 1}).exit_others is None


def test_the_side_of_a_condition_with_a_loop_is_taken():
    code = sass(
        "@P0 BRA `(.L_x_0)",
        "MOV R1, RZ",
        "BRA `(.L_x_2)",
        ".L_x_0:",
        "MOV R1, R2",
        ".L_x_1:",
        "FFMA R3, R3, R3, R3",
        "@P0 BRA `(.L_x_1)",
        ".L_x_2:",
        "EXIT",
    )
    assert route(code, {4: 2}).others == [0, 3, 4, 5, 4, 5, 6]


def test_a_loop_before_a_call_is_not_skipped():
    code = sass(
        "@P0 BRA `(.L_x_2)",
        ".L_x_1:",
        "FFMA R3, R3, R3, R3",
        "@P0 BRA `(.L_x_1)",
        "CALL.REL.NOINC `(.L_x_3)",
        ".L_x_2:",
        "EXIT",
        ".L_x_3:",
        "RET.REL.NODEC R2 `(kernel)",
    )
    assert 1 in route(code, {1: 2}).others
