# SPDX-License-Identifier: Apache-2.0
"""Atomic updates of one place by many threads."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from tilewright.codegen.simulator import Report

Run = Callable[..., Report]

_X = np.random.default_rng(5).integers(0, 1000, 256).astype(np.int32)


@pytest.mark.parametrize(
    ("call", "start", "expected"),
    [
        ("atomicAdd(y, v)", 5, 5 + _X.sum()),
        ("atomicSub(y, v)", 5, 5 - _X.sum()),
        ("atomicMax(y, v)", 5, _X.max()),
        ("atomicMin(y, v)", 500, min(500, _X.min())),
        ("atomicAnd(y, v | 64)", -1, np.bitwise_and.reduce(_X | 64)),
        ("atomicOr(y, v)", 0, np.bitwise_or.reduce(_X)),
        ("atomicXor(y, v)", 0, np.bitwise_xor.reduce(_X)),
        ("atomicInc((unsigned*)y, 99)", 0, 256 % 100),
        ("atomicDec((unsigned*)y, 99)", 0, -256 % 100),
    ],
)
def test_update_in_global_memory(run: Run, call: str, start: int, expected: int):
    source = f"(const int* x, int* y) {{ int v = x[blockIdx.x * 64 + threadIdx.x]; {call}; }}"
    y = np.array([start], np.int32)
    report = run(source, _X, y, grid=4, block=64)
    assert report.ok, report.errors
    assert y[0] == expected


def test_each_thread_gets_another_old_value(run: Run):
    source = """(const int* x, int* y, int* count) {
      int at = atomicAdd(count, 1); y[at] = x[blockIdx.x * 64 + threadIdx.x]; }"""
    y, count = np.zeros(256, np.int32), np.zeros(1, np.int32)
    report = run(source, _X, y, count, grid=4, block=64)
    assert report.ok, report.errors
    assert count[0] == 256
    np.testing.assert_array_equal(np.sort(y), np.sort(_X))


def test_blocks_come_in_another_order_than_their_numbers(run: Run):
    source = """(int* turn, int* count) {
      if (threadIdx.x == 0) turn[blockIdx.x] = atomicAdd(count, 1); }"""
    turn, count = np.zeros(8, np.int32), np.zeros(1, np.int32)
    report = run(source, turn, count, grid=8, block=32)
    assert report.ok, report.errors
    assert sorted(turn.tolist()) == [*range(8)]
    assert turn.tolist() != [*range(8)]


def test_compare_and_swap_and_exchange(run: Run):
    source = """(int* y, int* won, int* last) { int i = threadIdx.x;
      won[i] = atomicCAS(y, 0, i + 1) == 0; last[i] = atomicExch(y + 1, i); }"""
    y, won, last = np.array([0, -1], np.int32), np.zeros(64, np.int32), np.zeros(64, np.int32)
    report = run(source, y, won, last, block=64)
    assert report.ok, report.errors
    assert won.sum() == 1
    assert y[0] == np.argmax(won) + 1
    assert sorted([*last.tolist(), y[1]]) == list(range(-1, 64))


def test_a_histogram_in_shared_memory(run: Run):
    source = """(const int* x, int* y) { __shared__ int bins[16];
      if (threadIdx.x < 16) bins[threadIdx.x] = 0;
      __syncthreads();
      atomicAdd(&bins[x[blockIdx.x * 64 + threadIdx.x] % 16], 1);
      __syncthreads();
      if (threadIdx.x < 16) atomicAdd(&y[threadIdx.x], bins[threadIdx.x]); }"""
    y = np.zeros(16, np.int32)
    report = run(source, _X, y, grid=4, block=64)
    assert report.ok, report.errors
    np.testing.assert_array_equal(y, np.bincount(_X % 16, minlength=16))


def test_sums_of_floats(run: Run):
    source = "(const int* x, float* y) { atomicAdd(y, (float)x[threadIdx.x]); }"
    y = np.zeros(1, np.float32)
    assert run(source, _X, y, block=256).ok
    assert y[0] == _X.sum()


def test_the_last_block_adds_up_partial_sums(run: Run):
    """A device-wide fence orders the blocks, so the race check reports nothing."""
    source = """(const int* x, int* part, int* count, int* y) {
      int v = __reduce_add_sync(~0u, x[blockIdx.x * 32 + threadIdx.x]);
      if (threadIdx.x == 0) {
        part[blockIdx.x] = v;
        __threadfence();
        if (atomicAdd(count, 1) == gridDim.x - 1) {
          __threadfence();
          int sum = 0; for (int i = 0; i < gridDim.x; ++i) sum += part[i];
          y[0] = sum; } } }"""
    part, count, y = np.zeros(8, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
    report = run(source, _X, part, count, y, grid=8)
    assert report.ok, report.errors
    assert y[0] == _X.sum()


_REGISTERS = {"h": np.uint16, "r": np.uint32, "f": np.float32}
_SEVERAL = [
    ("add.noftz.f16", 1, "h", np.float16, np.add),
    ("add.noftz.bf16", 1, "h", ml_dtypes.bfloat16, np.add),
    ("add.noftz.f16x2", 1, "r", np.float16, np.add),
    ("add.noftz.bf16x2", 1, "r", ml_dtypes.bfloat16, np.add),
    ("max.noftz.v8.f16", 8, "h", np.float16, np.maximum),
    ("min.noftz.v2.bf16", 2, "h", ml_dtypes.bfloat16, np.minimum),
    ("add.noftz.v4.bf16x2", 4, "r", ml_dtypes.bfloat16, np.add),
    ("add.v4.f32", 4, "f", np.float32, np.add),
    ("add.v2.f32", 2, "f", np.float32, np.add),
]


@pytest.mark.parametrize(
    ("what", "registers", "letter", "dtype", "ufunc"), _SEVERAL, ids=[x[0] for x in _SEVERAL]
)
def test_several_elements_at_once(
    run: Run, what: str, registers: int, letter: str, dtype: type[np.generic], ufunc: np.ufunc
):
    register = {"h": "unsigned short", "r": "unsigned", "f": "float"}[letter]
    values = ", ".join(f"%{number + 1}" for number in range(registers))
    vector = f"{{{values}}}" if registers > 1 else values
    inputs = ", ".join(f'"{letter}"(v[{number}])' for number in range(registers))
    source = f"""(const {register}* x, {register}* y) {{
      const {register}* v = x + (blockIdx.x * 32 + threadIdx.x) * {registers};
      asm volatile("red.global.{what} [%0], {vector};" :: "l"(y), {inputs} : "memory"); }}"""
    count = registers * np.dtype(_REGISTERS[letter]).itemsize // np.dtype(dtype).itemsize
    x = np.random.default_rng(3).integers(-8, 9, (64, count)).astype(dtype)
    y = np.ones(count, dtype)
    report = run(source, x.view(_REGISTERS[letter]), y.view(_REGISTERS[letter]), grid=2)
    assert report.ok, report.errors
    expected = ufunc.reduce(np.concatenate([np.ones((1, count)), x.astype(np.float64)]), axis=0)
    np.testing.assert_array_equal(y.astype(np.float64), expected)


def test_a_vector_of_old_values(run: Run):
    source = """(float4* y, float4* old) {
      old[threadIdx.x] = atomicAdd(y, make_float4(1.f, 2.f, 3.f, 4.f)); }"""
    y, old = np.zeros(4, np.float32), np.zeros((32, 4), np.float32)
    assert run(source, y, old).ok
    np.testing.assert_array_equal(old, np.arange(32)[:, None] * [1, 2, 3, 4])
