# SPDX-License-Identifier: Apache-2.0
"""Each schedule that a search can choose computes the kernel's results."""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from needs import needs_nvrtc
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import loop
from tilewright.dialects.types import memref_type
from tilewright.interpreters import interpret
from tilewright.passes.rewriting.launching import with_main
from tilewright.tuning.search.tree import random_leaf
from tilewright.tuning.space import Node, Space

from .kernels import ELEMENTS, kernel_of

Array = NDArray[Any]

COLUMNS = "torch.randn(3, 50).sum(0)"
TEXTS = {
    "product": "torch.relu(torch.randn({a}, {b}) @ torch.randn({b}, {c}))",
    "batches": "torch.bmm(torch.randn(2, {a}, {b}), torch.randn(2, {b}, {c}))",
    "rows": "F.softmax(torch.randn({a}, {b}), -1)",
    "columns": "torch.randn({b}, {c}).amax(0)",
    "elements": "torch.randn({a}, {b}).T + torch.randn({a})",
}
SIZES = (1, 3, 8, 17, 33, 40, 70)

TIMES = 25
"""Factor of examples with --every-case."""


def inputs_of(kernel: loop.KernelOp) -> list[Array]:
    """Return random inputs of a kernel."""
    random = np.random.default_rng(0)
    shapes = [memref_type(value).get_shape() for value in kernel.inputs]
    return [random.standard_normal(shape).astype(np.float32) for shape in shapes]


def program(kernel: loop.KernelOp) -> ModuleOp:
    return with_main(ModuleOp([kernel.clone()]))


def interpreted(kernel: loop.KernelOp) -> Sequence[Array]:
    return interpret(program(kernel), *inputs_of(kernel), dtype=np.float64)


def assert_all_close(found: Sequence[Array], expected: Sequence[Array], allowed: float) -> None:
    for result, right in zip(found, expected, strict=True):
        np.testing.assert_allclose(result, right, rtol=0, atol=allowed)


def leaves(node: Node) -> list[Node]:
    if node.schedule is not None:
        return [node]
    return [leaf for child in node.children for leaf in leaves(child)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("text", [ELEMENTS, COLUMNS])
def test_all_schedules_of_a_small_kernel(text: str):
    kernel = kernel_of(text)
    space, expected = Space(kernel), interpreted(kernel)
    found = leaves(space.root)
    assert len({leaf.schedule for leaf in found}) == len(found) > 50
    for leaf in found:
        # in float64 only the order of sums may differ
        assert_all_close(interpreted(space.kernel(leaf)), expected, 1e-9)


def scheduled(text: str, seed: int) -> tuple[loop.KernelOp, loop.KernelOp] | None:
    """Return a kernel before and after a random schedule; None if the choice is a dead end."""
    kernel, random = kernel_of(text), Random(seed)
    space = Space(kernel, random.choice(("sm_80", "sm_90a")))
    node = random_leaf(space.root, random)
    if node.schedule is None:
        return None
    note(f"{text}: {node.schedule}")
    return kernel, space.kernel(node)


@st.composite
def texts(draw: DrawFn) -> str:
    """Draw the text of a kernel of any kind and size."""
    a, b, c = (draw(st.sampled_from(SIZES)) for _ in range(3))
    return draw(st.sampled_from([*TEXTS.values()])).format(a=a, b=b, c=c)


def test_any_schedule_of_any_kernel(request: pytest.FixtureRequest):
    def check(text: str, seed: int) -> None:
        if (found := scheduled(text, seed)) is not None:
            kernel, made = found
            assert_all_close(interpreted(made), interpreted(kernel), 1e-9)

    drawn(check, 6, request)


@needs_nvrtc
def test_any_schedule_in_the_simulator(request: pytest.FixtureRequest):
    # with all checks: races, bounds, uninitialised memory
    def check(text: str, seed: int) -> None:
        if (found := scheduled(text, seed)) is None:
            return
        kernel, made = found
        plan = plan_of(api.lower(program(made), "cuda", "sm_90a"))
        execution = SimulatorBackend("sm_90a").run(plan, inputs_of(kernel))
        assert not execution.problems
        assert_all_close(execution.results, interpreted(kernel), 1e-3)

    drawn(check, 2, request)


def drawn(check: Any, count: int, request: pytest.FixtureRequest) -> None:
    """Check `count` examples. A failing example is not shrunk, which would take minutes."""
    times = TIMES if request.config.getoption("--every-case") else 1
    settings(
        max_examples=times * count,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )(given(texts(), st.integers(0, 1 << 20))(check))()
