# SPDX-License-Identifier: Apache-2.0
"""Critical path: the clocks that one warp waits for the results of its loads."""

import pytest

from tilewright.codegen.report.critical_path import path_clocks
from tilewright.codegen.report.ptx import parse_ptx
from tilewright.codegen.report.sass import parse_sass

LOAD_1 = "LDG.E R1, desc[UR4][R8.64]"
LOAD_2 = "LDG.E R2, desc[UR4][R8.64+0x4]"
LOAD_WIDE = "LDG.E.128 R4, desc[UR4][R8.64]"
OTHER = "IADD3 R10, R10, 0x1, RZ"


def _clocks(*statements: str, repeats: bool = False) -> float:
    lines = (f"        /*{16 * n:04x}*/   {text} ;" for n, text in enumerate(statements))
    code = parse_sass("\n".join([".text.k:", *lines]))["k"]
    return path_clocks(code, range(len(statements)), repeats=repeats, global_latency=100)


def test_instructions_without_latency_take_their_clocks():
    assert _clocks(OTHER, OTHER, OTHER) == 3


def test_a_load_is_waited_for_where_it_is_used():
    assert _clocks(LOAD_1, "FADD R3, R1, R1") == 100 + 1
    assert _clocks(LOAD_1, OTHER) == 2


def test_instructions_between_hide_a_part_of_the_wait():
    assert _clocks(LOAD_1, *[OTHER] * 60, "FADD R3, R1, R1") == 100 + 1
    assert _clocks(LOAD_1, *[OTHER] * 120, "FADD R3, R1, R1") == 1 + 120 + 1


def test_loads_that_stand_together_wait_together():
    assert _clocks(LOAD_1, LOAD_2, "FADD R3, R1, R2") == 1 + 100 + 1
    alone = _clocks(LOAD_1, "FADD R3, R1, R1", LOAD_2, "FADD R3, R2, R2")
    assert alone == 2 * (100 + 1)


@pytest.mark.parametrize("register", ["R4", "R5", "R6", "R7"])
def test_a_wide_load_gives_four_registers(register: str):
    assert _clocks(LOAD_WIDE, f"FADD R3, {register}, R3") == 101


def test_a_wide_load_gives_no_fifth():
    assert _clocks(LOAD_WIDE, "FADD R3, R3, R8") == 2


def test_a_predicate_before_the_result_is_no_result():
    assert _clocks("SHFL.BFLY PT, R7, R8, 0x10, 0x1f", "FADD R7, R7, R8") == 25 + 1


def test_a_loop_waits_for_loads_of_the_step_before():
    prefetched = ("FADD R3, R1, R1", *[OTHER] * 50, LOAD_1)
    assert _clocks(*prefetched) == 52
    assert _clocks(*prefetched, repeats=True) == 99 + 52


def test_asynchronous_copies_are_waited_for_by_group():
    copy, commit = "LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64]", "LDGDEPBAR"
    assert _clocks(copy, commit, "DEPBAR.LE SB0, 0x0", OTHER) == 100 + 2
    assert _clocks(copy, commit, "DEPBAR.LE SB0, 0x1", OTHER) == 4
    two = (copy, commit, *[OTHER] * 50, copy, commit)
    assert _clocks(*two, "DEPBAR.LE SB0, 0x1") == 100 + 1
    assert _clocks(*two, "DEPBAR.LE SB0, 0x0") == 52 + 100 + 1


def test_ptx_has_its_own_names():
    body = "ld.global.v2.f32 {%f1, %f2}, [%rd1];\nadd.f32 %f3, %f2, %f2;"
    code = parse_ptx(f".entry k(\n)\n{{\n{body}\n}}\n")["k"]
    assert path_clocks(code, range(2), global_latency=100) == 101


MMA = "HMMA.16816.F32.BF16 R4, R12, R16, R4"


@pytest.mark.parametrize("register", ["R4", "R7"])
def test_sums_of_a_matrix_instruction_are_waited_for(register: str):
    assert _clocks(MMA, f"FADD R3, {register}, R3") == 33 + 1
    assert _clocks(MMA, "FADD R3, R8, R3") == 2


def test_dependent_matrix_instructions_wait_and_others_do_not():
    assert _clocks(MMA, MMA) == 33 + 1
    assert _clocks(MMA, "HMMA.16816.F32.BF16 R8, R12, R16, R8") == 2


def test_matrices_are_loaded_from_shared_memory():
    assert _clocks("LDSM.16.M88.4 R12, [R20]", MMA) == 33 + 1
