# SPDX-License-Identifier: Apache-2.0
"""
Monoids of all types, scans and data as indices, from Loop IR to the simulator.

Results are compared with those of the interpreter, with all checks.
"""

import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.codegen.printer import cuda_source, kernels_of
from tilewright.codegen.simulator import Kind
from tilewright.codegen.simulator.simulator import Report, simulate
from tilewright.interpreters import interpret
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes

from .kernel_ir import compile_clean, converted

pytestmark = needs_nvrtc

Array = NDArray[np.generic]

LINE = "tileify,blockify-launch,simplify-accesses,convert-tile-to-kernel,cse"
ROWS = "tileify,cooperative-reduce{THREADS},simplify-accesses,convert-tile-to-kernel,cse"
SHARED, WARPS, SHUFFLE = (
    ROWS.replace("THREADS", f"threads={threads} rows={rows}")
    for threads, rows in ((24, 3), (64, 1), (8, 4))
)


def cuda_of(text: str, pipeline: str) -> ModuleOp:
    """Lower the kernel @k of `text` to CUDA IR."""
    module = Parser(context(), text).parse_module()
    PassManager(context()).run(module, parse_pipeline(pipeline, available_passes()))
    return converted(str(module))


def simulated(
    text: str, pipeline: str, inputs: Sequence[Array], outputs: Sequence[Array]
) -> Report:
    """Lower the kernel @k of `text` and run it; it fills `outputs`."""
    cuda = cuda_of(text, pipeline)
    (kernel,) = kernels_of(cuda)
    return simulate(
        compile_clean(cuda_source(cuda)),
        kernel.sym_name.data,
        grid=kernel.grid.value.data,
        block=kernel.block.value.data,
        arguments=[*inputs, *outputs],
        read_only=range(len(inputs)),
    )


def check(text: str, pipeline: str, *inputs: Array) -> None:
    """Assert that the kernel @k gives the interpreter's results on the simulator."""
    expected = interpret(Parser(context(), text).parse_module(), *inputs, function="k")
    outputs = [np.full(array.shape, 77).astype(array.dtype) for array in expected]
    assert simulated(text, pipeline, inputs, outputs).errors == []
    for actual, array in zip(outputs, expected, strict=True):
        np.testing.assert_array_equal(actual, array)


def folded(monoid: str, element: str) -> str:
    """Return a kernel @k that folds the rows of its input."""
    x, out = f"memref<7x100x{element}>", f"memref<7x{element}>"
    return f"""
      loop.kernel @k(%x: {x}) -> (%out: {out}) {{
        loop.for %i in 7 {{
          %s = loop.reduce %k in 100 with {monoid} {{
            %0 = loop.load %x[%i, %k] : {x}
            loop.yield %0 : {element}
          }} : {element}
          loop.store %s, %out[%i] : {out}
        }}
      }}"""


DTYPES = {"i32": np.int32, "i64": np.int64, "i1": np.bool_, "f64": np.float64, "f32": np.float32}


PIPELINES = (LINE, SHARED, WARPS, SHUFFLE)
FOLDS = [
    *((m, e) for m in ("max", "min", "add", "mul") for e in ("i32", "i64")),
    *((m, "f64") for m in ("max", "min")),
    ("and", "i1"),
    ("or", "i1"),
]


def chessboard(*axes: Sequence[Any], odd: bool = False) -> list[tuple[Any, ...]]:
    """
    Return the combinations of elements of the axes with an even sum of positions, or an odd one.
    """
    return [
        tuple(axis[at] for axis, at in zip(axes, places, strict=True))
        for places in product(*(range(len(axis)) for axis in axes))
        if sum(places) % 2 == odd
    ]


def check_fold(fold: tuple[str, str], pipeline: str) -> None:
    monoid, element = fold
    x = np.random.default_rng(0).integers(-9, 9, (7, 100)).astype(DTYPES[element])
    if element == "i1":
        x = np.zeros((7, 100), np.bool_)
        x[1], x[2, 99] = True, True
        x[3] = ~x[2]
    check(folded(monoid, element), pipeline, x)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("fold", "pipeline"), chessboard(FOLDS, PIPELINES))
def test_folds(fold: tuple[str, str], pipeline: str) -> None:
    check_fold(fold, pipeline)


@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize(("fold", "pipeline"), chessboard(FOLDS, PIPELINES, odd=True))
def test_other_folds(fold: tuple[str, str], pipeline: str) -> None:
    check_fold(fold, pipeline)


def arg_fold(monoid: str, element: str) -> str:
    """Return a kernel @k that finds the best element of each row and its position."""
    x = f"memref<7x100x{element}>"
    return f"""
      loop.kernel @k(%x: {x}) -> (%v: memref<7x{element}>, %at: memref<7xi64>) {{
        loop.for %i in 7 {{
          %m, %a = loop.reduce %k in 100 with {monoid} {{
            %0 = loop.load %x[%i, %k] : {x}
            %1 = loop.index [%k] : i64
            loop.yield %0, %1 : {element}, i64
          }} : {element}, i64
          loop.store %m, %v[%i] : memref<7x{element}>
          loop.store %a, %at[%i] : memref<7xi64>
        }}
      }}"""


BEST = ("argmax", "argmin"), ("f32", "f64", "i32", "i64"), PIPELINES


def check_best(monoid: str, element: str, pipeline: str) -> None:
    x = np.random.default_rng(0).integers(-9, 9, (7, 100)).astype(DTYPES[element])
    if element[0] == "f":
        x[1, 40:45:4] = np.nan
        x[2] = np.nan
        x[3], x[4] = -np.inf, np.inf
        x[5, 99] = np.nan
    check(arg_fold(monoid, element), pipeline, x)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("monoid", "element", "pipeline"), chessboard(*BEST))
def test_positions_of_the_best(monoid: str, element: str, pipeline: str) -> None:
    check_best(monoid, element, pipeline)


@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize(("monoid", "element", "pipeline"), chessboard(*BEST, odd=True))
def test_other_positions_of_the_best(monoid: str, element: str, pipeline: str) -> None:
    check_best(monoid, element, pipeline)


def test_the_best_is_chosen_without_branches() -> None:
    """A branch would keep the loads of later steps behind it."""
    ptx = compile_clean(cuda_source(cuda_of(arg_fold("argmax", "f32"), LINE)))
    branches = [line for line in ptx.splitlines() if re.search(r"\bbra\b", line)]
    assert len(branches) <= 2, branches  # of the loop, and around threads beyond the last row


SCAN = """
  loop.kernel @k(%x: memref<50x33xf32>)
      -> (%sum: memref<50x33xf32>, %best: memref<50x33xf32>, %at: memref<50x33xi64>) {
    loop.for %i in 50 {
      loop.scan %k in 33 {
        %0 = loop.load %x[%i, %k] : memref<50x33xf32>
        %1 = loop.index [%k] : i64
        %s = loop.prefix %0 with add : f32
        %m, %a = loop.prefix %0, %1 with argmax : f32, i64
        loop.store %s, %sum[%i, %k] : memref<50x33xf32>
        loop.store %m, %best[%i, %k] : memref<50x33xf32>
        loop.store %a, %at[%i, %k] : memref<50x33xi64>
      }
    }
  }"""


def test_scan() -> None:
    x = np.random.default_rng(0).standard_normal((50, 33)).astype(np.float32)
    x[3, 5] = np.nan
    check(SCAN, LINE, x)


GATHER = """
  loop.kernel @k(%ids: memref<100xINT>, %x: memref<40x3xf32>) -> (%out: memref<100x3xf32>) {
    loop.for %i in 100, %j in 3 {
      %id = loop.load %ids[%i] : memref<100xINT>
      %s = loop.to_index %id below 40 : INT
      %p = loop.predicate [%i - 3, 90 - %i - %j] : i1
      %n = loop.index [%i * 3 + %j] : i32
      %f = arith.sitofp %n : i32 to f32
      %0 = loop.load %x[39 - %s, %j] : memref<40x3xf32>
      %1 = arith.select %p, %0, %f : f32
      loop.store %1, %out[%i, %j] : memref<100x3xf32>
    }
  }"""


@pytest.mark.parametrize("element", ["i32", "i64"])
def test_gather(element: str) -> None:
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 40, 100).astype(DTYPES[element])
    check(GATHER.replace("INT", element), LINE, ids, rng.random((40, 3), np.float32))


@pytest.mark.parametrize("bad", [40, -1, 2**32])
def test_an_invalid_index_traps(bad: int) -> None:
    ids = np.zeros(100, np.int64)
    ids[70] = bad
    outputs = [np.zeros((100, 3), np.float32)]
    inputs = [ids, np.ones((40, 3), np.float32)]
    report = simulated(GATHER.replace("INT", "i64"), LINE, inputs, outputs)
    assert {finding.kind for finding in report.errors} == {Kind.TRAP}
