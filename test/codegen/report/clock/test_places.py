# SPDX-License-Identifier: Apache-2.0
"""Costs of instructions: pipes, clocks, wavefronts and effects."""

import pytest
from sass_text import sass

from tilewright.codegen.report.clock.machine import Pipe, machine_of
from tilewright.codegen.report.clock.places import Action, Place, places_of
from tilewright.codegen.report.control_code import ControlCode
from tilewright.dialects.target import target


def place(line: str, name: str = "sm_90a", box_bytes: float = 0) -> Place:
    gpu = target(name)
    (found,) = places_of(sass(line), gpu, machine_of(gpu), box_bytes)
    return found


@pytest.mark.parametrize(
    ("line", "pipe", "clocks"),
    [
        ("FADD R1, R2, R3", Pipe.FMA, 1),
        ("IMAD.WIDE R2, R4, 0x4, R6", Pipe.FMA, 2),
        ("IADD3 R1, R2, R3, RZ", Pipe.ALU, 2),
        ("FSETP.GT.AND P0, PT, R1, R2, PT", Pipe.ALU, 2),
        ("MUFU.EX2 R1, R2", Pipe.SPECIAL, 8),
        ("DFMA R2, R4, R6, R2", Pipe.DOUBLE, 2),
        ("HMMA.16816.F32.BF16 R4, R8, R12, R4", Pipe.TENSOR, 6),
        ("LDS.128 R4, [R1]", Pipe.MEMORY, 2),
        ("NOP", Pipe.CONTROL, 1),
    ],
)
def test_pipes_of_an_h100(line: str, pipe: Pipe, clocks: float):
    found = place(line)
    assert (found.pipe, found.clocks) == (pipe, clocks)


def test_float32_takes_two_clocks_on_an_a100():
    assert place("FADD R1, R2, R3", "sm_80").clocks == 2


def test_registers_of_one_bank_take_a_second_read():
    # even banks: R2, R4 and R6; the odd R5 has a bank for itself
    assert place("FFMA R1, R2, R5, R7").clocks == pytest.approx(1.51)
    assert place("FFMA R1, R2, R4, R6").clocks == pytest.approx(1 + 2 * 0.51)
    assert place("FFMA R1, R2, R2, R5").clocks == 1
    assert place("FFMA R1, R2, R4, R6", "sm_80").clocks == 2


def test_kept_operands_are_not_read():
    gpu = target("sm_90a")
    code = sass(
        "FFMA R1, R2, R5, R8",
        "FFMA R3, R2, R4, R7",
        control={0: ControlCode(reuse=1)},
    )
    assert [each.clocks for each in places_of(code, gpu, machine_of(gpu), 0)] == [1.51, 1]


@pytest.mark.parametrize(
    ("line", "action", "amount", "wavefronts"),
    [
        ("LDG.E.128 R4, desc[UR4][R2.64]", Action.LOAD, 512, 4),
        ("STG.E desc[UR4][R2.64], R5", Action.STORE, 128, 1),
        ("LDGSTS.E.BYPASS.128 [R1], desc[UR4][R2.64]", Action.COPY, 512, 4),
        ("ATOMG.E.INC.STRONG.GPU PT, R4, desc[UR6][R4.64], R7", Action.LOAD, 32, 1),
        ("LDS.128 R4, [R1]", Action.SHARED, 4, 4),
        ("LDSM.16.M88.4 R4, [R1]", Action.SHARED, 4, 4),
        ("SHFL.BFLY PT, R1, R2, 0x10, 0x1f", Action.SHUFFLE, 0, 1),
        ("UTMALDG.2D [UR12], [UR10]", Action.BOX, 4096, 1),
        ("DEPBAR.LE SB0, 0x2", Action.WAIT_COPIES, 2, 0),
        ("WARPGROUP.DEPBAR.LE gsb0, 0x1", Action.WAIT_GROUPS, 1, 0),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", Action.BARRIER, 0, 0),
        ("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R5+URZ], R2", Action.WAIT_FULL, 0, 0),
        ("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [R58+URZ], RZ", Action.RELEASE, 0, 0),
        ("SYNCS.ARRIVE.TRANS64 RZ, [UR13], R2", Action.EXPECT, 0, 0),
        ("MEMBAR.SC.GPU", Action.FENCE, 0, 0),
    ],
)
def test_effects(line: str, action: Action, amount: float, wavefronts: float):
    found = place(line, box_bytes=4096)
    assert (found.action, found.amount, found.wavefronts) == (action, amount, wavefronts)
