# SPDX-License-Identifier: Apache-2.0
"""Launches in the simulator: arguments, budgets, checks, and errors that name the mistake."""

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.codegen import nvrtc
from tilewright.codegen.simulator import (
    Kind,
    Report,
    SimulationTooLarge,
    SimulatorError,
    simulate,
)

Run = Callable[..., Report]

_COPY = "(const float* x, float* y) { y[blockIdx.x * 32 + threadIdx.x] = x[threadIdx.x]; }"
_LOOP = """(float* y, int n) { float v = 0; for (int i = 0; i < n; ++i) v = v * 1.5f + i;
  y[blockIdx.x * 32 + threadIdx.x] = v; }"""


def _floats(n: int) -> np.ndarray:
    return np.arange(n, dtype=np.float32)


def test_arguments_of_every_kind(run: Run):
    source = """(double* y, int a, unsigned b, long long c, float d, double e, short f, bool g) {
      y[0] = a; y[1] = b; y[2] = c; y[3] = d; y[4] = e; y[5] = f; y[6] = g; }"""
    y = np.zeros(7)
    values = (-3, 4_000_000_000, -(1 << 40), 0.25, 1e300, -7, True)
    assert run(source, y, *values, block=1).ok
    assert y.tolist() == [float(value) for value in values]


def test_numpy_numbers_are_numbers(run: Run):
    y = np.zeros(1)
    assert run(
        "(double* y, int a, float b) { y[0] = a + b; }", y, np.int64(3), np.float32(0.5), block=1
    ).ok
    assert y[0] == 3.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((_floats(32),), "k has 2 parameters, but got 1 arguments"),
        ((_floats(32), 1.5), "argument 1 is 1.5, which is no 64-bit integer"),
        ((_floats(64)[::2], _floats(32)), "argument 0 is not a contiguous array"),
        ((_floats(32).astype(">f4"), _floats(32)), "argument 0 is not a contiguous array"),
    ],
)
def test_arguments_that_do_not_fit(run: Run, arguments: tuple[object, ...], message: str):
    with pytest.raises(SimulatorError, match=message):
        run(_COPY, *arguments)


def test_an_array_for_a_number_is_refused(run: Run):
    with pytest.raises(SimulatorError, match="argument 1 is an array, but the kernel expects u32"):
        run(_LOOP, _floats(32), _floats(32))


def test_a_number_that_is_too_large_is_refused(run: Run):
    with pytest.raises(SimulatorError, match="argument 1 is 8589934592, which is no 32-bit"):
        run(_LOOP, _floats(32), 1 << 33)


def test_a_kernel_that_is_not_there():
    ptx = nvrtc.compile('extern "C" __global__ void rms(float* x) {}').ptx
    with pytest.raises(SimulatorError, match=r"no kernel 'k' \(its kernels: rms\)"):
        simulate(ptx, "k", grid=1, block=32, arguments=[_floats(1)])


@pytest.mark.parametrize("shape", [0, (1, 2, 3, 4), (4, 0)])
def test_a_grid_of_no_size(run: Run, shape: object):
    with pytest.raises(SimulatorError, match="one to three positive sizes"):
        run(_COPY, _floats(32), _floats(32), grid=shape)


def test_more_threads_than_the_kernel_is_built_for(run: Run):
    source = 'extern "C" __global__ void __launch_bounds__(64) k(float* y) { y[threadIdx.x] = 0; }'
    with pytest.raises(SimulatorError, match="128 threads per block, at most 64 can run"):
        run(source, _floats(128), block=128)


def test_an_array_that_cannot_be_written_is_read_only(run: Run):
    y = _floats(32)
    y.flags.writeable = False
    report = run(_COPY, _floats(32), y)
    assert [error.kind for error in report.errors] == [Kind.READ_ONLY]
    assert "argument 1" in report.errors[0].message
    np.testing.assert_array_equal(y, _floats(32))


def test_out_of_bounds_stores_write_nothing(run: Run):
    y = _floats(40)
    report = run(_COPY, _floats(32), y[:33], grid=2)
    assert [error.kind for error in report.errors] == [Kind.OUT_OF_BOUNDS]
    assert str(report.errors[0]) == (
        "line 1: out-of-bounds: thread 1 of block 1 writes 4 bytes at byte 132 of argument 1, "
        "which has 132"
    )
    np.testing.assert_array_equal(y[33:], _floats(40)[33:])


def test_bounds_are_checked_even_without_checks(run: Run):
    report = run(_COPY, _floats(31), _floats(32), checks=False)
    assert [error.kind for error in report.errors] == [Kind.OUT_OF_BOUNDS]
    assert report.counters.accesses == ()


def test_a_null_pointer(run: Run):
    report = run(_COPY, 0, _floats(32))
    assert [error.kind for error in report.errors] == [Kind.OUT_OF_BOUNDS]
    assert "address 0x0, where there is no memory" in report.errors[0].message


def test_an_empty_array(run: Run):
    source = "(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = x[0]; }"
    assert run(source, _floats(0), _floats(0), 0).ok
    report = run(source, _floats(0), _floats(1), 1)
    assert [error.kind for error in report.errors] == [Kind.OUT_OF_BOUNDS]


def test_a_finding_is_reported_once_a_line(run: Run):
    report = run(_COPY, _floats(1), _floats(32 * 2000), grid=2000)
    assert [(error.kind, error.line) for error in report.errors] == [(Kind.OUT_OF_BOUNDS, 1)]


def test_instructions_are_counted_per_thread(run: Run):
    one = run(_LOOP, _floats(64), 100, grid=2).instructions
    assert run(_LOOP, _floats(128), 100, grid=4).instructions == 2 * one
    assert one > 64 * 200


def test_a_launch_over_its_budget_is_refused(run: Run):
    with pytest.raises(
        SimulationTooLarge, match=r"more than the 1\.00e\+05 thread-instr"
    ) as caught:
        run(_LOOP, _floats(32 * 8), 1_000_000, grid=8, budget=100_000)
    assert caught.value.budget == 100_000
    assert caught.value.needed is None, "no block has ended, so the need is unknown"


def test_the_first_block_shows_that_the_launch_is_too_large(run: Run):
    blocks = 50_000
    y = _floats(32 * blocks)
    with pytest.raises(SimulationTooLarge) as caught:
        run(_LOOP, y, 10, grid=blocks, budget=20_000_000)
    np.testing.assert_array_equal(y, _floats(32 * blocks), "it has not begun")
    exact = run(_LOOP, _floats(32 * 100), 10, grid=100).instructions * blocks // 100
    assert caught.value.needed == exact


def test_a_launch_within_its_budget_runs(run: Run):
    needed = run(_LOOP, _floats(32), 10).instructions
    assert run(_LOOP, _floats(32), 10, budget=needed).ok


def test_an_endless_loop_ends_at_the_budget(run: Run):
    source = "(volatile unsigned* y, unsigned n) { for (unsigned i = 0; i != n; i += 2) y[0] = i; }"
    with pytest.raises(SimulationTooLarge):
        run(source, np.zeros(1, np.uint32), 1, budget=1_000_000)


def test_a_loop_that_nothing_ends_is_a_deadlock(run: Run):
    source = "(volatile int* y) { for (;;) { y[0] = 1; } }"
    (error,) = run(source, np.zeros(1, np.int32)).errors
    assert (error.kind, error.line) == (Kind.DEADLOCK, 1)


def test_a_loop_that_polls_memory_that_no_thread_writes_is_a_deadlock(run: Run):
    source = """(volatile int* y) {
      while (y[0] == 0) {}
    }"""
    (error,) = run(source, np.zeros(1, np.int32)).errors
    says = "thread 0 of block 0 polls forever: no thread ends its loop"
    assert str(error) == f"line 2: deadlock: {says}"


def test_findings_in_a_device_function_name_the_line_that_calls_it(run: Run):
    source = """
__device__ float load(const float* x, int i) {
  return x[i];
}
__device__ float twice(const float* x, int i) {
  return 2 * load(x, i);
}
extern "C" __global__ void k(const float* x, float* y) {
  float a = load(x, threadIdx.x);
  float b = twice(x, threadIdx.x + 1);
  y[threadIdx.x] = a + b;
}"""
    report = run(source, _floats(32), _floats(32))
    assert [(error.kind, error.line) for error in report.errors] == [(Kind.OUT_OF_BOUNDS, 10)]


def test_dynamic_shared_memory_has_the_size_of_the_launch(run: Run):
    source = """(float* y) { extern __shared__ float s[]; s[threadIdx.x] = 1;
      y[threadIdx.x] = s[threadIdx.x]; }"""
    assert run(source, _floats(32), shared_bytes=128).ok
    report = run(source, _floats(32), shared_bytes=124)
    assert {error.kind for error in report.errors} == {Kind.OUT_OF_BOUNDS}
    report = run(source, _floats(32))
    assert {error.kind for error in report.errors} == {Kind.OUT_OF_BOUNDS}


def test_shared_memory_has_a_limit(run: Run):
    source = "(float* y) { extern __shared__ float s[]; s[0] = 1; y[0] = s[0]; }"
    assert run(source, _floats(1), block=1, shared_bytes=227 * 1024).ok
    with pytest.raises(SimulatorError, match="232449 bytes of shared memory, more than 232448"):
        run(source, _floats(1), block=1, shared_bytes=227 * 1024 + 1)
    source = "(float* y) { __shared__ float s[12300]; s[0] = 1; y[0] = s[(int)y[0]]; }"
    with pytest.raises(
        SimulatorError, match="49200 bytes in static shared arrays, more than 49152"
    ):
        run(source, _floats(1), block=1)


def test_constant_memory_and_tables(run: Run):
    source = """
__constant__ int table[5] = {3, 1, 4, 1, 5};
extern "C" __global__ void k(int* y) { y[threadIdx.x] = table[threadIdx.x % 5]; }"""
    y = np.zeros(32, np.int32)
    assert run(source, y).ok
    assert y.tolist() == [(3, 1, 4, 1, 5)[i % 5] for i in range(32)]


def test_generic_addresses_find_their_space(run: Run):
    """A pointer may point to shared or to global memory."""
    source = """(float* y, int n) { __shared__ float s[32]; s[threadIdx.x] = threadIdx.x;
      __syncthreads();
      float* p = threadIdx.x < n ? s : y;
      asm volatile("" : "+l"(p));
      p[threadIdx.x] *= 10;
      __syncthreads();
      y[threadIdx.x] += s[threadIdx.x]; }"""
    y = np.ones(32, np.float32)
    report = run(source, y, 20)
    assert report.ok, report.errors
    assert y.tolist() == [1 + 10 * i if i < 20 else 10 + i for i in range(32)]


def test_device_functions_run_in_place(run: Run):
    """Two calls of one function, one of which calls another: each has its own variables."""
    source = """
    __device__ __noinline__ int twice(int a) { if (a < 0) return 0; return a * 2; }
    __device__ __noinline__ double mixed(double x, int a) { return x + twice(a) * twice(a - 5); }
    extern "C" __global__ void k(const double* x, double* y) { int i = threadIdx.x;
      if (i % 3) y[i] = mixed(x[i], i) - twice(i); else y[i] = twice(100); }"""
    x, y = np.linspace(0, 1, 32), np.zeros(32)
    report = run(source, x, y)
    assert report.ok, report.errors

    def twice(a: int) -> int:
        return max(a * 2, 0)

    expected = [x[i] + twice(i) * twice(i - 5) - twice(i) if i % 3 else 200 for i in range(32)]
    np.testing.assert_array_equal(y, expected)


def test_a_function_that_calls_itself_is_refused(run: Run):
    source = """
    __device__ __noinline__ int f(int a) { return a < 2 ? 1 : f(a - 1) + f(a - 2); }
    extern "C" __global__ void k(int* y) { y[0] = f(y[0]); }"""
    with pytest.raises(SimulatorError, match=r"cannot follow the PTX call"):
        run(source, np.ones(1, np.int32))


@pytest.mark.parametrize("type", ["unsigned char", "short", "float", "double"])
def test_races_are_found_on_elements_of_any_size(run: Run, type: str):
    dtype = {"unsigned char": "u1", "short": "i2", "float": "f4", "double": "f8"}[type]
    source = f"""({type}* y) {{ int i = threadIdx.x; y[i WHERE] = i; }}"""
    fine = run(source.replace("WHERE", ""), np.zeros(32, dtype))
    assert fine.errors == []
    race = run(source.replace("WHERE", "/ 2"), np.zeros(32, dtype))
    assert [error.kind for error in race.errors] == [Kind.RACE]


def test_a_trap_names_its_line(run: Run):
    source = """(int* y) {
      int i = threadIdx.x;
      if (i == 7) __trap();
      y[i] = i; }"""
    y = np.full(32, -1, np.int32)
    (error,) = run(source, y).errors
    says = (
        "thread 7 of block 0 executes a trap, for example for an input with an index out of range"
    )
    assert str(error) == f"line 3: trap: {says}"
    assert y[7] == -1
