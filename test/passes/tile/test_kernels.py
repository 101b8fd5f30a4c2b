# SPDX-License-Identifier: Apache-2.0
"""Hand-written kernels compute what PyTorch computes; tests of their size and instruction mix."""

from collections.abc import Callable

import pytest
import torch
from needs import needs_nvrtc
from some_cases import some
from xdsl.dialects.builtin import ModuleOp

from tilewright.api import lower
from tilewright.arrays import array_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.report import report_of
from tilewright.codegen.report.instruction import Category
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects.loop import KernelOp
from tilewright.dialects.target import target
from tilewright.interpreters.kernels import interpret_kernel
from tilewright.passes.rewriting.launching import with_main

from .kernels.references import FOLDER, REFERENCES

Parse = Callable[[str], ModuleOp]

SLOW = ("gated_matmul", "matmul_tma_slabs", "rms_norm_50257", "softmax_50257")
"""
Kernels that are simulated only with `--every-case`. Faster kernels have similar schedules, or the
passes generate these kernels and `end_to_end` simulates them.
"""

NEVER = "matmul_split_k"
"""Kernel that is never simulated: its two billion multiplications take too long."""


def kernel(parse: Parse, name: str) -> KernelOp:
    """Return the kernel in the file `name`.mlir."""
    (op,) = parse((FOLDER / f"{name}.mlir").read_text()).ops
    assert isinstance(op, KernelOp)
    return op


def test_every_kernel_has_a_reference():
    assert {path.stem for path in FOLDER.glob("*.mlir")} == {*REFERENCES}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", REFERENCES)
def test_interpreted(parse: Parse, name: str, request: pytest.FixtureRequest):
    if name == "matmul_split_k" and not request.config.getoption("--every-case"):
        pytest.skip("two billion multiplications; --every-case does them")
    reference = REFERENCES[name]
    inputs = [array_of(tensor) for tensor in reference.inputs()]
    (result,) = interpret_kernel(kernel(parse, name), inputs)
    reference.assert_close(torch.as_tensor(result))


def test_a_scheduled_matmul_is_small(parse: Parse):
    assert len([*kernel(parse, "matmul_split_k").walk()]) < 30


def program(parse: Parse, name: str) -> ModuleOp:
    """Return a module of the kernel and a host function that launches it."""
    return with_main(parse((FOLDER / f"{name}.mlir").read_text()))


def simulate(parse: Parse, name: str) -> None:
    # Simulate NVRTC's PTX with all checks: races, bounds, alignment, uninitialised memory.
    reference = REFERENCES[name]
    inputs = [array_of(tensor) for tensor in reference.inputs()]
    execution = SimulatorBackend("sm_90a").run(plan_of(lower(program(parse, name), "cuda")), inputs)
    assert not execution.problems
    reference.assert_close(torch.as_tensor(execution.results[0]))


@pytest.mark.one_in(6)
@needs_nvrtc
@pytest.mark.parametrize("name", [name for name in REFERENCES if name not in (NEVER, *SLOW)])
def test_simulated(parse: Parse, name: str):
    simulate(parse, name)


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("name", SLOW)
def test_slow_ones_simulated(parse: Parse, name: str):
    simulate(parse, name)


# Least share of fused multiply-adds among the instructions of the main loop, on sm_90a.
SHARES = {"gated_matmul": 0.8, "batched_matmul_tma": 0.86, "matmul_tma_slabs": 0.88}


@pytest.mark.one_in(2)
@needs_nvrtc
@pytest.mark.parametrize("name", some(SHARES))
def test_a_register_tile_multiplies_most_of_the_time(parse: Parse, name: str):
    (kernel,) = report_of(program(parse, name), target("sm_90a")).kernels
    assert kernel.resources.spill_store_bytes == 0
    assert kernel.loop is not None
    assert kernel.loop.mix.share(Category.FFMA) >= SHARES[name]


ALIGNED = "softmax_512", "softmax_2048", "rms_norm_2048", "rms_norm_512"


@needs_nvrtc
@pytest.mark.parametrize("name", some(ALIGNED))
def test_aligned_rows_move_16_bytes_at_once(parse: Parse, name: str):
    (kernel,) = report_of(program(parse, name), target("sm_90a")).kernels
    moved = {bits for kind, bits in kernel.mix.accesses if kind in (Category.LDG, Category.STG)}
    assert moved == {128}
