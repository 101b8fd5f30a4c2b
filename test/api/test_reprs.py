# SPDX-License-Identifier: Apache-2.0
"""Objects of the Python API in a REPL: short, on one line, comparable, without parameter values."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from subprocess import PIPE
from subprocess import run as run_process
from typing import Any, cast

import pytest
import torch
from needs import needs_nvrtc
from torch import nn

import tilewright
from tilewright.codegen.plan_text import plan_text
from tilewright.dialects.target import target

LONGEST = 160
"""Maximum number of characters of a repr."""


def mlp() -> nn.Module:
    """Return a module with four parameters of many values."""
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))


@pytest.fixture(scope="module")
def program() -> tilewright.CompiledProgram:
    """Compiled program of a module with two kernels."""
    return tilewright.compile(mlp(), torch.zeros(32, 64), target="sm_90a", device="sim")


def reachable(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield a dataclass of this package and those in its fields, with their places."""
    for number, item in enumerate(_items(value)):
        yield from reachable(item, f"{place}[{number}]")
    is_ours = type(value).__module__.startswith("tilewright.")
    if not is_ours or not is_dataclass(value):
        return
    yield place, value
    for field in (field for field in fields(value) if field.repr):
        yield from reachable(getattr(value, field.name), f"{place}.{field.name}")


def _items(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [*cast(list[Any], value)]
    return [*cast(Mapping[Any, Any], value).values()] if isinstance(value, Mapping) else []


def overlong(value: Any, place: str) -> list[str]:
    """Return the places of objects whose repr is long, or has several lines."""
    found = [*reachable(value, place)]
    assert found
    return [
        f"{place}: {repr(each)!r}"
        for place, each in found
        if len(repr(each)) > LONGEST or "\n" in repr(each)
    ]


def test_a_program_is_one_line():
    def relu_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.relu(a @ b)

    a, b = torch.zeros(16, 64), torch.zeros(64, 16)
    found = tilewright.compile(relu_matmul, a, b, target="sm_90a", device="sim")
    expected = "<CompiledProgram relu_matmul: 2 inputs -> 1 output, 1 kernel, sm_90a>"
    assert repr(found) == str(found) == expected


def test_parameters_and_kernels_are_counted(program: tilewright.CompiledProgram):
    first = program.kernels[0].kernel
    assert repr(program) == (
        f"<CompiledProgram {first}, ...: 1 input, 4 parameters -> 1 output, 2 kernels, sm_90a>"
    )
    assert repr(program.plan) == "<Plan: 5 inputs -> 1 result, 2 kernels, 2 launches>"
    captured = program.captured
    assert repr(captured) == "<Captured: 1 input, 4 parameters -> 1 output>"
    assert repr(captured.inputs[0]) == "<Input 0.weight: parameter float32[64, 64]>"
    assert repr(captured.inputs[-1]) == "<Input input: float32[32, 64]>"
    assert repr(program.kernels[0]).startswith(f"<Launch {first}<<<")


def test_a_program_without_kernels():
    found = tilewright.compile(lambda x: x, torch.zeros(3), target="sm_80", device="sim")  # pyright: ignore
    assert repr(found) == "<CompiledProgram: 1 input -> 1 output, no kernels, sm_80>"
    assert repr(found.plan) == "<Plan: 1 input -> 1 result, no kernels, 0 launches>"


def test_what_a_program_has_is_short(program: tilewright.CompiledProgram):
    assert overlong(program, "program") == []
    assert overlong(program.plan, "plan") == []
    assert overlong(target("sm_90a"), "target") == []
    assert repr(program.backend) == "<SimulatorBackend sm_90a>"


@needs_nvrtc
def test_reports_are_short(program: tilewright.CompiledProgram):
    report = program.report()
    assert repr(report) == "<StaticReport: 2 kernels, sm_90a>"
    assert overlong(report, "report") == []
    assert hash(report) == hash(report)


def test_texts_are_printed(program: tilewright.CompiledProgram):
    assert f"{program.plan}\n" == plan_text(program.plan)
    assert str(program.captured) == str(program.captured.module)


def test_programs_compare_by_identity(program: tilewright.CompiledProgram):
    x = torch.zeros(32, 64)
    other = tilewright.compile(mlp(), x, target="sm_90a", device="sim")
    assert program != other
    assert len({program, other, program.captured, other.captured, *program.captured.inputs}) == 9
    assert program.captured.inputs != other.captured.inputs
    assert program.plan == program.plan
    assert hash(program.plan) == hash(program.plan)


def test_the_package_lists_its_api_only():
    """
    The test needs a process of its own: imports of other tests would hide names that the package
    lists.
    """
    code = (
        "import tilewright, tilewright.errors, tilewright.dialects\n"
        "print(*(n for n in dir(tilewright) if n[:2] != '__'), '__version__' in dir(tilewright))"
    )
    listed = run_process([sys.executable, "-c", code], stdout=PIPE, text=True, check=True)
    assert listed.stdout.split() == [*sorted(tilewright.__all__), "True"]
