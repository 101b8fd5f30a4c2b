# SPDX-License-Identifier: Apache-2.0
"""Launch plans: read from CUDA IR, and run by the simulator."""

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.codegen.execution import backend_for
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import ArrayType, Launch
from tilewright.codegen.simulator import MatrixSums, SimulationTooLarge
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.errors import UnsupportedError, UsageError
from tilewright.passes.driver.lowering import context

FLOAT = np.dtype(np.float32)

Array = NDArray[Any]

# The block's threads double x through shared memory; the second launch doubles the result.
TWICE = """
func.func @main(%x: memref<2x16xf32>, %unused: memref<3xi32>) -> (memref<2x16xf32>, memref<3xi32>) {
  %y = memref.alloc() : memref<2x16xf32>
  %z = memref.alloc() : memref<2x16xf32>
  loop.launch @twice(%x) -> (%y) : (memref<2x16xf32>) -> (memref<2x16xf32>)
  loop.launch @twice(%y) -> (%z) : (memref<2x16xf32>) -> (memref<2x16xf32>)
  memref.dealloc %y : memref<2x16xf32>
  func.return %z, %unused : memref<2x16xf32>, memref<3xi32>
}
cuda.func grid 1 block 32 @twice(%x: !cuda.ptr<f32, const>) -> (%y: !cuda.ptr<f32>) {
  %0 = cuda.builtin thread_idx : i32
  %t = cuda.let %0 : i32
  %s = cuda.shared 32 : !cuda.ptr<f32>
  %1 = cuda.subscript %x[%t] : !cuda.ptr<f32, const>, i32
  cuda.store %1, %s[%t] : !cuda.ptr<f32>, i32
  cuda.syncthreads
  %2 = cuda.subscript %s[%t] : !cuda.ptr<f32>, i32
  %3 = cuda.subscript %s[%t] : !cuda.ptr<f32>, i32
  %4 = cuda.binary add %2, %3 : f32
  cuda.store %4, %y[%t] : !cuda.ptr<f32>, i32
}
func.func private @nothing()
"""
HALF = TWICE.replace("block 32", "block 16")


def parsed(text: str) -> ModuleOp:
    """Return the module of a text."""
    return Parser(context(), text).parse_module()


def inputs() -> list[Array]:
    """Return inputs for `TWICE`."""
    x = np.arange(32, dtype=np.float32).reshape(2, 16)
    return [x, np.array([7, 8, 9], np.int32)]


def test_a_plan_is_the_host_function():
    plan = plan_of(parsed(TWICE))
    assert plan.input_names == ("x", "unused")
    assert plan.inputs == (ArrayType((2, 16), FLOAT), ArrayType((3,), np.dtype(np.int32)))
    assert plan.buffers[2:] == (ArrayType((2, 16), FLOAT),) * 2
    assert plan.launches == (
        Launch("twice", 1, 32, 128, (0,), (2,)),
        Launch("twice", 1, 32, 128, (2,), (3,)),
    )
    assert plan.results == (3, 1)
    assert plan.source.count("__global__") == 1


def test_nothing_to_launch_is_a_plan_too():
    plan = plan_of(
        parsed(
            "func.func @main(%x: memref<3xf32>) -> memref<3xf32> { func.return %x : memref<3xf32> }"
        )
    )
    assert (plan.source, plan.launches, plan.results) == ("", (), (0,))


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("@main", "@other", "the module has no function @main"),
        ("memref<3xi32>", "memref<3xf80>", "whose element type cannot be run"),
        ("memref.dealloc %y : memref<2x16xf32>", "%i = arith.constant 1 : i32", "'arith.constant'"),
        (
            "memref.dealloc %y : memref<2x16xf32>",
            "func.call @nothing() : () -> ()",
            "@main calls @nothing .* inline-calls",
        ),
    ],
)
def test_modules_without_a_plan(old: str, new: str, error: str):
    with pytest.raises((UsageError, UnsupportedError), match=error):
        plan_of(parsed(TWICE.replace(old, new)))


@needs_nvrtc
def test_launches_run_in_order():
    execution = SimulatorBackend("sm_90a").run(plan_of(parsed(TWICE)), inputs())
    given = inputs()
    np.testing.assert_array_equal(execution.results[0], given[0] * 4)
    np.testing.assert_array_equal(execution.results[1], given[1])
    assert execution.problems == []
    assert [report.launch.kernel for report in execution.kernels] == ["twice", "twice"]
    assert all(report.counters.shared_wavefronts >= 2 for report in execution.kernels)


CHAIN = """
func.func @main(%x: memref<2x16xf32>, %unused: memref<3xi32>) -> memref<2x16xf32> {
  %y = memref.alloc() {plan.offset = 0} : memref<2x16xf32>
  %z = memref.alloc() {plan.offset = 256} : memref<2x16xf32>
  %v = memref.alloc() {plan.offset = THIRD} : memref<2x16xf32>
  %w = memref.alloc() : memref<2x16xf32>
  loop.launch @twice(%x) -> (%y) : (memref<2x16xf32>) -> (memref<2x16xf32>)
  loop.launch @twice(%y) -> (%z) : (memref<2x16xf32>) -> (memref<2x16xf32>)
  loop.launch @twice(%z) -> (%v) : (memref<2x16xf32>) -> (memref<2x16xf32>)
  loop.launch @twice(%v) -> (%w) : (memref<2x16xf32>) -> (memref<2x16xf32>)
  func.return %w : memref<2x16xf32>
}
""" + TWICE[TWICE.index("cuda.func") :]


@needs_nvrtc
def test_buffers_share_a_slab():
    plan = plan_of(parsed(CHAIN.replace("THIRD", "0")))
    assert plan.slab.slots == {2: range(0, 128), 3: range(256, 384), 4: range(0, 128)}
    assert (plan.slab.peak_bytes, plan.slab.sum_bytes) == (512, 768)
    execution = SimulatorBackend("sm_90a").run(plan, inputs())
    np.testing.assert_array_equal(execution.results[0], inputs()[0] * 16)
    assert execution.problems == []


@needs_nvrtc
def test_memory_is_poisoned_again_where_a_buffer_begins():
    """Half of %v is never written; values that %y left there must not hide it."""
    half = CHAIN.replace("THIRD", "0").replace("@twice(%z) ->", "@half(%z) ->")
    kernel = half[half.index("cuda.func") :].replace("block 32 @twice", "block 16 @half")
    execution = SimulatorBackend("sm_90a").run(plan_of(parsed(half + kernel)), inputs())
    assert execution.kernels[0].problems == ()
    first, *_ = execution.kernels[2].problems
    assert first.message == "output 0 is never written at [1, 0], nor at 15 more"


def test_buffers_that_are_needed_together_share_nothing():
    with pytest.raises(UsageError, match="%z and %v share memory, but are needed at the same time"):
        plan_of(parsed(CHAIN.replace("THIRD", "256")))


@needs_nvrtc
def test_results_are_not_the_inputs():
    given = inputs()
    execution = SimulatorBackend("sm_90a").run(plan_of(parsed(TWICE)), given)
    execution.results[1][:] = 0
    np.testing.assert_array_equal(given[1], [7, 8, 9])


@needs_nvrtc
def test_unwritten_elements_are_a_problem():
    execution = SimulatorBackend("sm_90a").run(plan_of(parsed(HALF)), inputs())
    first, *_ = execution.problems
    assert first.message == "output 0 is never written at [1, 0], nor at 15 more"


COPY = """
func.func @main(%x: memref<32xTYPE>) -> memref<32xTYPE> {
  %y = memref.alloc() : memref<32xTYPE>
  loop.launch @copy(%x) -> (%y) : (memref<32xTYPE>) -> (memref<32xTYPE>)
  func.return %y : memref<32xTYPE>
}
cuda.func grid 1 block 31 @copy(%x: !cuda.ptr<TYPE, const>) -> (%y: !cuda.ptr<TYPE>) {
  %0 = cuda.builtin thread_idx : i32
  %t = cuda.let %0 : i32
  %1 = cuda.subscript %x[%t] : !cuda.ptr<TYPE, const>, i32
  cuda.store %1, %y[%t] : !cuda.ptr<TYPE>, i32
}
"""
DTYPES = {
    "i1": np.bool_,
    "i8": np.int8,
    "ui8": np.uint8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}


@needs_nvrtc
@pytest.mark.parametrize("type", DTYPES)
def test_every_type(type: str):
    """Written values that look like unwritten memory are recognised as written."""
    dtype = np.dtype(DTYPES[type])
    peculiar = np.array([0x7FC0FEED7FC0FEED, 0x7FED, 0xED], np.uint64)
    x = np.ones(32, dtype)
    if dtype.kind in "iu":
        x[:3] = peculiar.astype(dtype)
        x[3:6] = np.array([0xED, 0x7FED, 0x7FC0FEED], np.uint64).astype(dtype)
    plan = plan_of(parsed(COPY.replace("TYPE", type)))
    assert plan.inputs == (ArrayType((32,), dtype),)
    execution = SimulatorBackend("sm_90a").run(plan, [x])
    assert execution.results[0][:31].tobytes() == x[:31].tobytes()
    (problem,) = execution.problems
    assert problem.message == "output 0 is never written at [31], nor at 0 more"
    whole = plan_of(parsed(COPY.replace("TYPE", type).replace("block 31", "block 32")))
    execution = SimulatorBackend("sm_90a").run(whole, [x])
    assert execution.problems == []
    assert execution.results[0].dtype == dtype


@needs_nvrtc
def test_nan_is_written():
    """A NaN that a program computes differs from unwritten memory."""
    x, unused = inputs()
    x[1, 3] = np.nan
    execution = SimulatorBackend("sm_90a").run(plan_of(parsed(TWICE)), [x, unused])
    assert execution.problems == []
    assert np.isnan(execution.results[0][1, 3])


@needs_nvrtc
def test_the_budget_is_that_of_all_launches():
    plan = plan_of(parsed(TWICE))
    needed = sum(k.instructions for k in SimulatorBackend("sm_90a").run(plan, inputs()).kernels)
    SimulatorBackend("sm_90a", budget=needed).run(plan, inputs())
    with pytest.raises(SimulationTooLarge, match="simulating twice takes more than the"):
        SimulatorBackend("sm_90a", budget=needed - 1).run(plan, inputs())


X, UNUSED = inputs()

MISFITS = {
    "count": ([X], "the program takes 2 inputs, got 1"),
    "shape": ([X.T, UNUSED], r"'x' is float32\[16, 2\], but .* float32\[2, 16\]"),
    "dtype": ([X.astype(np.float64), UNUSED], r"'x' is float64\[2, 16\]"),
}


@pytest.mark.parametrize("argument_error", MISFITS)
def test_inputs_must_fit(argument_error: str):
    given, error = MISFITS[argument_error]
    with pytest.raises(UsageError, match=error):
        SimulatorBackend("sm_90a").run(plan_of(parsed(TWICE)), given)


def test_devices():
    assert backend_for("sim", "sm_90a").name == "sim"
    with pytest.raises(UsageError, match="a GPU runs all blocks"):
        backend_for("gpu", "sm_90a", blocks=3)
    with pytest.raises(UsageError, match="a GPU computes sums by its own arithmetic"):
        backend_for("gpu", "sm_90a", matrix_sums=MatrixSums.TRUNCATED)
    with pytest.raises(UsageError, match="unknown device 'tpu'"):
        backend_for("tpu", "sm_90a")


MULTIPLY = """extern "C" __global__ void twice(const float* x, float* y) {
  float d[4] = {1, 1, 1, 1};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3},"
    " {%4, %4, %4, %4}, {%5, %5}, {%0, %1, %2, %3};"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(0x39803980), "r"(0x39003900));
  y[threadIdx.x] = d[0]; }"""


@needs_nvrtc
@pytest.mark.parametrize(
    ("sums", "expected"), [(MatrixSums.ROUNDED_ONCE, 1 + 2.0**-21), (MatrixSums.TRUNCATED, 1)]
)
def test_a_backend_sums_products_by_its_model(sums: MatrixSums, expected: float):
    """Sixteen products of 2**-12 and 2**-13 are added to 1."""
    plan = replace(plan_of(parsed(TWICE)), source=MULTIPLY)
    execution = SimulatorBackend("sm_80", matrix_sums=sums).run(plan, inputs())
    assert (execution.results[0] == expected).all()
