# SPDX-License-Identifier: Apache-2.0
"""Kernel IR to CUDA text to PTX to the simulator with all checks, compared with NumPy."""

from collections.abc import Sequence
from math import erf

import numpy as np
import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray

from tilewright.codegen.printer import cuda_source, kernels_of
from tilewright.codegen.simulator.simulator import simulate

from .kernel_ir import compile_clean, converted, source_of

Array = NDArray[np.generic]

TARGETS = ("sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120")


def run(text: str, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
    """Run the only kernel of `text`; it fills `outputs`, which start as NaN or -1."""
    module = converted(text)
    (kernel,) = kernels_of(module)
    for output in outputs:
        output.fill(np.nan if output.dtype.kind == "f" else -1)
    report = simulate(
        compile_clean(cuda_source(module)),
        kernel.sym_name.data,
        grid=kernel.grid.value.data,
        block=kernel.block.value.data,
        arguments=[*inputs, *outputs],
        read_only=range(len(inputs)),
    )
    assert report.errors == []


def normal(*shape: int) -> NDArray[np.float32]:
    """Return the same random numbers each time."""
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def single(*shape: int) -> NDArray[np.float32]:
    """Return an array for an output."""
    return np.empty(shape, np.float32)


SILU = """
kernel.func grid 8 block 128 @silu(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %one = arith.constant 1.0 : f32
  %v = loop.load %x[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
  %n = arith.negf %v : f32
  %e = math.exp %n : f32
  %d = arith.addf %e, %one : f32
  %r = arith.divf %v, %d : f32
  loop.store %r, %out[%b * 128 + %t] where [999 - %b * 128 - %t] : memref<1000xf32>
}
"""

MATMUL = """
kernel.func grid 9 block 128 @matmul(%a: memref<33x65xf32>, %b: memref<65x17xf32>)
    -> (%c: memref<33x17xf32>) {
  %block = kernel.block_id
  %thread = kernel.thread_id
  %m = kernel.index [%block floordiv 3 * 16 + %thread floordiv 8]
  %n = kernel.index [(%block mod 3) * 8 + %thread mod 8]
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c65 = arith.constant 65 : index
  %r = scf.for %k = %c0 to %c65 step %c1 iter_args(%acc = %zero) -> (f32) {
    %0 = loop.load %a[%m, %k] where [32 - %m] : memref<33x65xf32>
    %1 = loop.load %b[%k, %n] where [16 - %n] : memref<65x17xf32>
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    scf.yield %3 : f32
  }
  loop.store %r, %c[%m, %n] where [32 - %m, 16 - %n] : memref<33x17xf32>
}
"""

# One row of 100 per block of 64 threads: two elements a thread, two warps.
SOFTMAX = """
kernel.func grid 5 block 64 @softmax(%x: memref<5x100xf32>) -> (%y: memref<5x100xf32>) {
  %row = kernel.block_id
  %t = kernel.thread_id
  %warp = kernel.index [%t floordiv 32]
  %lane = kernel.index [%t mod 32]
  %first = loop.predicate [0 - %lane] : i1
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %inside = loop.predicate [99 - %t - 64] : i1
  %maxima = kernel.shared : memref<2xf32, 3>
  %sums = kernel.shared : memref<2xf32, 3>
  %v0 = loop.load %x[%row, %t] : memref<5x100xf32>
  %v1 = loop.load %x[%row, %t + 64] where [35 - %t] : memref<5x100xf32>
  %m1 = arith.select %inside, %v1, %lowest : f32
  %ma = arith.maximumf %v0, %m1 : f32
  %mb = kernel.shuffle xor %ma, 16 width 32 : f32
  %mc = arith.maximumf %ma, %mb : f32
  %md = kernel.shuffle xor %mc, 8 width 32 : f32
  %me = arith.maximumf %mc, %md : f32
  %mf = kernel.shuffle xor %me, 4 width 32 : f32
  %mg = arith.maximumf %me, %mf : f32
  %mh = kernel.shuffle xor %mg, 2 width 32 : f32
  %mi = arith.maximumf %mg, %mh : f32
  %mj = kernel.shuffle xor %mi, 1 width 32 : f32
  %mk = arith.maximumf %mi, %mj : f32
  scf.if %first {
    loop.store %mk, %maxima[%warp] : memref<2xf32, 3>
  }
  kernel.barrier
  %p = loop.load %maxima[0] : memref<2xf32, 3>
  %q = loop.load %maxima[1] : memref<2xf32, 3>
  %max = arith.maximumf %p, %q : f32
  %d0 = arith.subf %v0, %max : f32
  %d1 = arith.subf %v1, %max : f32
  %e0 = math.exp %d0 : f32
  %e = math.exp %d1 : f32
  %e1 = arith.select %inside, %e, %zero : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %sa = arith.addf %e0, %e1 : f32
  %sb = kernel.shuffle xor %sa, 16 width 32 : f32
  %sc = arith.addf %sa, %sb : f32
  %sd = kernel.shuffle xor %sc, 8 width 32 : f32
  %se = arith.addf %sc, %sd : f32
  %sf = kernel.shuffle xor %se, 4 width 32 : f32
  %sg = arith.addf %se, %sf : f32
  %sh = kernel.shuffle xor %sg, 2 width 32 : f32
  %si = arith.addf %sg, %sh : f32
  %sj = kernel.shuffle xor %si, 1 width 32 : f32
  %sk = arith.addf %si, %sj : f32
  scf.if %first {
    loop.store %sk, %sums[%warp] : memref<2xf32, 3>
  }
  kernel.barrier
  %u = loop.load %sums[0] : memref<2xf32, 3>
  %w = loop.load %sums[1] : memref<2xf32, 3>
  %sum = arith.addf %u, %w : f32
  %r0 = arith.divf %e0, %sum : f32
  %r1 = arith.divf %e1, %sum : f32
  loop.store %r0, %y[%row, %t] : memref<5x100xf32>
  loop.store %r1, %y[%row, %t + 64] where [35 - %t] : memref<5x100xf32>
}
"""

# Division of indices that may be negative, by affine subscripts and by arith.
FLOOR_DIVISION = """
kernel.func grid 1 block 32 @divide(%x: memref<13xf32>)
    -> (%quotient: memref<32xi32>, %rest: memref<32xi32>, %ceil: memref<32xi32>,
        %gathered: memref<32xf32>) {
  %t = kernel.thread_id
  %q = kernel.index [(16 - 2 * %t) floordiv 3]
  %r = kernel.index [(16 - 2 * %t) mod 5]
  %c16 = arith.constant 16 : index
  %c3 = arith.constant 3 : index
  %shifted = arith.subi %t, %c16 : index
  %up = arith.ceildivsi %shifted, %c3 : index
  %qi = arith.index_cast %q : index to i32
  %ri = arith.index_cast %r : index to i32
  %ui = arith.index_cast %up : index to i32
  %v = loop.load %x[(%t * 3 - %t * 5 + 16) floordiv 7 + 7] : memref<13xf32>
  loop.store %qi, %quotient[%t] : memref<32xi32>
  loop.store %ri, %rest[%t] : memref<32xi32>
  loop.store %ui, %ceil[%t] : memref<32xi32>
  loop.store %v, %gathered[%t] : memref<32xf32>
}
"""

# Each step uses both values of the last one: (a, b) -> (b, a + b).
FIBONACCI = """
kernel.func grid 1 block 32 @fibonacci(%x: memref<32xf32>)
    -> (%a_out: memref<32xf32>, %b_out: memref<32xf32>) {
  %t = kernel.thread_id
  %v = loop.load %x[%t] : memref<32xf32>
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %r:2 = scf.for %k = %c0 to %c9 step %c2 iter_args(%a = %v, %b = %one) -> (f32, f32) {
    %n = arith.addf %a, %b : f32
    scf.yield %b, %n : f32, f32
  }
  loop.store %r#0, %a_out[%t] : memref<32xf32>
  loop.store %r#1, %b_out[%t] : memref<32xf32>
}
"""

SWAP = """
kernel.func grid 1 block 32 @swap(%x: memref<32xf32>, %y: memref<32xf32>)
    -> (%a_out: memref<32xf32>, %b_out: memref<32xf32>) {
  %t = kernel.thread_id
  %v = loop.load %x[%t] : memref<32xf32>
  %w = loop.load %y[%t] : memref<32xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %v, %b = %w) -> (f32, f32) {
    scf.yield %b, %a : f32, f32
  }
  loop.store %r#0, %a_out[%t] : memref<32xf32>
  loop.store %r#1, %b_out[%t] : memref<32xf32>
}
"""

MAXIMUM = """
kernel.func grid 1 block 32 @maximum(%x: memref<32xf32>, %y: memref<32xf32>)
    -> (%high: memref<32xf32>, %low: memref<32xf32>, %num: memref<32xf32>) {
  %t = kernel.thread_id
  %v = loop.load %x[%t] : memref<32xf32>
  %w = loop.load %y[%t] : memref<32xf32>
  %h = arith.maximumf %v, %w : f32
  %l = arith.minimumf %v, %w : f32
  %n = arith.maxnumf %v, %w : f32
  loop.store %h, %high[%t] : memref<32xf32>
  loop.store %l, %low[%t] : memref<32xf32>
  loop.store %n, %num[%t] : memref<32xf32>
}
"""

# Names that C++, CUDA, its math library and the prelude reserve.
RESERVED_NAMES = """
func.func @main(%x: memref<32xf32>) -> memref<32xf32> {
  %0 = memref.alloc() : memref<32xf32>
  loop.launch @float(%x, %x) -> (%0) : (memref<32xf32>, memref<32xf32>) -> (memref<32xf32>)
  func.return %0 : memref<32xf32>
}
kernel.func grid 1 block 32 @float(%int: memref<32xf32>, %erf: memref<32xf32>)
    -> (%class: memref<32xf32>) {
  %threadIdx = kernel.thread_id
  %expf = loop.load %int[%threadIdx] : memref<32xf32>
  %max_nan = loop.load %erf[%threadIdx] : memref<32xf32>
  %linux = math.erf %expf : f32
  %__x = arith.maximumf %linux, %max_nan : f32
  %new = math.exp %__x : f32
  %a.b = arith.addf %new, %linux : f32
  %a-b = arith.addf %a.b, %__x : f32
  loop.store %a-b, %class[%threadIdx] : memref<32xf32>
}
"""

# Control flow that depends on the thread, with values and without.
BRANCHES = """
kernel.func grid 1 block 64 @branches(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %v = loop.load %x[%t] : memref<64xf32>
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %is_low = loop.predicate [31 - %t] : i1
  %is_positive = arith.cmpf ogt, %v, %zero : f32
  %both = arith.andi %is_low, %is_positive : i1
  %r = scf.if %both -> (f32) {
    %s = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero) -> (f32) {
      %n = arith.addf %acc, %v : f32
      scf.yield %n : f32
    }
    scf.yield %s : f32
  } else {
    %n = arith.negf %v : f32
    scf.yield %n : f32
  }
  %is_nan = arith.cmpf uno, %v, %v : f32
  scf.if %is_nan {
    loop.store %zero, %out[%t] : memref<64xf32>
  } else {
    loop.store %r, %out[%t] : memref<64xf32>
  }
}
"""

KERNELS = {
    "silu": SILU,
    "matmul": MATMUL,
    "softmax": SOFTMAX,
    "floor division": FLOOR_DIVISION,
    "two carried values": FIBONACCI,
    "swapped values": SWAP,
    "maximum": MAXIMUM,
    "reserved names": RESERVED_NAMES,
    "branches": BRANCHES,
}


@pytest.mark.one_in(4)
@needs_nvrtc
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("text", KERNELS.values(), ids=list(KERNELS))
def test_compiles_without_warnings(text: str, target: str):
    compile_clean(source_of(text), target)


@pytest.mark.parametrize("text", KERNELS.values(), ids=list(KERNELS))
def test_text_is_the_same_each_time_and_readable(text: str):
    source = source_of(text)
    assert source == source_of(text)
    assert max(map(len, source.splitlines())) <= 100


@needs_nvrtc
def test_tail_of_an_elementwise_kernel():
    x, out = normal(1000), single(1000)
    run(SILU, [x], [out])
    expected = x.astype(np.float64)
    np.testing.assert_allclose(out, expected / (1 + np.exp(-expected)), rtol=3e-7)


@needs_nvrtc
def test_matmul_of_odd_sizes():
    a, b, c = normal(33, 65), normal(65, 17), single(33, 17)
    run(MATMUL, [a, b], [c])
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)


@needs_nvrtc
def test_softmax_with_shuffles_and_shared_memory():
    x, y = normal(5, 100), single(5, 100)
    run(SOFTMAX, [x], [y])
    e = np.exp(x.astype(np.float64) - x.max(-1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(-1, keepdims=True), rtol=1e-6)


@needs_nvrtc
def test_division_of_negative_indices_rounds_down():
    x, v = np.arange(13, dtype=np.float32), single(32)
    quotient, rest, ceil = (np.empty(32, np.int32) for _ in range(3))
    run(FLOOR_DIVISION, [x], [quotient, rest, ceil, v])
    t = np.arange(32)
    np.testing.assert_array_equal(quotient, (16 - 2 * t) // 3)
    np.testing.assert_array_equal(rest, (16 - 2 * t) % 5)
    np.testing.assert_array_equal(ceil, -(-(t - 16) // 3))
    np.testing.assert_array_equal(v, x[(16 - 2 * t) // 7 + 7])


@needs_nvrtc
def test_two_values_carried_by_a_loop():
    x, a, b = normal(32), single(32), single(32)
    run(FIBONACCI, [x], [a, b])
    expected_a, expected_b = x, np.ones(32, np.float32)
    for _ in range(0, 9, 2):
        expected_a, expected_b = expected_b, expected_a + expected_b
    np.testing.assert_array_equal(a, expected_a)
    np.testing.assert_array_equal(b, expected_b)


@needs_nvrtc
def test_values_that_a_loop_swaps():
    x, y, a, b = normal(32), normal(32) + 1, single(32), single(32)
    run(SWAP, [x, y], [a, b])
    np.testing.assert_array_equal(a, y)
    np.testing.assert_array_equal(b, x)


@needs_nvrtc
def test_maximum_keeps_nan_and_maxnum_drops_it():
    x, y = normal(32), normal(32)[::-1].copy()
    x[3] = y[5] = x[7] = y[7] = np.nan
    x[9], y[9] = np.inf, -np.inf
    high, low, num = single(32), single(32), single(32)
    run(MAXIMUM, [x, y], [high, low, num])
    np.testing.assert_array_equal(high, np.maximum(x, y))
    np.testing.assert_array_equal(low, np.minimum(x, y))
    np.testing.assert_array_equal(num, np.fmax(x, y))


@needs_nvrtc
def test_reserved_names():
    x, y, out = normal(32), normal(32) / 2, single(32)
    run(RESERVED_NAMES, [x, y], [out])
    erf_x = np.array([erf(v) for v in x])
    larger = np.maximum(erf_x, y)
    terms = np.exp(larger), erf_x, larger
    # the terms may cancel: the error is measured by their size
    lost = 2 * np.finfo(np.float32).eps * sum(np.abs(term) for term in terms)
    np.testing.assert_array_less(np.abs(out - sum(terms)), lost)


@needs_nvrtc
def test_branches():
    x, out = normal(64), single(64)
    x[5] = np.nan
    run(BRANCHES, [x], [out])
    taken = (np.arange(64) < 32) & (x > 0)
    expected = np.where(np.isnan(x), 0, np.where(taken, 4 * x, -x))
    np.testing.assert_allclose(out, expected, rtol=1e-6)
