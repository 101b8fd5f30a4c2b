# SPDX-License-Identifier: Apache-2.0
"""Memory of interpreted programs: estimates bound the allocated memory, and too much is refused."""

import tracemalloc
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

import tilewright
from tilewright.interpreters import memory
from tilewright.interpreters.check import check_pass
from tilewright.interpreters.errors import TooLargeError
from tilewright.interpreters.host import interpret
from tilewright.interpreters.memory import bytes_needed
from tilewright.interpreters.types import ElementTypes
from tilewright.tools.cli import main

PROGRAMS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor]] = {
    "pointwise": (lambda x: x + x.exp(), torch.randn(256, 512)),
    "softmax": (lambda x: torch.softmax(x, -1), torch.randn(256, 512)),
    "var": (lambda x: torch.var(x, 1, correction=2), torch.randn(3, 4, 16, 1024)),
    "matmul": (lambda x: x @ x, torch.randn(64, 64)),
    "pool": (lambda x: F.avg_pool2d(x, 3, 1, 1), torch.randn(8, 64, 64)),
}


def lowered(name: str, level: str) -> tuple[ModuleOp, Any]:
    function, x = PROGRAMS[name]
    return tilewright.lower(tilewright.capture(function, x), level, "sm_90a", db=False), x.numpy()


@pytest.mark.one_in(4)
@pytest.mark.parametrize("level", ["tensor", "loop", "tile", "kernel"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_estimate_bounds_the_allocated_memory(name: str, level: str):
    module, x = lowered(name, level)
    interpret(module, x)  # imports and caches do not count
    (function,) = (op for op in module.ops if "main" in str(op.get_attr_or_prop("sym_name")))
    estimate = bytes_needed(function, ElementTypes(np.float64))
    tracemalloc.start()
    try:
        interpret(module, x, dtype=np.float64)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # One piece of a kernel is overestimated, and is large compared with these buffers.
    assert 0.8 * peak <= estimate <= 2 * peak + memory.PIECE


@pytest.fixture
def _little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda: 1 << 20)


@pytest.mark.usefixtures("_little_memory")
def test_too_much_is_refused_before_it_runs():
    module, x = lowered("softmax", "tensor")
    with pytest.raises(TooLargeError, match=r"interpreting @main takes about 0\.\d GiB of memory"):
        interpret(module, x)


@pytest.mark.usefixtures("_little_memory")
def test_a_check_skips_programs_that_need_too_much():
    module, _ = lowered("softmax", "tensor")
    report = check_pass(module, module.clone(), "my-pass")
    assert report.compared == ()
    assert "pass 'my-pass' is not checked at @main: interpreting @main" in report.notes[0]


@pytest.mark.usefixtures("_little_memory")
def test_a_run_that_cannot_be_compared_is_refused(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "-c", "torch.var(torch.randn(512, 512))"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: computing the expected results takes about ")
    assert error.endswith("(use smaller shapes)\n")


def test_a_run_is_refused_before_its_inputs_are_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr("tilewright.tools.program._LARGE", 1 << 20)
    monkeypatch.setattr(memory, "available_memory", lambda: 1 << 20)
    drawn = Mock()
    monkeypatch.setattr("tilewright.tools.input.source.ExpressionSource.captured", drawn)
    assert main(["run", "-c", "print('drawn'); torch.var(torch.randn(512, 512))"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: computing the expected results takes about ")
    drawn.assert_not_called()


def test_memory_is_estimated_once_for_a_check(monkeypatch: pytest.MonkeyPatch):
    module, _ = lowered("matmul", "tensor")
    estimated = list[object]()

    def estimate(root: Operation, types: ElementTypes) -> int:
        estimated.append(root)
        return bytes_needed(root, types)

    monkeypatch.setattr("tilewright.interpreters.check.bytes_needed", estimate)
    monkeypatch.setattr("tilewright.interpreters.host.bytes_needed", estimate)
    assert check_pass(module, module.clone(), "my-pass").compared == ("main",)
    assert len(estimated) == 2  # before and after
