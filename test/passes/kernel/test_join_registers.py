# SPDX-License-Identifier: Apache-2.0
"""Kernels whose threads join their registers in each step compute what they computed before."""

from collections.abc import Callable
from math import inf
from pathlib import Path

import numpy as np
import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import loop
from tilewright.dialects.types import memref_type
from tilewright.interpreters import interpret
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import passes_of
from tilewright.passes.rewriting.launching import with_main

Parse = Callable[[str], ModuleOp]

TEXT = Path(__file__).with_name("join-registers.mlir").read_text()


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("name", ["moments", "softmax", "alone"])
def test_results_stay_the_same(parse: Parse, name: str) -> None:
    kernels = {op.sym_name.data: op for op in parse(TEXT).ops if isinstance(op, loop.KernelOp)}
    module = with_main(ModuleOp([kernels[name].clone()]))
    (source,) = kernels[name].inputs
    x = 4 + np.random.default_rng(0).standard_normal(memref_type(source).get_shape())
    x[1, :9], x[2, 3] = -inf, 90
    inputs = [x.astype(np.float32)]
    (expected,) = interpret(module, *inputs, dtype=np.float64)
    PassManager(context()).run(module, passes_of("join-registers"))
    (joined,) = interpret(module, *inputs)
    np.testing.assert_allclose(joined, expected, rtol=1e-5)
    (lowered,) = interpret(api.lower(module.clone(), "kernel", "sm_90a"), *inputs)
    np.testing.assert_allclose(lowered, expected, rtol=1e-5)
    execution = SimulatorBackend("sm_90a").run(plan_of(api.lower(module, "cuda", "sm_90a")), inputs)
    assert execution.problems == []
    np.testing.assert_allclose(execution.results[0], expected, rtol=1e-5)
