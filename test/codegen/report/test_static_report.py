# SPDX-License-Identifier: Apache-2.0
"""The static report of programs, with all tools and without some."""

import json
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from machine_code import KERNELS
from xdsl.dialects.builtin import ModuleOp

import tilewright
from tilewright.codegen import nvrtc_library
from tilewright.codegen.launch_plan import ArrayType, Launch, Plan
from tilewright.codegen.report import StaticReport, as_json, disassemble, report_of, static_report
from tilewright.codegen.report.instruction import Category
from tilewright.codegen.simulator import Counters
from tilewright.codegen.simulator.counters import AccessCount
from tilewright.codegen.slab import Slab
from tilewright.dialects.target import TARGETS, target
from tilewright.errors import TilewrightError
from tilewright.passes.cost.launch_cost import KernelCost
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower

H100 = target("sm_90a")


@pytest.fixture(scope="module")
def rows() -> ModuleOp:
    """RMSNorm of 64 rows of 256 columns."""
    return tilewright.capture(torch.nn.RMSNorm(256), torch.zeros(64, 256)).module


@pytest.fixture(scope="module")
def report(rows: ModuleOp) -> StaticReport:
    return report_of(rows, H100)


def test_a_row_kernel(report: StaticReport):
    (kernel,) = report.kernels
    assert (kernel.name, kernel.launches, kernel.language) == ("rms_norm", 1, "SASS")
    assert 0 < kernel.resources.registers <= 255
    assert not kernel.resources.spills
    assert kernel.occupancy.blocks > 0
    assert kernel.mix.count(Category.LDG) > 0
    assert kernel.traffic.minimum_bytes == 4 * (2 * 64 * 256 + 256)
    assert kernel.traffic.sector_factor == 1
    assert kernel.estimate is not None
    assert kernel.roofline_seconds is not None
    assert kernel.estimate.seconds > kernel.roofline_seconds
    assert report.notes == ()


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", TARGETS)
def test_every_target(rows: ModuleOp, name: str):
    (kernel,) = report_of(rows, target(name)).kernels
    assert kernel.target.name == name
    assert kernel.mix.count(Category.OTHER) == 0
    assert kernel.occupancy.max_warps == target(name).max_warps_per_sm


def test_a_target_without_a_table_of_the_clock_has_a_note(rows: ModuleOp):
    (note,) = report_of(rows, target("sm_100a")).notes
    assert note == "the clock has no table of sm_100a; it uses the one of sm_90a"


def test_the_text_has_all_figures(report: StaticReport):
    (kernel,) = report.kernels
    text = str(report)
    assert text.startswith("target sm_90a, H100 SXM\n\nrms_norm<<<")
    assert f"registers      {kernel.resources.registers} of 255, no spills, no stack\n" in text
    assert f"{kernel.occupancy.warps} of 64 warps an SM" in text
    assert "129 KiB at least" in text
    assert "bound by       launch\n" in text
    assert kernel.clock is not None
    assert (
        f"clock          {1e6 * kernel.clock.seconds:.3g} us (estimate), warps wait for: " in text
    )
    bars = [
        line for line in text.splitlines() if re.fullmatch(r" {17}line \d+ +\d+ % [msbpi]*", line)
    ]
    assert len(bars) == 3


def test_json_is_json(report: StaticReport):
    content: dict[str, Any] = json.loads(json.dumps(as_json(report), allow_nan=False))
    (kernel,) = content["kernels"]
    assert content["target"] == "sm_90a"
    assert kernel["resources"]["registers"] == report.kernels[0].resources.registers
    assert kernel["traffic"]["minimum_bytes"] == 4 * (2 * 64 * 256 + 256)
    assert kernel["estimate"]["bound"] == "launch"
    assert kernel["code"]["accesses"]["LDG.128"] > 0
    assert kernel["clock"]["seconds"] > 0
    assert kernel["clock"]["waits"]["memory"] > 0
    assert kernel["clock"]["lines"][0]["line"] > 0


def two_products(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Multiply by `w` twice: one kernel, launched twice."""
    return x @ w @ w


def unchanged(x: torch.Tensor) -> torch.Tensor:
    """Return the input: a program without kernels."""
    return x


def nowhere(_: str) -> None:
    """Replace `find_spec`: no package is installed."""


def test_a_kernel_is_reported_once_however_often_it_is_launched():
    x, w = torch.zeros(16, 64), torch.zeros(64, 64)
    module = tilewright.capture(two_products, x, w).module
    (kernel,) = report_of(module, H100).kernels
    assert kernel.launches == 2
    assert "launched 2 times" in str(report_of(module, H100))


def test_kernels_with_names_that_cuda_has_taken_keep_their_costs():
    module = tilewright.capture(torch.erf, torch.zeros(64)).module
    (kernel,) = report_of(module, H100).kernels
    assert kernel.traffic.minimum_bytes == 2 * 64 * 4


def test_cuda_ir_alone_has_no_estimates(rows: ModuleOp):
    report = report_of(lower(rows, Level.CUDA), H100)
    (kernel,) = report.kernels
    assert kernel.estimate is None
    assert kernel.clock is None
    assert kernel.traffic.source == "buffers"
    assert kernel.traffic.minimum_bytes == 4 * (2 * 64 * 256 + 256)
    assert any("no estimates" in note for note in report.notes)
    assert "note: no estimates" in str(report)


def test_counters_of_a_run_count_more_than_estimates(rows: ModuleOp):
    accesses = (
        AccessCount(1, "global", "ld", 4, transactions=100, ideal=50),
        AccessCount(1, "shared", "ld", 4, transactions=30, ideal=10),
    )
    (kernel,) = report_of(rows, H100, {"rms_norm": Counters(accesses)}).kernels
    assert kernel.traffic.source == "simulator"
    assert (kernel.traffic.sector_bytes, kernel.traffic.sector_factor) == (3200, 2)
    assert kernel.traffic.bank_factor == 3
    assert "bank factor 3.00 (simulator)" in str(
        report_of(rows, H100, {"rms_norm": Counters(accesses)})
    )


def test_a_program_without_kernels():
    module = tilewright.capture(unchanged, torch.zeros(4)).module
    report = report_of(module, H100)
    assert report.kernels == ()
    assert "there are no kernels" in str(report)


def test_the_python_api():
    program = tilewright.compile(torch.nn.ReLU(), torch.zeros(16, 64), target="sm_80")
    (kernel,) = program.report().kernels
    assert kernel.target.name == "sm_80"
    assert kernel.launch == program.kernels[0]


def test_without_nvdisasm_there_is_ptx_and_a_note(rows: ModuleOp, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(disassemble, "find_nvdisasm", lambda: None)
    report = report_of(rows, H100)
    (kernel,) = report.kernels
    assert kernel.language == "PTX"
    assert kernel.resources.registers > 0  # ptxas prints the registers without a disassembler
    assert kernel.mix.count(Category.LDG) > 0
    assert kernel.estimate is not None
    assert kernel.clock is None
    assert any("PTX" in note and "no clock" in note for note in report.notes)
    assert any("pip install" in note for note in report.notes)


def test_without_nvrtc_there_is_an_error_that_says_how_to_get_it(
    rows: ModuleOp, monkeypatch: pytest.MonkeyPatch
):
    def missing() -> None:
        raise nvrtc_library.NvrtcUnavailable("and it is not found")

    monkeypatch.setattr(nvrtc_library, "load", missing)
    with pytest.raises(TilewrightError, match=r"needs NVRTC.*pip install 'tilewright\[cuda\]'"):
        report_of(rows, H100)


def test_unreadable_machine_code_is_an_error():
    with pytest.raises(TilewrightError, match=r"nvdisasm failed: .*the cubin"):
        disassemble.disassemble(b"no cubin")


def test_a_broken_nvdisasm_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    program = tmp_path / "nvdisasm"
    program.write_text("no program")
    monkeypatch.setattr(disassemble, "find_nvdisasm", lambda: program)
    with pytest.raises(disassemble.NvdisasmUnavailable, match="does not start"):
        disassemble.disassemble(b"")


def test_nvdisasm_is_found_in_a_toolkit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    program = tmp_path / "bin" / "nvdisasm"
    program.parent.mkdir()
    program.write_text("")
    monkeypatch.setattr(disassemble, "find_spec", nowhere)
    monkeypatch.setattr(nvrtc_library, "_toolkits", [tmp_path])
    assert disassemble.find_nvdisasm() == program


def test_a_handwritten_product_on_tensor_cores():
    """4096x4096x4096 in bfloat16 by blocks of 128x128: 64 chunks of 64, 64 `mma.sync` a warp."""
    size = 4096
    half = ArrayType((size, size), np.dtype(ml_dtypes.bfloat16))
    buffers = (half, half, ArrayType((size, size), np.dtype(np.float32)))
    plan = Plan(
        (KERNELS / "tensor.cu").read_text(),
        input_names=("a", "b"),
        buffers=buffers,
        launches=(Launch("mma_bf16", 1024, 256, 32768, (0, 1), (2,)),),
        results=(2,),
        inputs=(half, half),
        permuted={},
        slab=Slab(),
        alignments=(16, 16),
        names=("a", "b", "c"),
        source_names={},
    )
    moved = sum(buffer.bytes for buffer in buffers)
    cost = KernelCost(
        blocks=1024,
        threads=256,
        flops=2 * size**3,
        global_bytes=moved,
        accessed_bytes=1024 * 64 * 32768 + buffers[2].bytes,
        sectors=(1024 * 64 * 32768 + buffers[2].bytes) / 32,
    )
    report = static_report(plan, H100, {"mma_bf16": cost})
    (kernel,) = report.kernels
    text = str(report)
    assert "SASS instructions: 64 HMMA, 8 LDG.128, 32 STG.64, 24 LDSM.128, 8 STS.128\n" in text
    assert f"registers      {kernel.resources.registers} of 255, no spills" in text
    assert "instructions: 64 HMMA (" in text
    assert kernel.roofline_seconds == pytest.approx(2 * size**3 / H100.tensor_flops)
    assert kernel.estimate is not None
    assert kernel.estimate.parts["tensor cores"] == pytest.approx(
        8 * 64 * 768 / H100.clock, rel=0.01
    )
    assert kernel.estimate.parts["float32"] < 0.01 * kernel.estimate.parts["tensor cores"]
    content = as_json(report)["kernels"][0]["main_loop"]
    assert (content["counts"]["HMMA"], content["accesses"]["LDSM.128"]) == (64, 24)
