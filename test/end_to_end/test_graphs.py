# SPDX-License-Identifier: Apache-2.0
"""Random graphs are fused without changing what they compute, pass by pass and in all."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.interpreters.check import check_pass
from tilewright.passes.levels import Level
from tilewright.passes.lowering import context, lower
from tilewright.passes.manager import PassManager

from .graphs import Graph, graphs

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]

_TOLERANCE = 1e-4
"""Relative to the largest element: float32's 6e-8, through fifty ops that keep values near 1."""


@pytest.fixture
def every_case(request: pytest.FixtureRequest) -> None:
    """Skips what takes minutes, unless it is asked for."""
    if not request.config.getoption("--every-case"):
        pytest.skip("takes minutes: --every-case")


def check(graph: Graph) -> None:
    """Lower the graph, with every pass checked, and compare what comes out with PyTorch's."""
    inputs = graph.examples()
    captured = api.capture(graph, *inputs)
    manager = PassManager(context(), check_each=_check_pass)
    lowered = lower(captured.module, Level.LOOP, manager)
    found = api.interpret(lowered, *inputs)
    expected = graph(*(x.double() for x in inputs))
    for got, want in zip(found, expected, strict=True):
        scale = max(float(want.abs().max()), 1.0)
        np.testing.assert_allclose(got, want.numpy(), rtol=0, atol=_TOLERANCE * scale)


def _check_pass(before: ModuleOp, after: ModuleOp, name: str) -> None:
    assert not check_pass(before, after, name).notes


@given(graphs(3, 7))
@settings(max_examples=40)
def test_small_graphs(graph: Graph):
    check(graph)


@given(graphs(30, 60))
@settings(max_examples=160, suppress_health_check=_SLOW)
def test_large_graphs(every_case: None, graph: Graph):
    check(graph)
