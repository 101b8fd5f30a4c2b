# SPDX-License-Identifier: Apache-2.0
"""
Kernels with random schedules that no pass would choose, lowered to CUDA. Tile IR computes the same
results as NumPy, and Kernel IR and the simulator agree.

Each run draws a few; `--every-case` draws thousands.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, PassFailedException, VerifyException

from tilewright.api import lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.errors import TilewrightError, UnsupportedError
from tilewright.interpreters import interpret
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.verification import verify_module
from tilewright.passes.rewriting.launching import with_main

from .schedules.attention import attention
from .schedules.changes import changed
from .schedules.contractions import contraction
from .schedules.drawing import Draw, Drawn
from .schedules.elements import Array
from .schedules.rows import rows

TARGET = "sm_90a"

T = TypeVar("T")

KINDS: dict[str, tuple[Callable[[Draw], Drawn], int, int]] = {
    "contraction": (contraction, 12, 2),
    "rows": (rows, 6, 1),
    "attention": (attention, 4, 1),
}
"""
Generator of each kind of kernel, number of kernels interpreted, and number simulated in a run.
"""

MORE = 120
"""Factor by which `--every-case` increases the number of kernels."""


CHANGED = 12
"""Number of randomly changed schedules in a run."""

REFUSED = (ParseError, VerifyException, PassFailedException, TilewrightError)
"""Errors that report a user's mistake in a schedule."""


@st.composite
def schedules(draw: DrawFn, kind: str) -> Drawn:
    """Draw a scheduled kernel of this kind."""
    return KINDS[kind][0](drawn_by(draw))


def drawn_by(draw: DrawFn) -> Draw:
    """Return a `Draw` that chooses from sequences with Hypothesis."""

    def choose(choices: Sequence[Any]) -> Any:
        return draw(st.sampled_from(choices))

    return Draw(choose)


@st.composite
def changed_schedules(draw: DrawFn) -> tuple[Drawn, str]:
    """Draw a kernel, and its text with one or two random changes, which may make it illegal."""
    drawn = draw(schedules(draw(st.sampled_from([*KINDS]))))
    text = drawn.text
    for _ in range(draw(st.sampled_from((1, 2)))):
        text = changed(drawn_by(draw), text)
    return drawn, text


def program(drawn: Drawn) -> ModuleOp:
    """Return the verified kernel with a host function that launches it."""
    note(f"\n{drawn.text}")
    module = Parser(context(), drawn.text).parse_module()
    verify_module(module)
    return with_main(module)


def assert_same(results: Sequence[Array], drawn: Drawn) -> None:
    """Assert that results in float64 differ from the expected results only by the order of sums."""
    for result, expected in zip(results, drawn.expected, strict=True):
        scale = max(1e-3, float(np.abs(expected).max()))
        np.testing.assert_allclose(result, expected, rtol=0, atol=1e-9 * scale)


def assert_close(results: Sequence[Array], drawn: Drawn) -> None:
    """Assert that results in the kernel's own types are within the allowed errors."""
    for result, expected, allowed in zip(results, drawn.expected, drawn.allowed, strict=True):
        wide = result if result.dtype.kind in "iu" else result.astype(np.float64)
        np.testing.assert_allclose(wide, expected, rtol=0, atol=allowed)


def check_many(strategy: st.SearchStrategy[T], count: int, check: Callable[[T], None]) -> None:
    """Run `check` on `count` draws. Failures are not shrunk, which would take minutes."""
    settings(
        max_examples=count,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )(given(strategy)(check))()


def times(request: pytest.FixtureRequest) -> int:
    return MORE if request.config.getoption("--every-case") else 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
def test_interpreted(kind: str, request: pytest.FixtureRequest):
    def check(drawn: Drawn) -> None:
        module = program(drawn)
        assert_same(interpret(module, *drawn.inputs, dtype=np.float64), drawn)
        lowered = lower(module, "kernel", TARGET)
        assert_same(interpret(lowered, *drawn.inputs, dtype=np.float64), drawn)

    check_many(schedules(kind), times(request) * KINDS[kind][1], check)


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("kind", KINDS)
def test_simulated(kind: str, request: pytest.FixtureRequest):
    # Simulate NVRTC's PTX with all checks: races, bounds, alignment, uninitialised memory.
    def check(drawn: Drawn) -> None:
        plan = plan_of(lower(program(drawn), "cuda", TARGET))
        try:
            execution = SimulatorBackend(TARGET).run(plan, drawn.inputs)
        except UnsupportedError as error:  # joins need shared memory beside the drawn slabs
            assume("of shared memory; sm_90a has" not in error.message)
            raise
        assert not execution.problems
        assert_close(execution.results, drawn)

    check_many(schedules(kind), times(request) * KINDS[kind][2], check)


def test_a_changed_schedule_is_refused_or_right(request: pytest.FixtureRequest):
    # An accepted change gives the same results in Tile IR and Kernel IR.
    found: set[str] = set()

    def check(pair: tuple[Drawn, str]) -> None:
        drawn, text = pair
        found.add(outcome(drawn, text))

    check_many(changed_schedules(), times(request) * CHANGED, check)
    assert found >= {"not verified", "wrong", "right"}


def outcome(drawn: Drawn, text: str) -> str:
    """
    Return the outcome for a changed kernel. It is refused by the verifier ("not verified") or by
    the lowering ("not lowered"), fails in both interpreters ("wrong"), or gives equal results
    ("right").
    """
    try:
        module = program(drawn._replace(text=text))
    except REFUSED:
        return "not verified"
    try:
        lowered = lower(module, "kernel", TARGET)
    except REFUSED:
        return "not lowered"
    try:
        expected = interpret(module, *drawn.inputs, dtype=np.float64)
    except TilewrightError:
        with pytest.raises(TilewrightError):
            interpret(lowered, *drawn.inputs, dtype=np.float64)
        return "wrong"
    results = interpret(lowered, *drawn.inputs, dtype=np.float64)
    assert_same(results, drawn._replace(expected=expected))
    return "right"
