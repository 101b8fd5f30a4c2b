# SPDX-License-Identifier: Apache-2.0
"""A product of matrices by `cp.async`, `ldmatrix` and `mma`: one tile, and bugs planted in it."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from tilewright.codegen.simulator import Kind, MatrixSums, Report

Run = Callable[..., Report]

# Eight warps multiply 64x32 parts of a 128x128 tile. Chunks of 16 bytes are swizzled by their row.
KERNEL = """
#define AT(p) ((unsigned)__cvta_generic_to_shared(p))
typedef unsigned short bf16;
__device__ int chunk(int row, int columns, int n) { return row * columns + (n ^ row % 8) * 8; }
__device__ void fetch(bf16* to, const bf16* from, int columns) {
  for (int i = threadIdx.x; i < 1024; i += 256) {
    int row = i / (columns / 8), n = i % (columns / 8);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
      :: "r"(AT(to + chunk(row, columns, n))), "l"(from + i * 8) : "memory");
  }
}
extern "C" __global__ void __launch_bounds__(256) k(const bf16* a, const bf16* b, float* c) {
  __shared__ __align__(128) bf16 as[128 * 64], bs[64 * 128];
  int t = threadIdx.x, lane = t % 32, m = t / 128 * 64, n = t / 32 % 4 * 32;
  fetch(as, a, 64);
  fetch(bs, b, 128);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  float d[4][4][4] = {};
  #pragma unroll 1
  for (int k = 0; k < 64; k += 16) {
    unsigned x[4][4], y[2][4];
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])
        : "r"(AT(as + chunk(m + i * 16 + lane % 16, 64, k / 8 + lane / 16))) : "memory");
    #pragma unroll
    for (int j = 0; j < 2; ++j)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(y[j][0]), "=r"(y[j][1]), "=r"(y[j][2]), "=r"(y[j][3])
        : "r"(AT(bs + chunk(k + lane % 16, 128, n / 8 + j * 2 + lane / 16))) : "memory");
    #pragma unroll
    for (int i = 0; i < 4; ++i)
      #pragma unroll
      for (int j = 0; j < 4; ++j)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3},"
          " {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(d[i][j][0]), "+f"(d[i][j][1]), "+f"(d[i][j][2]), "+f"(d[i][j][3])
          : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]),
            "r"(y[j / 2][j % 2 * 2]), "r"(y[j / 2][j % 2 * 2 + 1]));
  }
  float* out = c + m * 128 + n;
  #pragma unroll
  for (int i = 0; i < 4; ++i)
    #pragma unroll
    for (int j = 0; j < 4; ++j)
      #pragma unroll
      for (int e = 0; e < 4; ++e)
        out[(i * 16 + lane / 4 + e / 2 * 8) * 128 + j * 8 + lane % 4 * 2 + e % 2] = d[i][j][e];
}"""


def _product(
    run: Run, text: str, sums: MatrixSums = MatrixSums.ROUNDED_ONCE
) -> tuple[Report, bool]:
    """Return the report, and whether the result is exact for small integers."""
    random = np.random.default_rng(11)
    a, b = (random.integers(-8, 9, shape).astype(np.float64) for shape in ((128, 64), (64, 128)))
    c = np.zeros((128, 128), np.float32)
    bits = [x.astype(ml_dtypes.bfloat16).view(np.uint16) for x in (a, b)]
    report = run(text, *bits, c, block=256, matrix_sums=sums)
    return report, bool((c == a @ b).all())


@pytest.mark.parametrize("sums", MatrixSums)
def test_a_tile_is_exact_without_bank_conflicts(run: Run, sums: MatrixSums):
    report, is_exact = _product(run, KERNEL, sums)
    assert report.ok, report.errors
    assert is_exact
    assert report.counters.bank_factor == 1
    requests = sum(a.requests for a in report.counters.accesses if a.operation == "ldmatrix")
    assert requests == 8 * 4 * (4 + 2)


def test_multiplications_are_counted(run: Run):
    report, _ = _product(run, KERNEL)
    place = KERNEL[: KERNEL.index("[j % 2 * 2 + 1]));")].count("\n") + 1
    (line,) = (each for each in report.counters.lines if each.line == place)
    assert line.warp_instructions == 8 * 4 * 16
    assert line.active_lanes == 32


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("  __syncthreads();\n", "", Kind.RACE),
        ('asm volatile("cp.async.wait_all;" ::: "memory");', "", Kind.ASYNC_RACE),
        ("(n ^ row % 8) * 8", "n * 8 + row % 2", Kind.MISALIGNED),
        ("128, n / 8 + j * 2", "128, n / 8 + j * 8", Kind.OUT_OF_BOUNDS),
        (".x4.trans", ".x4", None),
        ("x4.shared", "x4.trans.shared", None),
        ("AT(to + chunk(row, columns, n))", "AT(to + i * 8)", None),
        ("as + chunk(m + i * 16 + lane % 16", "as + chunk(m + i * 16 + lane % 8", None),
        ("64, k / 8 + lane / 16", "64, k / 8 + lane / 8 % 2", None),
        ('"r"(x[i][1]), "r"(x[i][2])', '"r"(x[i][2]), "r"(x[i][1])', None),
        ('"r"(y[j / 2][j % 2 * 2 + 1])', '"r"(y[j / 2][j % 2 * 2])', None),
        ("lane / 4 + e / 2 * 8", "lane / 4 + e % 2 * 8", None),
    ],
)
def test_a_planted_bug_is_found(run: Run, old: str, new: str, kind: Kind | None):
    """Bugs without a kind have no findings, but a wrong result."""
    assert KERNEL.count(old) == 1
    report, is_exact = _product(run, KERNEL.replace(old, new))
    assert not report.ok or not is_exact
    assert kind is None or kind in [error.kind for error in report.errors]
