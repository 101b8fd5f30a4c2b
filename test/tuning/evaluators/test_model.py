# SPDX-License-Identifier: Apache-2.0
"""Times that the models give to schedules, and the schedules they distinguish."""

import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.report import disassemble
from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.tuning.evaluators import evidence as machine_code
from tilewright.tuning.evaluators.evidence import evidence, shortlist
from tilewright.tuning.evaluators.model import model
from tilewright.tuning.measurement import Measurement

from ..kernels import MATMUL, kernel_of

TARGET = "sm_90a"
LARGE = "torch.randn(2048, 2048) @ torch.randn(2048, 2048)"
TILED = (
    "tileify,chunk-matmul-k{{bk=16}},blockify-launch{{m=128 n=128}},{stage}"
    "register-tile{{fm={fm} fn=8 fk=4 min_blocks={blocks}}},permute-register-tile,{ring}"
    "mark-unroll{{limit={limit}}}"
)
GOOD = {
    "stage": "stage-inputs,",
    "fm": 8,
    "blocks": 2,
    "ring": "double-buffer{depth=3},async-copy,pipeline-k-outer{lookahead=2},",
    "limit": 16,
}


@pytest.fixture(scope="module")
def large() -> loop.KernelOp:
    return kernel_of(LARGE)


def modelled(kernel: loop.KernelOp, schedule: str) -> float:
    """Return the microseconds of a schedule by the model."""
    copy = kernel.clone()
    copy.planned = ScheduleAttr.parse(schedule)
    (made,) = lower(ModuleOp([copy]), Level.TILE, target=TARGET).ops
    assert isinstance(made, loop.KernelOp)
    measurement = model(TARGET)(made)
    assert measurement.us is not None
    assert made.schedule is not None
    assert measurement.schedule == made.schedule.data
    return measurement.us


@pytest.mark.parametrize(
    "worse",
    [
        {"fm": 2},  # more loads from shared memory for each product
        {"stage": "", "ring": ""},  # each thread reads its own operands
        {"ring": ""},  # no copy overlaps with computation
        {"limit": 1},  # short loops: their overhead counts
        {"blocks": 4},  # registers are spilled
    ],
    ids=str,
)
def test_the_model_distinguishes_good_schedules_from_bad(
    large: loop.KernelOp, worse: dict[str, object]
):
    good, bad = (TILED.format(**values) for values in (GOOD, {**GOOD, **worse}))
    assert modelled(large, good) < modelled(large, bad)


def test_a_large_product_is_near_the_limit_of_the_machine(large: loop.KernelOp):
    # 2 * 2048^3 operations take 257 us on an H100; two of three blocks run at once on most SMs.
    assert 257 < modelled(large, TILED.format(**GOOD)) < 400


HALVES = (
    "tileify,chunk-matmul-k{{bk=64}},blockify-launch{{m=128 n=128}},stage-inputs,"
    "register-tile{{fm={fm} fn={fn} fk=1 min_blocks={blocks}}},{cores}double-buffer{{depth=3}},"
    "tma-copy,{swizzle}pipeline-k-outer{{lookahead=2}},mark-unroll"
)
BEST = {
    "fm": 8,
    "fn": 16,
    "blocks": 1,
    "cores": "tensor-core{instr=m16n8k16_bf16},",
    "swizzle": "split-inner-for-swizzle,",
}


@pytest.fixture(scope="module")
def halves() -> loop.KernelOp:
    return kernel_of(LARGE.replace("2048)", "2048, dtype=torch.bfloat16)"))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "worse",
    [
        {"fn": 8},  # more fragments are loaded for each product
        {"cores": "permute-register-tile,"},  # multiply-adds instead of matrix instructions
        {"swizzle": ""},  # bank conflicts of `ldmatrix`
        {"blocks": 4},  # registers are spilled
    ],
    ids=str,
)
def test_the_model_knows_tensor_cores(halves: loop.KernelOp, worse: dict[str, object]):
    best, other = (HALVES.format(**values) for values in (BEST, {**BEST, **worse}))
    assert modelled(halves, best) < modelled(halves, other)


def test_a_large_product_of_half_types_is_near_the_limit(halves: loop.KernelOp):
    # 2 * 2048^3 operations take 26 us by `mma.sync` on an H100.
    assert 26 < modelled(halves, HALVES.format(**BEST)) < 40


def test_splitting_float32_pays(large: loop.KernelOp):
    matrix = {**BEST, "fn": 8, "cores": "tensor-core{instr=m16n8k8_tf32x3},"}
    split, lanes = HALVES.format(**matrix), TILED.format(**GOOD)
    assert modelled(large, split) < modelled(large, lanes)


@needs_nvrtc
def test_evidence_from_machine_code():
    kernel = kernel_of(MATMUL)
    found = evidence(str(kernel), "tileify,blockify-launch{m=8 n=32},mark-unroll", TARGET)
    assert found.us is not None
    assert 2 < found.us < 20
    refused = evidence(str(kernel), "tileify,chunk-matmul-k{bk=1000},mark-unroll", TARGET)
    assert refused.us is None
    assert "chunks of 1000" in refused.problem


@needs_nvrtc
def test_without_nvdisasm_the_estimate_stands_in_for_the_clock(monkeypatch: pytest.MonkeyPatch):
    kernel, schedule = str(kernel_of(MATMUL)), "tileify,blockify-launch{m=8 n=32},mark-unroll"
    clocked = evidence(kernel, schedule, TARGET).us
    assert machine_code.evaluator() == "clock"
    for module in (machine_code, disassemble):
        monkeypatch.setattr(module, "find_nvdisasm", lambda: None)
    assert machine_code.evaluator() == "evidence"
    assert evidence(kernel, schedule, TARGET).us not in (None, clocked)


def test_a_shortlist_has_the_fastest_once():
    times = {"a": 3.0, "b": 1.0, "c": 2.0, "d": None, "e": 1.0}
    measurements = [Measurement(schedule, us) for schedule, us in times.items()]
    assert shortlist([*measurements, Measurement("b", 1.5)], 3) == ["b", "e", "c"]
