# SPDX-License-Identifier: Apache-2.0
"""Helpers that schedule a program by a given pipeline and simulate it."""

from collections.abc import Iterable, Iterator, Sequence

import torch
from torch import Tensor
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.frontend.expression import Expression
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes


def loops_of(source: Expression) -> ModuleOp:
    """Return the Loop IR of an expression."""
    return api.lower(api.capture(source.module, *source.args), "loop")


def run(module: ModuleOp, pipeline: str) -> None:
    """Run the passes of `pipeline` on `module`."""
    PassManager(context()).run(module, parse_pipeline(pipeline, available_passes()))


def simulate(module: ModuleOp, pipeline: str, inputs: Sequence[Tensor]) -> Tensor:
    """
    Schedule `module` by `pipeline` and return its result for `inputs`, simulated with all checks.
    """
    run(module, pipeline)
    (result,) = simulate_all(module, [inputs])
    return result


def simulate_all(module: ModuleOp, cases: Iterable[Sequence[Tensor]]) -> Iterator[Tensor]:
    """
    Yield the result of the scheduled program for each case of inputs, simulated with all checks.
    """
    backend, plan = SimulatorBackend("sm_90a"), plan_of(api.lower(module, "cuda"))
    for inputs in cases:
        execution = backend.run(plan, [tensor.numpy() for tensor in inputs])
        assert not execution.problems
        (result,) = execution.results
        yield torch.as_tensor(result)
