# SPDX-License-Identifier: Apache-2.0
"""Random graphs compute the same results after every pass up to Loop IR, and on the simulator."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from dangling_uses import assert_no_dangling_uses
from draws import drawn
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.arrays import array_of, tensor_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.interpreters import interpret
from tilewright.interpreters.check import check_pass
from tilewright.interpreters.comparison import compare
from tilewright.interpreters.program import Program, perturbed_inputs
from tilewright.interpreters.random_runs import RandomRuns
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.tools.fuzz.graphs import Graph, random_graph

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]

_PHASES = [Phase.generate, Phase.shrink]
"""
Phases of hypothesis that are used: the others, which explain failures, take longer than all tests.
"""

_TOLERANCE = 1e-6
"""
Tolerance relative to the largest element: all values are float64, except numbers in the IR, whose
eps is 6e-8.
"""


def graphs(least: int, most: int) -> SearchStrategy[Graph]:
    """Draw a graph of `least` to `most` ops."""
    drawing = st.randoms(use_true_random=False)
    return drawing.map(lambda random: random_graph(random, least, most))


def check(graph: Graph) -> None:
    """Check every pass on a graph's Torch IR, and compare the results with PyTorch's."""
    check_module(graph, graph.torch_ir(), graph.tensors())


def check_module(graph: Graph, module: ModuleOp, inputs: Sequence[Any]) -> None:
    """
    Check every pass on Torch IR that takes `inputs`, and compare the results with those of the
    graph.
    """
    runs = RandomRuns()

    def check_each(before: ModuleOp, after: ModuleOp, name: str) -> None:
        assert not check_pass(before, after, name, runs=runs).notes
        assert_no_dangling_uses(after, name)

    lowered = lower(module, Level.LOOP, PassManager(context(), check_each=check_each))
    found = interpret(lowered, *map(array_of, inputs), dtype=np.float64)
    for got, want in zip(found, graph.exact(*graph.tensors()), strict=True):
        assert got.shape == want.shape
        scale = max(float(want.double().abs().max()), 1.0)
        np.testing.assert_allclose(got, array_of(want), rtol=0, atol=_TOLERANCE * scale)


@given(graphs(5, 11))
@settings(max_examples=drawn(30), suppress_health_check=_SLOW, phases=_PHASES)
def test_small_graphs(graph: Graph):
    check(graph)


@given(graphs(3, 6))
@settings(max_examples=drawn(8), suppress_health_check=_SLOW, phases=_PHASES)
def test_captured_graphs(graph: Graph):
    captured = api.capture(graph, *graph.tensors())
    check_module(graph, captured.module, [input.tensor for input in captured.inputs])


@needs_nvrtc
@given(graphs(5, 12))
@settings(max_examples=drawn(25), suppress_health_check=_SLOW, phases=_PHASES)
def test_simulated_graphs(graph: Graph):
    module, inputs = graph.torch_ir(), [array_of(x) for x in graph.tensors()]
    kernel_ir = lower(module, Level.KERNEL)
    execution = SimulatorBackend("sm_90a").run(plan_of(lower(kernel_ir, Level.CUDA)), inputs)
    assert execution.problems == []
    found = compare(_program(graph, module), inputs, execution.results, lambda: kernel_ir)
    assert [comparison.reason for comparison in found if comparison.reason] == []


def _program(graph: Graph, module: ModuleOp) -> Program:
    def run(function: Callable[..., Sequence[Any]], arrays: Sequence[Any]) -> list[Any]:
        return [array_of(result) for result in function(*map(tensor_of, arrays))]

    return Program(
        module,
        exact=lambda arrays: run(graph.exact, arrays),
        perturbed=lambda arrays, by: run(graph.exact, perturbed_inputs(arrays, by)),
        rounded=lambda arrays: run(graph, arrays),
        rounded_by="PyTorch",
    )


@given(graphs(3, 15))
@settings(max_examples=3000, suppress_health_check=_SLOW, phases=_PHASES)
def test_many_small_graphs(every_case: None, graph: Graph):
    check(graph)


@given(graphs(30, 60))
@settings(max_examples=160, suppress_health_check=_SLOW, phases=_PHASES)
def test_large_graphs(every_case: None, graph: Graph):
    check(graph)
