# SPDX-License-Identifier: Apache-2.0
"""Bulk copies, with tensor maps and without: contents, and refused arguments."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tilewright.codegen.simulator import Kind, Report, TensorMap
from tilewright.errors import UsageError

Run = Callable[..., Report]

_TENSOR = """
struct __align__(64) CUtensorMap { unsigned char opaque[128]; };
extern "C" __global__ void k(const __grid_constant__ CUtensorMap map, float* y, int start) {
  extern __shared__ __align__(1024) float pool[];
  __shared__ unsigned long long bar;
  unsigned at = __cvta_generic_to_shared(pool), on = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(on) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], BYTES;" :: "r"(on) : "memory");
    asm volatile("cp.async.bulk.tensor.RANKd.shared::cluster.global.tile"
      ".mbarrier::complete_tx::bytes [%0], [%1, {COORDINATES}], [%2];"
      :: "r"(at + start), "l"(&map), "r"(on) : "memory");
  }
  __syncthreads();
  asm volatile("{\\n.reg .pred p;\\nagain:\\n"
    "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\\n@p bra done;\\nbra again;\\ndone:\\n}"
    :: "r"(on) : "memory");
  for (int i = threadIdx.x; i < BYTES / 4; i += 32) y[i] = pool[i + start / 4];
}"""


def _copy(
    run: Run, map: TensorMap, origin: tuple[int, ...], start: int = 0
) -> tuple[np.ndarray, Report]:
    """Return the box at `origin` (order of axes) as it lies in shared memory."""
    source = (
        _TENSOR.replace("BYTES", str(map.bytes))
        .replace("RANK", str(map.rank))
        .replace("COORDINATES", ", ".join(str(c) for c in reversed(origin)))
    )
    y = np.full(map.bytes // 4, np.nan, np.float32)
    report = run(source, map, y, start, shared_bytes=start + map.bytes)
    return y, report


def _box(x: np.ndarray, origin: tuple[int, ...], box: tuple[int, ...]) -> np.ndarray:
    """Return NumPy's box: zeros outside of the array."""
    places = np.indices(box) + np.reshape(origin, (-1,) + (1,) * x.ndim)
    sizes = np.reshape(x.shape, (-1,) + (1,) * x.ndim)
    inside = ((places >= 0) & (places < sizes)).all(axis=0)
    return np.where(inside, x[tuple(np.clip(places, 0, sizes - 1))], 0)


@pytest.mark.parametrize(
    ("shape", "box", "origin"),
    [
        ((100,), (32,), (50,)),
        ((100,), (32,), (90,)),
        ((100,), (32,), (128,)),
        ((24, 40), (8, 16), (3, 5)),
        ((24, 40), (8, 16), (-3, 30)),
        ((4, 24, 40), (2, 8, 16), (3, 20, -4)),
        ((3, 4, 9, 8), (2, 2, 4, 4), (1, 3, 7, 6)),
        ((2, 3, 4, 9, 8), (2, 1, 2, 4, 4), (1, 2, -1, 7, 4)),
    ],
)
def test_boxes_of_one_to_five_axes(
    run: Run, shape: tuple[int, ...], box: tuple[int, ...], origin: tuple[int, ...]
):
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 1
    y, report = _copy(run, TensorMap(x, box), origin)
    assert report.ok, report.errors
    np.testing.assert_array_equal(y, _box(x, origin, box).ravel())


@pytest.mark.parametrize(("swizzle", "span"), [(32, 1), (64, 3), (128, 7)])
def test_swizzles(run: Run, swizzle: int, span: int):
    """Unit `j` of 16 bytes in line `r` of 128 bytes goes to unit `j ^ (r & span)`."""
    x = np.arange(64 * swizzle // 4, dtype=np.float32).reshape(64, -1)
    y, report = _copy(run, TensorMap(x, (64, swizzle // 4), swizzle=swizzle), (0, 0), 1024)
    assert report.ok, report.errors
    lines = x.reshape(-1, 8, 4)
    expected = np.empty_like(lines)
    for r in range(len(lines)):
        for j in range(8):
            expected[r, j ^ (r & span)] = lines[r, j]
    np.testing.assert_array_equal(y, expected.ravel())


@pytest.mark.parametrize("line", [1, 4])
def test_swizzles_count_from_the_start_of_shared_memory(run: Run, line: int):
    x = np.arange(8 * 32, dtype=np.float32).reshape(8, 32)
    y, report = _copy(run, TensorMap(x, (8, 32), swizzle=128), (0, 0), line * 128)
    assert report.ok, report.errors
    units = y.reshape(8, 8, 4)
    for r, j in np.ndindex(8, 8):
        np.testing.assert_array_equal(units[r, j ^ ((r + line) % 8)], x[r, 4 * j : 4 * j + 4])


def test_element_strides_skip_within_a_box(run: Run):
    x = np.arange(20 * 8, dtype=np.float32).reshape(20, 8)
    y, report = _copy(run, TensorMap(x, (8, 8), element_strides=(3, 1)), (2, 0))
    assert report.ok, report.errors
    np.testing.assert_array_equal(y, x[2:10:3].ravel())


def test_outside_may_be_nan(run: Run):
    x = np.ones((4, 8), np.float32)
    y, _ = _copy(run, TensorMap(x, (4, 8), fill_nan=True), (2, 0))
    assert np.isnan(y).reshape(4, 8).all(1).tolist() == [False, False, True, True]


def test_views_of_an_array(run: Run):
    """A map of the middle axis of a larger array, given by its strides."""
    x = np.arange(6 * 4 * 8, dtype=np.float32).reshape(6, 4, 8)
    map = TensorMap(x, (3, 8), shape=(6, 8), strides=(128, 4))
    y, report = _copy(run, map, (2, 0))
    assert report.ok, report.errors
    np.testing.assert_array_equal(y, x[2:5, 0].ravel())


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((300, 4), {"box": (257, 4)}, "box sizes of 1 to 256"),
        ((8, 8), {"box": (8,)}, "a size for each axis"),
        ((8, 6), {"box": (4, 4)}, "strides that are multiples of 16"),
        ((8, 8), {"box": (4, 6)}, "a multiple of 16 bytes"),
        ((8, 8), {"box": (4, 4), "element_strides": (9, 1)}, "element strides of 1 to 8"),
        ((8, 64), {"box": (4, 32), "swizzle": 64}, "no wider than its swizzle"),
        ((8, 8), {"box": (4, 4), "swizzle": 16}, "a swizzle of 0, 32, 64 or 128"),
        ((1, 1, 1, 1, 1, 4), {"box": (1, 1, 1, 1, 1, 4)}, "one to five axes"),
    ],
)
def test_maps_that_the_driver_refuses(
    shape: tuple[int, ...], options: dict[str, Any], message: str
):
    with pytest.raises(UsageError, match=message):
        TensorMap(np.zeros(shape, np.float32), **options)


def test_a_box_that_is_not_aligned(run: Run):
    x = np.zeros((8, 8), np.float32)
    _, report = _copy(run, TensorMap(x, (4, 4)), (0, 0), start=64)
    assert Kind.TENSOR_MAP in {error.kind for error in report.errors}


_PLAIN = """(const float* x, float* y, int skip, int bytes) {
  __shared__ __align__(128) float tile[64];
  __shared__ unsigned long long bar;
  unsigned at = __cvta_generic_to_shared(tile), on = __cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(on) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1], %2, [%3];" :: "r"(at), "l"(x + skip), "r"(bytes), "r"(on) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
      :: "r"(on), "r"(bytes) : "memory");
  }
  __syncthreads();
  asm volatile("{\\n.reg .pred p;\\nagain:\\n"
    "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\\n@p bra done;\\nbra again;\\ndone:\\n}"
    :: "r"(on) : "memory");
  for (int i = threadIdx.x; i < bytes / 4; i += 32) y[i] = tile[i];
}"""


def test_a_run_of_bytes(run: Run):
    x, y = np.arange(100, dtype=np.float32), np.zeros(64, np.float32)
    report = run(_PLAIN, x, y, 8, 256, read_only=(0,))
    assert report.ok, report.errors
    np.testing.assert_array_equal(y, x[8:72])
    bulk = [a for a in report.counters.accesses if a.operation == "bulk"]
    assert [(a.requests, a.transactions, a.ideal) for a in bulk] == [(1, 8, 8)]


@pytest.mark.parametrize(
    ("skip", "bytes", "kind"),
    [
        (3, 64, Kind.MISALIGNED),
        (0, 24, Kind.MISALIGNED),
        (96, 32, Kind.OUT_OF_BOUNDS),
        (0, 272, Kind.OUT_OF_BOUNDS),
    ],
)
def test_runs_that_are_refused(run: Run, skip: int, bytes: int, kind: Kind):
    x, y = np.arange(100, dtype=np.float32), np.zeros(68, np.float32)
    assert kind in {error.kind for error in run(_PLAIN, x, y, skip, bytes).errors}


def test_values_of_threads_are_overwritten_only_after_a_proxy_fence(run: Run):
    written = _PLAIN.replace("  if (threadIdx.x == 0) {", "  FILL\n  if (threadIdx.x == 0) {", 1)
    x, y = np.arange(100, dtype=np.float32), np.zeros(64, np.float32)
    fill = "tile[threadIdx.x] = 0.f; FENCE __syncthreads();"
    source = written.replace("FILL", fill)
    fenced = source.replace("FENCE", 'asm volatile("fence.proxy.async;" ::: "memory");')
    assert run(fenced, x, y, 0, 256).ok
    mine = '"fence.proxy.async;"'
    bare = source.replace("FENCE", "").replace(mine, '"fence.mbarrier_init.release.cluster;"')
    early = bare.replace("__syncthreads();", "", 1)
    kinds = {error.kind for error in run(early, x, y, 0, 256).errors}
    assert kinds == {Kind.RACE, Kind.PROXY}
