# SPDX-License-Identifier: Apache-2.0
"""Expected results of a kernel: by the interpreter, and by a device, here the simulator."""

# PyTorch's functions are typed in part.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

import tilewright
from tilewright.arrays import tensor_of
from tilewright.codegen.random_inputs import random_inputs
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.dialects import loop
from tilewright.interpreters import interpret
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.tuning.evaluators.compiled import Compiled, compiled, scheduled
from tilewright.tuning.evaluators.reference import INTERPRETED, PLAIN, Reference, Where, widened

WHERE = Where(SimulatedDriver(), "sm_90a")

PROGRAMS: dict[str, tuple[Callable[..., Any], str]] = {
    "matmul": (torch.matmul, "8x16 16x8"),
    "softmax": (lambda x: F.softmax(x, -1), "4x8"),
    "half": (lambda x: F.softmax(x.half(), -1).double(), "4x8"),
    "argmax": (lambda x: torch.argmax(x / 3, -1), "4x8"),
    "cumsum": (lambda x: x.cumsum(-1), "4x8"),
    "causal": (lambda x: torch.where(x.tril().isnan(), -torch.inf, x), "4x4"),
}


def kernels(name: str) -> list[str]:
    """Return the texts of the kernels of a program."""
    function, shapes = PROGRAMS[name]
    given = [torch.empty([*map(int, shape.split("x"))]) for shape in shapes.split()]
    nests = lower(tilewright.capture(function, *given).module, Level.LOOP)
    return [str(ModuleOp([op.clone()])) for op in nests.ops if isinstance(op, loop.KernelOp)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "half"])
def test_wider_types_give_the_results_of_the_interpreter(name: str) -> None:
    for kernel in kernels(name):
        wide = widened(scheduled(kernel))
        assert "f32" not in str(wide)
        inputs = [array.astype(np.float64) for array in random_inputs(types_of(kernel), 0)]
        expected = interpret(scheduled(kernel), *inputs, dtype=np.float64)
        assert all(map(np.array_equal, interpret(wide, *inputs), expected))


def test_half_types_stay() -> None:
    (kernel,) = kernels("half")
    casts = re.compile(r"arith.(\w+) %\d+ : (\w+ to \w+)")
    assert set(casts.findall(kernel)) == {
        *(("truncf", "f32 to f16"), ("extf", "f16 to f32"), ("extf", "f16 to f64")),
    }
    wide = str(widened(scheduled(kernel)))
    assert set(casts.findall(wide)) == {("truncf", "f64 to f16"), ("extf", "f16 to f64")}


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("name", ["matmul", "argmax", "causal"])
def test_the_interpreter_and_a_device_agree_on_right_results(name: str) -> None:
    for kernel in kernels(name):
        types = types_of(kernel)
        by_interpreter = Reference(kernel, types, WHERE)
        by_device = Reference(kernel, types, WHERE, interpreted=0)
        right = interpret(scheduled(kernel), *by_interpreter.inputs)
        for reference in (by_interpreter, by_device):
            assert reference.complaint([*map(tensor_of, right)]) == ""
            wrong = [tensor_of(array) + 1 for array in right]
            assert reference.complaint(wrong) != ""


@needs_nvrtc
@pytest.mark.parametrize("interpreted", [0, INTERPRETED])
def test_factors_may_be_rounded_where_the_kernel_allows_it(interpreted: float) -> None:
    """An error of 2^-12 of the largest result is one of tf32, and of 2^-7 is none."""
    (kernel,) = kernels("matmul")
    flagged = kernel.replace(
        " : f32\n        loop.yield", " fastmath<afn> : f32\n        loop.yield"
    )
    assert flagged != kernel
    for text, is_right in ((kernel, False), (flagged, True)):
        reference = Reference(text, types_of(text), WHERE, interpreted)
        (right,) = interpret(scheduled(text), *reference.inputs)
        size = abs(right).max()
        assert (reference.complaint([tensor_of(right + size * 2**-12)]) == "") == is_right
        assert reference.complaint([tensor_of(right + size * 2**-7)]) != ""


def types_of(kernel: str) -> Any:
    """Return the types of a kernel's inputs."""
    found = compiled(kernel, PLAIN, "sm_90a")
    assert isinstance(found, Compiled)
    return found.plan.inputs
