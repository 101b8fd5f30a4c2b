# SPDX-License-Identifier: Apache-2.0
"""Goldens: files are read back as written, and each golden still applies to its kernel."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

import tilewright
from tilewright.dialects import loop
from tilewright.errors import UsageError
from tilewright.frontend.expression import parse_expression
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes, expanded
from tilewright.passes.targeted_pass import for_target
from tilewright.tuning.applicability import reason_against_fusion, reason_against_schedule
from tilewright.tuning.goldens import (
    Golden,
    GoldenFile,
    file_name,
    golden_files,
    golden_text,
    goldens_of,
    shipped_goldens,
)
from tilewright.tuning.kernel_key import digest, input_names, key_of, note_of
from tilewright.tuning.key import SEMANTICS, Record
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.operand_names import to_canonical
from tilewright.tuning.program_key import digest as program_digest
from tilewright.tuning.program_key import key_of as key_of_program
from tilewright.tuning.program_key import note_of as note_of_program

TARGET = "sm_90a"
ORIGIN = "torch.relu(torch.randn(40, 64) @ torch.randn(64, 48)).softmax(-1)"
SCHEDULE = (
    "tileify,chunk-matmul-k{bk=16},blockify-launch{m=8 n=16},stage-inputs{raw=t0,t1},"
    "mark-unroll{limit=16}"
)


@cache
def tensors(origin: str, target: str) -> ModuleOp:
    """Return an expression at Tensor IR."""
    model = parse_expression(origin, fake=True, seed=0)
    captured = tilewright.capture(model.module, *model.args, kwargs=model.kwargs)
    return lower(captured.module, Level.TENSOR, target=target)


@cache
def nests(origin: str, target: str) -> ModuleOp:
    """Return the kernels of an expression at Loop IR."""
    return lower(tensors(origin, target), Level.LOOP, target=target)


def kernel_of(golden: Golden, module: ModuleOp) -> loop.KernelOp | None:
    """Return the kernel of a golden, or None."""
    kernels = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    return next((kernel for kernel in kernels if digest(kernel) == golden.kernel), None)


def problem(golden: Golden, target: str) -> str:
    """Return the reason why a golden is useless; empty if it is valid."""
    if golden.semantics != SEMANTICS:
        return f"it is of version {golden.semantics} of what schedules mean"
    kernel = kernel_of(golden, nests(golden.origin, target))
    if program_digest(tensors(golden.origin, target)) == golden.kernel:
        return reason_against_fusion(tensors(golden.origin, target), golden.schedule, target) or ""
    if kernel is None:
        return "its origin has no kernel with its digest"
    if input_names(kernel) != golden.inputs:
        return f"its inputs are called {input_names(kernel)}"
    return reason_against_schedule(kernel, golden.schedule, target) or ""


def test_goldens_that_are_shipped() -> None:
    problems = {
        f"{file.path.name}: {golden.about}": found
        for file in shipped_goldens()
        for golden in file.goldens
        if (found := problem(golden, file.target))
    }
    assert problems == {}


@pytest.fixture(scope="module")
def golden() -> Golden:
    """A golden of the product, as an export makes it."""
    kernel = next(op for op in nests(ORIGIN, TARGET).ops if isinstance(op, loop.KernelOp))
    schedule = to_canonical(SCHEDULE, input_names(kernel))
    key = key_of(kernel, TARGET, "gpu", "Some GPU", "13.0")
    record = Record(key, Measurement(schedule, 12.5), "2026-01-01T00:00:00.000000+00:00")
    ((where, (found,)),) = goldens_of({key.kernel: note_of(kernel, ORIGIN)}, [record]).items()
    assert where == ("Some GPU", TARGET)
    return found


def test_a_valid_golden_has_no_problem(golden: Golden) -> None:
    assert (golden.about, golden.us) == ("relu_matmul(40x64xf32, 64x48xf32) -> 40x48xf32", 12.5)
    assert (golden.inputs, golden.schedule) == (("t0", "t1"), SCHEDULE)
    assert problem(golden, TARGET) == ""


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"origin": ORIGIN.replace("40", "41")}, "its origin has no kernel with its digest"),
        ({"inputs": ("t1", "t0")}, "its inputs are called ('t0', 't1')"),
        ({"schedule": SCHEDULE.replace("t1", "t2")}, "it has no operand 't2'"),
        ({"semantics": SEMANTICS + 1}, "of what schedules mean"),
    ],
)
def test_a_stale_golden_is_found(golden: Golden, changes: dict[str, Any], says: str) -> None:
    assert says in problem(golden._replace(**changes), TARGET)


def test_its_pipeline_makes_the_kernel_with_opt_tool(golden: Golden) -> None:
    module = nests(ORIGIN, TARGET)
    kernel = kernel_of(golden, module)
    assert kernel is not None
    alone = ModuleOp([kernel.clone()])
    passes = expanded(parse_pipeline(golden.schedule, available_passes()))
    PassManager(context()).run(alone, [for_target(step, TARGET) for step in passes])
    (made,) = (op for op in alone.ops if isinstance(op, loop.KernelOp))
    assert made.schedule is not None
    assert made.schedule.data == SCHEDULE


def test_files_are_read_back_as_written(golden: Golden, tmp_path: Path) -> None:
    odd = golden._replace(kernel="0" * 32, origin='x = "\\\t\x7fü"; torch.exp(x)', inputs=("", "y"))
    path = tmp_path / file_name("NVIDIA H100 80GB HBM3 (PCIe)")
    assert path.name == "nvidia-h100-80gb-hbm3-pcie.toml"
    path.write_text(golden_text("A GPU", TARGET, [odd, golden]))
    (tmp_path / "notes.md").write_text("no golden")
    assert golden_files(tmp_path) == (GoldenFile(path, "A GPU", TARGET, (odd, golden)),)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("gpu =", "gnu =", "not a file of goldens: it lacks 'gpu'"),
        ("us = 12.5", "us = '12'", "not a file of goldens: unexpected '12'"),
        ("us = 12.5", "us =", "not a file of goldens: "),
        ("semantics = 1\n", "", "it lacks 'semantics'"),
    ],
)
def test_files_that_are_no_goldens(
    golden: Golden, tmp_path: Path, old: str, new: str, says: str
) -> None:
    text = golden_text("A GPU", TARGET, [golden])
    assert old in text
    (tmp_path / "gpu.toml").write_text(text.replace(old, new))
    with pytest.raises(UsageError, match=says):
        golden_files(tmp_path)


def test_the_fusion_of_a_program_can_be_a_golden() -> None:
    program = tensors(ORIGIN, TARGET)
    key, note = key_of_program(program, TARGET, "gpu", "GPU"), note_of_program(program, ORIGIN)
    names = ("fuse-epilogue:matmul_1>relu", "fuse-epilogue:a>b")
    good, bad = (Measurement(f'decide-fusion{{apart="{name}"}},to-loop', 2.0) for name in names)
    (of_good,) = goldens_of({note.kernel: note}, [Record(key, good, "2026-01-01")]).values()
    (of_bad,) = goldens_of({note.kernel: note}, [Record(key, bad, "2026-01-01")]).values()
    assert problem(of_good[0], TARGET) == ""
    assert problem(of_bad[0], TARGET) == "'fuse-epilogue:a>b' is never reached"
