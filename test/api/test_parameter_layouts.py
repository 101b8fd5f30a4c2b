# SPDX-License-Identifier: Apache-2.0
"""
Parameters whose layout changes at load: callers pass PyTorch's layout at every level, and the
results equal PyTorch's.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
import torch
from needs import needs_nvrtc
from torch import nn
from torch.utils import _pytree as pytree
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import tilewright
from tilewright.errors import UsageError
from tilewright.frontend.capture import Captured
from tilewright.interpreters.check import check_pass
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.tools.cli import main

INTERPRETED = ["torch", "tensor", "loop", "tile", "kernel"]


def example(*shape: int) -> torch.Tensor:
    """Return random numbers, the same each time."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


class Transposed(nn.Module):
    """Module of odd sizes, of which none divides another."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(example(5, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add the transposed parameter."""
        return x + self.w.t()


class Rotated(nn.Module):
    """Module with a permutation that is not its own inverse, of a buffer that is a result too."""

    b: torch.Tensor

    def __init__(self):
        super().__init__()
        self.register_buffer("b", example(3, 2, 4))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Multiply by the rotated buffer."""
        rotated = self.b.permute(2, 0, 1)
        return x * rotated, rotated


class Half(nn.Module):
    """Module with elements that NumPy has no type for, and an axis of one step."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(example(1, 5, 3).bfloat16())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Multiply in bfloat16."""
        return x * self.w.mT


class Case(NamedTuple):
    """Module with its input, and the axes by which its plan permutes each argument."""

    module: nn.Module
    x: torch.Tensor
    permuted: dict[int, Sequence[int]]


CASES = {
    "transposed": Case(Transposed(), example(3, 5), {0: (1, 0)}),
    "rotated": Case(Rotated(), example(4, 3, 2), {0: (2, 0, 1)}),
    "half": Case(Half(), example(1, 3, 5).bfloat16(), {0: (0, 2, 1)}),
}


@pytest.fixture(scope="module", params=CASES.values(), ids=list(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    """Each of the modules in turn."""
    return request.param


@pytest.fixture(scope="module")
def captured(case: Case) -> Captured:
    """Torch IR of the case's module."""
    return tilewright.capture(case.module, case.x)


def expected(case: Case) -> list[torch.Tensor]:
    """Return the results that PyTorch computes."""
    with torch.no_grad():
        return pytree.tree_leaves(case.module(case.x))


@pytest.mark.parametrize("level", INTERPRETED)
def test_every_level_takes_what_pytorch_has(case: Case, captured: Captured, level: str):
    module = tilewright.lower(captured, level)
    assert ("torch.layout" in str(module)) is (level != "torch")
    given = [i.tensor.detach() for i in captured.inputs]
    for got, want in zip(tilewright.interpret(module, *given), expected(case), strict=True):
        np.testing.assert_array_equal(got.astype(np.float32), want.float().numpy())


def test_every_pass_is_checked(captured: Captured):
    # The fold changes the signature, but not the arguments that callers pass.
    compared: dict[str, tuple[str, ...]] = {}

    def check(before: ModuleOp, after: ModuleOp, name: str) -> None:
        compared[name] = check_pass(before, after, name).compared

    lower(captured.module, Level.KERNEL, PassManager(context(), check_each=check))
    assert compared["fold-parameter-layouts"] == ("main",)
    assert set(compared.values()) == {("main",)}


def test_torch_ir_by_hand():
    text = """
      func.func @main(%w: tensor<3x5xf32> {torch.layout = affine_map<(d0, d1) -> (d1, d0)>})
          -> tensor<3x5xf32> {
        %0 = torch.exp %w : (tensor<3x5xf32>) -> tensor<3x5xf32>
        func.return %0 : tensor<3x5xf32>
      }
    """
    module, w = Parser(context(), text).parse_module(), example(5, 3)
    for level in ("torch", "loop"):
        (result,) = tilewright.interpret(tilewright.lower(module, level), w)
        np.testing.assert_allclose(result, w.t().exp(), rtol=1e-6)


@needs_nvrtc
def test_compiled(case: Case):
    program = tilewright.compile(case.module, case.x)
    assert dict(program.plan.permuted) == case.permuted
    assert program.plan.inputs[0].shape == tuple(program.captured.inputs[0].tensor.shape)
    assert program.cuda_source.startswith("// ")
    assert f"permuted by {list(case.permuted[0])} when loaded" in program.cuda_source
    for got, want in zip(pytree.tree_leaves(program(case.x)), expected(case), strict=True):
        assert torch.equal(got, want)


@needs_nvrtc
def test_a_change_in_place_is_seen():
    module = Transposed()
    program = tilewright.compile(module, example(3, 5))
    with torch.no_grad():
        module.w.mul_(2)
    assert torch.equal(program(example(3, 5)), module(example(3, 5)))


def test_the_layout_that_kernels_read_is_refused():
    captured = tilewright.capture(Transposed(), example(3, 5))
    module = tilewright.lower(captured, "loop")
    message = r"argument 0 of @main has shape \(3, 5\), expected \(5, 3\)"
    with pytest.raises(UsageError, match=message):
        tilewright.interpret(module, example(3, 5), example(3, 5))


class Written(nn.Module):
    """Module with a buffer that is read transposed, and written in place."""

    state: torch.Tensor

    def __init__(self):
        super().__init__()
        self.register_buffer("state", example(5, 3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Add the old state to the input, and keep the new state."""
        y = x + self.state.t()
        self.state.copy_(x.t())
        return y


@needs_nvrtc
def test_what_is_written_in_place_stays():
    module, twin = Written(), Written()
    program = tilewright.compile(module, example(3, 5))
    assert "torch.layout" not in program.ir("tensor")
    for x in (example(3, 5), example(3, 5) * 3):
        assert torch.equal(program(x), twin(x))
        assert torch.equal(module.state, twin.state)


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize(
    "text",
    [
        "m = nn.Linear(3, 5); torch.randn(3, 5) + m.weight.T",
        "m = nn.Conv1d(2, 4, 3); x = torch.randn(4, 3, 2); x * m.weight.mT",
        "m = nn.Linear(3, 5); x = torch.randn(2, 3, 5); (x.exp() @ m.weight) + m.weight.T @ x.mT",
    ],
)
def test_command_line(text: str):
    assert main(["run", "--check=each", "-c", text]) == 0
