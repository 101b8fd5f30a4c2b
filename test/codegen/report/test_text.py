# SPDX-License-Identifier: Apache-2.0
"""A kernel's paragraph in the report, for kernels with problems or with unknown figures."""

from dataclasses import replace

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.report.evidence import KernelEvidence, MainLoop
from tilewright.codegen.report.instruction import Category
from tilewright.codegen.report.instruction_mix import InstructionMix
from tilewright.codegen.report.matrix_shape import MatrixShape
from tilewright.codegen.report.occupancy import occupancy
from tilewright.codegen.report.resources import Resources
from tilewright.codegen.report.text import kernel_text
from tilewright.codegen.report.traffic import Traffic
from tilewright.dialects.target import target

_H100 = target("sm_90a")

_MIX = InstructionMix(
    {Category.FFMA: 3, Category.LDS: 2, Category.LDL: 1, Category.INTEGER: 1},
    {(Category.LDS, 128): 2, (Category.LDL, 32): 1},
)

_PLAIN = KernelEvidence(
    Launch("k", 264, 256, 0, (0,), (1,)),
    launches=1,
    target=_H100,
    language="SASS",
    resources=Resources(32, 0, 0, 0, 0, 0),
    shared_bytes=0,
    occupancy=occupancy(_H100, 256, 0, 32),
    mix=_MIX,
    loop=None,
    traffic=Traffic("buffers", 4096),
    roofline_seconds=None,
    estimate=None,
)


def _line(kernel: KernelEvidence, name: str) -> str:
    lines = (line for line in kernel_text(kernel).splitlines() if line.startswith(f"  {name} "))
    return next(lines).removeprefix(f"  {name}").strip()


def test_unknown_figures_are_omitted():
    assert kernel_text(_PLAIN).splitlines() == [
        "k<<<264, 256>>>",
        "  registers      32 of 255, no spills, no stack",
        "  shared memory  0 B a block",
        "  occupancy      64 of 64 warps an SM, 8 blocks, limited by registers and warps",
        "  blocks         264, 2.00 an SM",
        "  code           7 SASS instructions: 2 LDS.128, 1 LDL.32",
        "  device memory  4 KiB at least",
    ]


def test_units_are_listed_before_accesses():
    counts = {Category.HMMA: 64, Category.LDSM: 24, Category.TMA: 2, Category.ATOMIC: 4}
    shape = MatrixShape(16, 8, 16, 16)
    mix = InstructionMix(counts, {(Category.LDSM, 128): 24}, {shape: 64})
    kernel = replace(_PLAIN, mix=mix, loop=MainLoop(0, mix))
    expected = "94 SASS instructions: 64 HMMA, 2 TMA, 4 atomic, 24 LDSM.128"
    assert _line(kernel, "code") == expected
    assert _line(kernel, "main loop") == "94 instructions: 64 HMMA (68 %), 2 TMA, 4 atomic"


def test_registers_that_launch_bounds_limit():
    kernel = replace(_PLAIN, resources=Resources(64, 0, 0, 0, 0, 0, register_limit=64))
    assert _line(kernel, "registers") == "64 of 64, no spills, no stack"


def test_spills_and_a_stack():
    spilling = replace(_PLAIN, resources=Resources(32, 40, 36, 28, 0, 0))
    stacked = replace(_PLAIN, resources=Resources(32, 40, 0, 0, 0, 0))
    assert _line(spilling, "registers") == "32 of 255, spills: 36 B stored, 28 B loaded"
    assert _line(stacked, "registers") == "32 of 255, no spills, 40 B of stack"


def test_dynamic_shared_memory():
    kernel = replace(_PLAIN, shared_bytes=3072, resources=Resources(32, 0, 0, 0, 1024, 0))
    assert _line(kernel, "shared memory") == "3 KiB a block, 2 KiB of it dynamic"


def test_a_kernel_that_does_not_fit():
    kernel = replace(_PLAIN, occupancy=occupancy(_H100, 1024, 0, 128))
    assert _line(kernel, "occupancy") == "none: a block takes more registers than an SM has"


def test_the_main_loop_has_its_line_and_its_shares():
    kernel = replace(_PLAIN, loop=MainLoop(12, _MIX))
    assert _line(kernel, "main loop") == "line 12, 7 instructions: 3 FFMA (43 %), 1 integer"
    assert "                 2 LDS.128, 1 LDL.32\n" in kernel_text(kernel)
    unknown = replace(_PLAIN, loop=MainLoop(0, _MIX))
    assert _line(unknown, "main loop").startswith("7 instructions: ")


def test_traffic():
    traffic = Traffic("simulator", 4096, 256, 128, 30, 20)
    kernel = replace(_PLAIN, traffic=traffic)
    expected = "4 KiB at least, 8 KiB asked for (2.00 times), sector factor 2.00 (simulator)"
    assert _line(kernel, "device memory") == expected
    assert _line(kernel, "shared memory") == "0 B a block, bank factor 1.50 (simulator)"
