# SPDX-License-Identifier: Apache-2.0
"""Control codes of instructions, as ptxas writes them."""

import pytest
from machine_code import GENERATIONS, sass_of

from tilewright.codegen.report.control_code import ControlCode, decode
from tilewright.codegen.report.instruction import Category


def test_the_fields_of_a_load():
    # LDS R68, [R65], from a product for sm_90a
    assert decode(0x0000620000000800) == ControlCode(stall=1, write_scoreboard=1, read_scoreboard=0)


def test_the_fields_of_a_barrier():
    # BAR.SYNC.DEFER_BLOCKING 0x0, which waits for scoreboards 1 to 4
    assert decode(0x01EFE20000010000) == ControlCode(stall=1, waits=(1, 2, 3, 4))


def test_all_fields():
    upper = 5 << 41 | 0 << 45 | 2 << 46 | 3 << 49 | 0b100001 << 52 | 0b0110 << 58
    assert decode(upper) == ControlCode(5, True, 2, 3, (0, 5), 0b0110)


def test_a_stall_takes_at_least_a_clock():
    assert decode(7 << 46 | 7 << 49 | 1 << 45).stall == 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize("target", GENERATIONS)
def test_an_instruction_waits_for_each_load(target: str):
    for code in sass_of("copies.cu", target).values():
        loads = [i for i in code.instructions if i.category in (Category.LDG, Category.LDS)]
        waited = {w for i in code.instructions if i.control is not None for w in i.control.waits}
        signalled = {i.control.write_scoreboard for i in loads if i.control is not None}
        assert None not in signalled
        assert signalled <= waited
