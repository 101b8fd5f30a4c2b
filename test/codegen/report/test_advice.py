# SPDX-License-Identifier: Apache-2.0
"""Advice on a kernel, by the reasons for which its warps wait and by its figures."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from needs import needs_nvdisasm, needs_nvrtc

import tilewright
from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.report import report_of
from tilewright.codegen.report.advice import advice
from tilewright.codegen.report.clock.timeline import LineWaits, Timeline
from tilewright.codegen.report.clock.waits import Wait
from tilewright.codegen.report.estimate import Estimate
from tilewright.codegen.report.evidence import KernelEvidence, MainLoop
from tilewright.codegen.report.instruction import Category
from tilewright.codegen.report.instruction_mix import InstructionMix
from tilewright.codegen.report.occupancy import occupancy
from tilewright.codegen.report.resources import Resources
from tilewright.codegen.report.traffic import Traffic
from tilewright.dialects.target import target

H100 = target("sm_90a")

PLAIN = KernelEvidence(
    Launch("k", 264, 256, 0, (0,), (1,)),
    launches=1,
    target=H100,
    language="SASS",
    resources=Resources(32, 0, 0, 0, 0, 0),
    shared_bytes=0,
    occupancy=occupancy(H100, 256, 0, 32),
    mix=InstructionMix({}, {}),
    loop=None,
    traffic=Traffic("buffers", 4096),
    roofline_seconds=None,
    estimate=None,
)
"""Kernel that fills the GPU, and of which nothing else is known."""

FEW_BLOCKS = {"launch": replace(PLAIN.launch, grid=40)}
FEW_WARPS = {"occupancy": occupancy(H100, 256, 0, 128)}
ONE_BLOCK = {"occupancy": occupancy(H100, 256, 200_000, 32)}
MULTIPLIES = {"loop": MainLoop(3, InstructionMix({Category.FFMA: 64}, {}))}


def waiting(shares: dict[Wait, float], **changes: Any) -> KernelEvidence:
    """Return a kernel that takes 10 us by the clock, and waits for these shares at line 7."""
    kernel = replace(PLAIN, **changes)
    # the cache of the property
    vars(kernel)["clock"] = Timeline(10e-6, shares, (LineWaits(7, shares),), 1)
    return kernel


def busy(part: str, us: float = 8.0) -> dict[str, Any]:
    """Return the change to a kernel whose estimate has one part."""
    return {"estimate": Estimate({part: 1e-6 * us})}


@pytest.mark.parametrize(
    ("wait", "changes", "text"),
    [
        (Wait.MEMORY, busy("device memory"), "device memory is busy"),
        (Wait.MEMORY, busy("device memory", 5), "keep more bytes in flight"),
        (Wait.MEMORY, busy("L2"), "L2 is busy"),
        (Wait.MEMORY, FEW_BLOCKS, "40 blocks leave some of 132 SMs idle"),
        (Wait.MEMORY, FEW_WARPS, "16 of 64 are resident: use less of registers"),
        (Wait.SHARED, {}, "fewer threads for each row"),
        (Wait.SHARED, MULTIPLIES, "a larger `register-tile`"),
        (Wait.BARRIER, {}, "smaller blocks"),
        (Wait.BARRIER, ONE_BLOCK, "no other block runs meanwhile"),
        (Wait.PIPE, busy("tensor cores"), "tensor cores are busy"),
        (Wait.PIPE, busy("float32"), "float32 units are busy"),
        (Wait.PIPE, busy("special functions"), "such as exponentials"),
        (Wait.PIPE, FEW_BLOCKS, "40 blocks leave some of 132 SMs idle"),
        (Wait.PIPE, FEW_WARPS, "16 of 64 are resident"),
        (Wait.PIPE, {}, "more independent work"),
        (Wait.ISSUE, busy("issue"), "schedulers are busy"),
        (Wait.ISSUE, FEW_WARPS, "16 of 64 are resident"),
        (Wait.ISSUE, {}, "results of fixed latency are late"),
    ],
)
def test_advice_depends_on_the_reason_and_on_figures(
    wait: Wait, changes: dict[str, Any], text: str
):
    (found,) = advice(waiting({wait: 0.6}, **changes))
    assert (found.wait, found.share, found.line) == (wait, 0.6, 7)
    assert text in found.text
    assert str(found).startswith(f"{wait} 60 % (line 7): ")


def test_only_reasons_that_matter_get_advice():
    found = advice(waiting({Wait.PIPE: 0.5, Wait.BARRIER: 0.2, Wait.MEMORY: 0.09}))
    assert [each.wait for each in found] == [Wait.PIPE, Wait.BARRIER]


def test_without_a_clock_there_is_no_advice():
    assert PLAIN.clock is None
    assert advice(PLAIN) == []


@needs_nvrtc
@needs_nvdisasm
def test_many_rows_are_bound_by_device_memory():
    norm = torch.nn.RMSNorm(2048, device="meta")
    module = tilewright.capture(norm, torch.zeros(32768, 2048, device="meta")).module
    (kernel,) = report_of(module, H100).kernels
    first, *_ = advice(kernel)
    assert first.wait == Wait.MEMORY
    assert first.text.startswith("device memory is busy")
