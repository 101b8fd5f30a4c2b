# SPDX-License-Identifier: Apache-2.0
"""
Random products of matrices with random schedules that use matrix instructions. No step of a
schedule changes the interpreter's results. Kernel IR and the simulator, with all its checks, are
exact for small integers, and as exact for random floats as `tilewright run` demands.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from draws import drawn
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright.api import lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects.target import TARGETS
from tilewright.interpreters import interpret
from tilewright.interpreters.judge import Judge
from tilewright.interpreters.program import interpreted_program
from tilewright.matrix_sums import MatrixSums
from tilewright.passes.rewriting.launching import with_main

from .matrix_products import MatrixProduct, matrix_product
from .matrix_schedules import parsed, scheduled
from .schedules.drawing import Draw
from .schedules.elements import Array

SIMULATED = 70
"""Largest size of a product that is simulated."""

HEALTH = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def draw_from(data: DataObject) -> Draw:
    def choose(choices: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(choices))

    return Draw(choose)


def check(product: MatrixProduct, results: Sequence[Array]) -> None:
    """Raise unless results are exact, or within the rules for random floats."""
    for got, expected in zip(results, product.expected, strict=True):
        if product.is_exact:
            np.testing.assert_array_equal(got, expected)
        else:
            wide, scale = got.astype(np.float64), float(np.abs(expected).max())
            np.testing.assert_allclose(wide, expected, rtol=0, atol=product.roundoff * scale)
    if not product.is_exact:
        program = interpreted_program(with_main(parsed(product)))
        assert not Judge(program, product.inputs).problem(results)


def check_interpreted(
    product: MatrixProduct, module: ModuleOp, target: str, sums: MatrixSums
) -> None:
    note(sums)
    kernel = lower(with_main(module), "kernel", target)
    check(product, interpret(kernel, *product.inputs, matrix_sums=sums))


def check_simulated(
    product: MatrixProduct, module: ModuleOp, target: str, sums: MatrixSums
) -> None:
    note(sums)
    plan = plan_of(lower(with_main(module), "cuda", target))
    execution = SimulatorBackend(target, matrix_sums=sums).run(plan, product.inputs)
    assert not execution.problems
    check(product, execution.results)


@settings(
    max_examples=drawn(48),
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.booleans(), st.sampled_from(TARGETS), st.sampled_from([*MatrixSums]), st.data())
def test_steps_and_kernel_ir(is_exact: bool, target: str, sums: MatrixSums, data: DataObject):
    draw = draw_from(data)
    product = matrix_product(draw, is_exact=is_exact)
    check_interpreted(product, scheduled(product, draw, target, checked=True), target, sums)


@needs_nvrtc
@settings(
    max_examples=drawn(48),
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.booleans(), st.sampled_from(TARGETS), st.sampled_from([*MatrixSums]), st.data())
def test_simulated(is_exact: bool, target: str, sums: MatrixSums, data: DataObject):
    draw = draw_from(data)
    product = matrix_product(draw, is_exact=is_exact, largest=SIMULATED)
    check_simulated(product, scheduled(product, draw, target, checked=False), target, sums)


@needs_nvrtc
@settings(
    max_examples=drawn(24),
    phases=[Phase.generate],
    suppress_health_check=HEALTH,
)
@given(st.booleans(), st.sampled_from([*MatrixSums]), st.data())
def test_warpgroups(is_exact: bool, sums: MatrixSums, data: DataObject):
    check_warpgroups(is_exact, sums, data)


@needs_nvrtc
@settings(max_examples=300, phases=[Phase.generate], suppress_health_check=HEALTH)
@given(is_exact=st.booleans(), sums=st.sampled_from([*MatrixSums]), data=st.data())
def test_many_of_warpgroups(every_case: None, is_exact: bool, sums: MatrixSums, data: DataObject):
    check_warpgroups(is_exact, sums, data)


def check_warpgroups(is_exact: bool, sums: MatrixSums, data: DataObject) -> None:
    """Check a drawn product of warpgroups at all levels and in the simulator."""
    draw = draw_from(data)
    product = matrix_product(draw, is_exact=is_exact, largest=SIMULATED, grouped=True)
    module = scheduled(product, draw, "sm_90a", checked=True)
    check_interpreted(product, module.clone(), "sm_90a", sums)
    check_simulated(product, module, "sm_90a", sums)


@needs_nvrtc
@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_120"])
@settings(
    max_examples=200,
    phases=[Phase.generate],
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
@given(is_exact=st.booleans(), sums=st.sampled_from([*MatrixSums]), data=st.data())
def test_many(every_case: None, target: str, is_exact: bool, sums: MatrixSums, data: DataObject):
    draw = draw_from(data)
    product = matrix_product(draw, is_exact=is_exact)
    module = scheduled(product, draw, target, checked=True)
    check_interpreted(product, module.clone(), target, sums)
    check_simulated(product, module, target, sums)
