# SPDX-License-Identifier: Apache-2.0
"""Running sums, products and extremes in strips compute the same bits as step by step."""

import numpy as np
import pytest
import torch
from draws import drawn
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects.kernel.registers import RegistersOp
from tilewright.frontend.expression import parse_expression
from tilewright.interpreters import interpret
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import TO_KERNEL, passes_of

SCANS = (
    "torch.cumsum(x, {dim})",
    "torch.cumprod(1 + x / 8, {dim})",
    "torch.cumsum(x.flip({dim}), {dim})",
    "torch.cumsum(x * (y > 0), {dim})",
    "torch.cumsum(x[..., 4:], -1)",
    "torch.cummax(x, {dim})",
    "torch.cummin(x.double(), {dim})",
    "torch.cumsum(x.half(), {dim})",
    "torch.cumsum((x > y).int(), {dim})",
)
LENGTHS = st.integers(5, 40) | st.sampled_from([8, 12, 16, 32, 48, 64, 96])
BEFORE, AFTER = TO_KERNEL.split("strip-mine,")


def in_strips(text: str) -> tuple[ModuleOp, ModuleOp, list[np.ndarray]]:
    """Return the Kernel IR of an expression without strips and with them, and its inputs."""
    source = parse_expression(text)
    module = api.lower(api.capture(source.module, *source.args), "tile")
    PassManager(context()).run(module, passes_of(BEFORE.rstrip(",")))
    plain = module.clone()
    PassManager(context()).run(plain, passes_of(AFTER))
    PassManager(context()).run(module, passes_of(f"strip-mine,{AFTER}"))
    return plain, module, [tensor.numpy() for tensor in source.args]


@settings(max_examples=drawn(50), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SCANS), st.integers(1, 40), LENGTHS, st.sampled_from([0, 1, -1]))
def test_random_scans_keep_their_bits(scan: str, rows: int, length: int, dim: int) -> None:
    shape = f"{rows}, {length}"
    text = f"x = torch.randn({shape}); y = torch.randn({shape}); {scan.format(dim=dim)}"
    note(text)
    plain, stripped, inputs = in_strips(text)
    results = interpret(plain, *inputs), interpret(stripped, *inputs)
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


@needs_nvrtc
@pytest.mark.parametrize("scan", [SCANS[0], SCANS[3], SCANS[5], SCANS[7]])
def test_strips_in_the_simulator(scan: str) -> None:
    text = f"x = torch.randn(21, 48); y = torch.randn(21, 48); {scan.format(dim=1)}"
    plain, stripped, inputs = in_strips(text)
    assert not any(isinstance(op, RegistersOp) for op in plain.walk())
    assert any(isinstance(op, RegistersOp) for op in stripped.walk())
    backend = SimulatorBackend("sm_90a")
    execution = backend.run(plan_of(api.lower(stripped, "cuda", "sm_90a")), inputs)
    assert execution.problems == []
    for result, expected in zip(execution.results, interpret(plain, *inputs), strict=True):
        np.testing.assert_array_equal(torch.as_tensor(result).numpy(), expected)
