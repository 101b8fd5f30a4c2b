# SPDX-License-Identifier: Apache-2.0
"""Results that are right for a captured program in its precision."""

from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from tilewright import api
from tilewright.frontend.rounded_factors import rounded
from tilewright.interpreters.comparison import compare
from tilewright.passes.driver.lowering import Level, lower
from tilewright.tools.input.mlir_source import read_module
from tilewright.tools.program import captured_program, module_program

generator = torch.Generator().manual_seed(0)
X = torch.randn(24, 48, generator=generator)
W = torch.randn(48, 40, generator=generator)
V = torch.randn(40, 24, generator=generator)


def _mlp(x: torch.Tensor, w: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ w) @ v


def _kernels(bits: int) -> NDArray[np.float32]:
    """Return the results of kernels that round factors to a number of significant bits."""
    x, w, v = (rounded(each.double(), bits) for each in (X, W, V))
    hidden = rounded(torch.relu(x @ w), bits)
    return (hidden @ v).float().numpy()


RIGHT = {"highest": (24,), "high": (24, 11), "medium": (24, 11, 8)}
"""Significant bits of factors that each precision allows."""


@pytest.mark.parametrize("word", RIGHT)
def test_factors_may_be_rounded_as_far_as_the_precision_allows(word: str):
    captured = api.capture(_mlp, X, W, V, matmul_precision=word)
    program = captured_program(captured)
    assert program.inputs is not None
    right = [
        bits
        for bits in (24, 11, 8, 5)
        if not compare(program, program.inputs, [_kernels(bits)])[0].reason
    ]
    assert tuple(right) == RIGHT[word]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("word", RIGHT)
def test_a_file_of_torch_ir_has_the_precision_of_its_module(word: str, tmp_path: Path):
    captured = api.capture(_mlp, X, W, V, matmul_precision=word)
    path = tmp_path / "program.mlir"
    path.write_text(str(captured.module))
    program = module_program(read_module(str(path)), None)
    inputs = [each.numpy() for each in (X, W, V)]
    right = [
        bits for bits in (24, 11, 8, 5) if not compare(program, inputs, [_kernels(bits)])[0].reason
    ]
    assert tuple(right) == RIGHT[word]


def test_rounding_in_the_kernels_does_not_excuse_another_precision():
    """Kernels of `medium` round to bfloat16 in Kernel IR; `high` does not allow it."""
    program = captured_program(api.capture(_mlp, X, W, V, matmul_precision="high"))
    kernel_ir = lower(
        api.capture(_mlp, X, W, V, matmul_precision="medium").module, Level.KERNEL, target="sm_90a"
    )
    assert program.inputs is not None
    (found,) = compare(program, program.inputs, [_kernels(8)], lambda: kernel_ir)
    assert found.reason.startswith("the error is ")


def test_jumps_of_rounded_factors_are_right_where_rounding_is_allowed():
    """The floor of a product jumps where rounding its factors crosses an integer."""

    def floors(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return (x @ w).floor()

    x, w = (rounded(each.double(), 11) for each in (X, W))
    floored = (x @ w).floor().float().numpy()
    for word, is_right in (("high", True), ("highest", False)):
        program = captured_program(api.capture(floors, X, W, matmul_precision=word))
        assert program.inputs is not None
        (found,) = compare(program, program.inputs, [floored])
        assert (found.reason == "") == is_right
        (found,) = compare(program, program.inputs, [floored + 1])
        assert found.reason != ""
