# SPDX-License-Identifier: Apache-2.0
"""
Decoder layers of `transformers` with random weights. They take few kernels, which equal layers
share and which are named after modules, and are right after each pass.

`--every-case` simulates each family; of whole models, `test_model_families` simulates one.
"""

import socket
from functools import cache
from typing import Any

import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright import api, interpreters
from tilewright.arrays import array_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import loop
from tilewright.frontend.capture import Captured
from tilewright.interpreters.check import check_pass
from tilewright.interpreters.comparison import compare
from tilewright.interpreters.random_runs import RandomRuns
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.tools.program import captured_program

from .transformer_models import FAMILIES, Family

SOME = [FAMILIES[0], FAMILIES[3]]
"""Families of each run: each model and each form of attention occurs once."""


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse all connections, so that nothing is downloaded."""

    def refuse(*_: Any) -> None:
        raise AssertionError("a test opens a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@cache
def captured_layers(family: Family, number: int) -> Captured:
    layers = family.layers(number)
    return api.capture(layers.module, layers.x, kwargs=layers.kwargs)


def lowered_checked(captured: Captured) -> ModuleOp:
    """Return the Loop IR, after a check that every pass on the way keeps the results."""
    runs = RandomRuns()

    def check(before: ModuleOp, after: ModuleOp, name: str) -> None:
        report = check_pass(before, after, name, runs=runs)
        assert (report.compared, report.notes) == (("main",), ())

    return lower(captured.module, Level.LOOP, PassManager(context(), check_each=check))


def assert_right(captured: Captured, results: list[Any]) -> None:
    """
    Check that the error is that of float32, measured by PyTorch's own results in float64 and
    float32.
    """
    inputs = [array_of(input.tensor) for input in captured.inputs]
    comparisons = compare(captured_program(captured), inputs, results)
    assert comparisons
    assert [comparison.reason for comparison in comparisons if comparison.reason] == []


def interpreted(captured: Captured, module: ModuleOp) -> list[Any]:
    return interpreters.interpret(module, *(array_of(input.tensor) for input in captured.inputs))


def launches(root: Operation) -> list[str]:
    """Return the kernels that are launched below `root`, in order."""
    return [op.kernel.string_value() for op in root.walk() if isinstance(op, loop.LaunchOp)]


def kernels(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, loop.KernelOp)]


def check(family: Family) -> None:
    """Check each pass, the number of launches, and the names of the kernels."""
    captured = captured_layers(family, 1)
    module = lowered_checked(captured)
    assert_right(captured, interpreted(captured, module))
    assert len(launches(module)) <= 10, launches(module)
    assert launches(module).count(f"{family.snake}_rms_norm") == 2
    assert any(name.startswith(f"{family.snake}_attention") for name in kernels(module))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("family", SOME, ids=str)
def test_a_layer_is_few_kernels_named_after_modules_and_right(family: Family):
    check(family)


@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_every_layer(family: Family):
    check(family)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("family", SOME, ids=str)
def test_a_second_layer_needs_no_kernels_of_its_own(family: Family):
    one, two = (api.lower(captured_layers(family, number), "loop") for number in (1, 2))
    assert len(kernels(two)) <= len(kernels(one)), (kernels(one), kernels(two))


def simulate(family: Family) -> None:
    """Check that the simulator reports no problem, and that the results are right."""
    captured = captured_layers(family, 1)
    plan = plan_of(lower(captured.module, Level.CUDA))
    inputs = [array_of(input.tensor) for input in captured.inputs]
    execution = SimulatorBackend("sm_90a").run(plan, inputs)
    assert execution.problems == []
    assert_right(captured, execution.results)


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_every_layer_on_the_simulator(family: Family):
    simulate(family)
