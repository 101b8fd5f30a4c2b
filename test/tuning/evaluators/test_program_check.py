# SPDX-License-Identifier: Apache-2.0
"""The check that another fusion computes the same results, with the simulator as the GPU."""

import pytest
import torch
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import tilewright
from tilewright.arrays import tensor_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.tuning.evaluators.gpu import complaint
from tilewright.tuning.evaluators.reference import Reference, Where
from tilewright.tuning.fusion_schedule import fused_by

WHERE = Where(SimulatedDriver(), "sm_90a")


def norm(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.rms_norm(x, (64,), w)


def parsed(text: str) -> ModuleOp:
    """Return the module of a text."""
    return Parser(context(), text).parse_module()


@pytest.fixture(scope="module")
def texts() -> tuple[str, str]:
    """The texts of a program in its default fusion, and in another one."""
    module = tilewright.capture(norm, torch.randn(8, 64), torch.randn(64)).module
    tensors = lower(module, Level.TENSOR, target=WHERE.target)
    apart = fused_by(tensors, 'decide-fusion{apart="fuse-reduction:rms_norm_1>rms_norm_2"},to-loop')
    default, fused = (str(lower(each, Level.LOOP, target=WHERE.target)) for each in (module, apart))
    assert default != fused
    return default, fused


@needs_nvrtc
def test_a_fusion_with_equal_results_is_right(texts: tuple[str, str]) -> None:
    assert complaint(*texts, WHERE) == ""


@needs_nvrtc
def test_a_fusion_with_other_results_is_wrong(texts: tuple[str, str]) -> None:
    default, fused = texts
    assert "arith.constant 6.400000e+01" in fused
    other = fused.replace("arith.constant 6.400000e+01", "arith.constant 6.500000e+01")
    assert "more than" in complaint(default, other, WHERE)


def test_a_fusion_that_does_not_compile_is_reported(texts: tuple[str, str]) -> None:
    default, fused = texts
    planned = fused.replace("\n  }\n", '\n  } planned "no-such-pass"\n').replace(
        '} planned "no-such-pass"', "}", 1
    )
    assert "no-such-pass" in complaint(default, planned, WHERE)


@needs_nvrtc
def test_a_device_can_compute_the_expected_results(texts: tuple[str, str]) -> None:
    module = lower_to_cuda(parsed(texts[0]), WHERE.target)
    reference = Reference(texts[0], plan_of(module).inputs, WHERE, interpreted=0)
    right = tilewright.interpret(parsed(texts[0]), *reference.inputs)
    assert reference.complaint([*map(tensor_of, right)]) == ""
