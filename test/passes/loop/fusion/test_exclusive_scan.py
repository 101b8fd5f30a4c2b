# SPDX-License-Identifier: Apache-2.0
"""Exclusive sums and products, as programs write them, are one kernel with eager's results."""

import numpy as np
import pytest
import torch
from needs import needs_nvrtc

from tilewright import api
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import loop
from tilewright.frontend.expression import parse_expression
from tilewright.interpreters import interpret

SHIFTED = (
    "torch.cat((torch.zeros_like(x[:, :1]), torch.cumsum(x[:, :-1], 1)), 1)",
    "torch.cat((torch.zeros_like(x[:, :1]), torch.cumsum(x, 1)), 1)",
    "torch.cat((torch.zeros_like(x[:, :1]), torch.cumsum(x, 1)[:, :-1]), 1)",
    "torch.cat((torch.ones_like(x[:, :1]), torch.cumprod(1 + x / 8, 1)), 1) * 2",
    "torch.cat((torch.full_like(x[:1], -3), torch.cumsum(x, 0)), 0)",
    "torch.nn.functional.pad(torch.cumsum(x.long(), 1), (1, 0))",
    "torch.nn.functional.pad(torch.cumsum(x, 1), (1, 0))[:, :9] + x[:, :9]",
)


@needs_nvrtc
@pytest.mark.parametrize("expression", SHIFTED)
def test_one_kernel_with_eager_s_results(expression: str) -> None:
    source = parse_expression(f"x = torch.randn(21, 40); {expression}")
    nests = api.lower(api.capture(source.module, *source.args), "loop")
    assert sum(isinstance(op, loop.LaunchOp) for op in nests.walk()) == 1
    assert any(isinstance(op, loop.PrefixOp) and op.is_exclusive for op in nests.walk())
    inputs = [tensor.numpy() for tensor in source.args]
    expected = source.module(*source.args).numpy()
    execution = SimulatorBackend("sm_90a").run(plan_of(api.lower(nests, "cuda", "sm_90a")), inputs)
    assert execution.problems == []
    for level in ("loop", "tile", "kernel"):
        (result,) = interpret(api.lower(nests, level), *inputs)
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        torch.as_tensor(execution.results[0]).numpy(), expected, rtol=1e-5, atol=1e-5
    )
