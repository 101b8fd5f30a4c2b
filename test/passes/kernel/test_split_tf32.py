# SPDX-License-Identifier: Apache-2.0
"""
Errors of float32 products by matrix instructions on tf32, against float64: with split factors, they
are those of float32. Infinities and NaN are at the places where float32 has them.
"""

from collections.abc import Callable

import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray
from some_cases import all_only
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.api import lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.interpreters import interpret
from tilewright.interpreters.judge import Judge
from tilewright.interpreters.program import interpreted_program
from tilewright.matrix_sums import MatrixSums
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes
from tilewright.passes.rewriting.launching import with_main

Array = NDArray[np.float32]
Run = Callable[[Array, Array], Array]
Draw = Callable[[np.random.Generator, int], Array]
By = tuple[str, MatrixSums]

TARGET, SIZE = "sm_90a", 16
FLOAT32, TF32 = 2.0**-24, 2.0**-11
"""Unit roundoffs."""

RUNS = tuple((level, sums) for level in ("kernel", "cuda") for sums in MatrixSums)
"""Kernel IR in the interpreter, and CUDA in the simulator, with each model of sums."""

KERNEL = """
loop.kernel @product(%a: memref<16x{k}xf32>, %b: memref<16x{k}xf32>) -> (%out: memref<16x16xf32>) {{
  loop.for %i in 16, %j in 16 {{
    %sum = loop.reduce %k in {k} with add {{
      %0 = loop.load %a[%i, %k] : memref<16x{k}xf32>
      %1 = loop.load %b[%j, %k] : memref<16x{k}xf32>
      %2 = arith.mulf %0, %1 fastmath<afn> : f32
      loop.yield %2 : f32
    }} : f32
    loop.store %sum, %out[%i, %j] : memref<16x16xf32>
  }}
}}"""
SCHEDULE = (
    "tileify,chunk-matmul-k{{bk={bk}}},blockify-launch{{m=16 n=16}},stage-inputs{{raw=a,b}},"
    "register-tile{{fm=2 fn=4 vm=2 vn=4 fk=1 min_blocks=0}},tensor-core{{instr={instr}}},"
    "mark-unroll"
)


def product(k: int, instruction: str) -> ModuleOp:
    """Return the scheduled product of 16xk and kx16 matrices."""
    module = Parser(context(), KERNEL.format(k=k)).parse_module()
    schedule = SCHEDULE.format(bk=min(k, 16), instr=instruction)
    PassManager(context()).run(module, parse_pipeline(schedule, available_passes()))
    return with_main(module)


def runner(k: int, instruction: str, by: By) -> Run:
    """Return a function that computes a product in the interpreter or the simulator."""
    level, sums = by
    lowered = lower(product(k, instruction), level, TARGET)
    if level == "kernel":
        return lambda a, b: interpret(lowered, a, b, matrix_sums=sums)[0]
    plan, backend = plan_of(lowered), SimulatorBackend(TARGET, matrix_sums=sums)

    def simulate(a: Array, b: Array) -> Array:
        execution = backend.run(plan, [a, b])
        assert not execution.problems
        return execution.results[0]

    return simulate


def chain(a: Array, b: Array) -> Array:
    """Return the product by a chain of multiply-adds that round to float32."""
    total = np.zeros((len(a), len(b)), np.float32)
    with np.errstate(all="ignore"):
        for step in range(a.shape[1]):
            exact = a[:, None, step].astype(np.float64) * b[None, :, step]
            total = (exact + total).astype(np.float32)
    return total


def errors(results: Array, a: Array, b: Array) -> NDArray[np.float64]:
    """Return the errors of results, relative to the sums of magnitudes."""
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64).T
    return np.abs(results - wide_a @ wide_b) / (np.abs(wide_a) @ np.abs(wide_b))


def normal(random: np.random.Generator, k: int) -> Array:
    return random.standard_normal((SIZE, k)).astype(np.float32)


def positive(random: np.random.Generator, k: int) -> Array:
    return random.uniform(0.1, 1, (SIZE, k)).astype(np.float32)


def mixed(random: np.random.Generator, k: int) -> Array:
    return np.ldexp(normal(random, k), random.integers(-12, 13, (SIZE, k)))


DRAWS = (normal, positive, mixed)


def check_errors(by: By, k: int) -> None:
    """
    Check that split factors have at most twice the errors of a chain, and plain ones those of tf32.
    Errors may be three times as large where bits of sums are cut off and a chain is short.
    """
    multiple = 3 if by[1] is MatrixSums.TRUNCATED and k <= 16 else 2
    random = np.random.default_rng(k)
    split, plain = runner(k, "m16n8k8_tf32x3", by), runner(k, "m16n8k8_tf32", by)
    for draw in DRAWS:
        a, b = draw(random, k), draw(random, k)
        of_chain = np.sqrt(np.mean(errors(chain(a, b), a, b) ** 2))
        of_split = errors(split(a, b), a, b)
        assert np.sqrt(np.mean(of_split**2)) <= multiple * of_chain
        assert of_split.max() <= 8 * max(of_chain, FLOAT32)
        assert errors(plain(a, b), a, b).max() <= 2 * TF32


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("by", RUNS)
@pytest.mark.parametrize("k", [48, all_only(8)])
def test_errors(by: By, k: int):
    check_errors(by, k)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("k", [16, 48, all_only(512)])
def test_cut_off_sums_are_within_the_tolerance(k: int, draw: Draw):
    random = np.random.default_rng(k)
    a, b = draw(random, k), draw(random, k)
    exact = Parser(context(), KERNEL.format(k=k).replace("fastmath<afn>", "")).parse_module()
    judge, by = (
        Judge(interpreted_program(with_main(exact)), [a, b]),
        ("kernel", MatrixSums.TRUNCATED),
    )
    assert not judge.problem([runner(k, "m16n8k8_tf32x3", by)(a, b)])
    assert judge.problem([runner(k, "m16n8k8_tf32", by)(a, b)])


@needs_nvrtc
@pytest.mark.parametrize("by", RUNS)
@pytest.mark.parametrize("k", [32, 64, 256, 1024, 4096])
def test_errors_of_long_sums(every_case: None, by: By, k: int):
    check_errors(by, k)


MOST, LEAST = np.finfo(np.float32).max, 2.0**-149
SPECIAL = (np.inf, -np.inf, np.nan, MOST, -MOST, 3.4e38, 2.0**127, 1e30, -1e30)
TINY = (1e-30, -(2.0**-126), 1e-40, -4e-41, 2.0**-135, 0.0, -0.0)
USUAL = (1.0, -1.0, 0.5, 1 + 2.0**-23, 1000.3, -1000.7, 3.1, -0.3)
VALUES = np.array([*SPECIAL, *TINY, *USUAL], np.float32)
"""Numbers of which each is multiplied by each."""


def pairs() -> list[tuple[Array, Array]]:
    """Return matrices whose products have each pair of `VALUES` at one step of K."""
    found = list[tuple[Array, Array]]()
    chunks = [np.resize(VALUES[at : at + SIZE], SIZE) for at in range(0, len(VALUES), SIZE)]
    for left in chunks:
        for right in chunks:
            a, b = (np.zeros((SIZE, 16), np.float32) for _ in range(2))
            a[:, 5], b[:, 5] = left, right
            found.append((a, b))
    return found


def kinds(x: Array) -> NDArray[np.int64]:
    """Return 0 for finite elements, 1 and -1 for infinite ones, and 2 for NaN."""
    return np.where(np.isnan(x), 2, np.where(np.isinf(x), np.sign(x), 0)).astype(np.int64)


@pytest.mark.one_in(4)
@needs_nvrtc
@pytest.mark.parametrize("by", RUNS)
@pytest.mark.parametrize("beside", [0.0, 1.0])
def test_products_of_special_numbers(by: By, beside: float):
    run, random = runner(16, "m16n8k8_tf32x3", by), np.random.default_rng(3)
    for a, b in pairs():
        others = [np.where(np.arange(16) == 5, 0, beside * normal(random, 16)) for _ in range(2)]
        a, b = a + others[0].astype(np.float32), b + others[1].astype(np.float32)
        check_special(run(a, b), a, b)


@needs_nvrtc
@pytest.mark.parametrize("by", RUNS)
def test_sums_of_special_numbers(by: By):
    # Each element of the result is a sum of two products with special numbers.
    run, random = runner(16, "m16n8k8_tf32x3", by), np.random.default_rng(4)
    numbers = VALUES[np.abs(VALUES) != 2.0**-135]
    for first, second in ((0, 1), (2, 12)):
        a, b = normal(random, 16), normal(random, 16)
        for matrix in (a, b):
            matrix[:, [first, second]] = random.choice(numbers, (SIZE, 2))
        check_special(run(a, b), a, b)


def check_special(results: Array, a: Array, b: Array) -> None:
    """
    Check results with infinities and NaN: each is infinite or NaN as the exact sum is, or as a
    chain that overflows on the way is. A sum of magnitudes near the overflow may be either.
    """
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        exact, magnitude = wide_a @ wide_b.T, np.abs(wide_a) @ np.abs(wide_b).T
        found, error = kinds(results), np.abs(results - exact)
        is_right = (found == kinds(exact.astype(np.float32))) | (found == kinds(chain(a, b)))
    is_near_overflow = (magnitude > 2.0**127) & (magnitude < 2.0**129)
    assert (is_right | is_near_overflow).all()
    lost = 8 * LEAST * (1 + np.abs(wide_a).sum(1)[:, None] + np.abs(wide_b).sum(1))
    is_finite = np.isfinite(results) & np.isfinite(exact)
    assert (error[is_finite] <= (8 * FLOAT32 * magnitude + lost)[is_finite]).all()
