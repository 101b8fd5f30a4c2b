# SPDX-License-Identifier: Apache-2.0
"""Scopes of fences and atomics: two operations synchronise if both scopes include both threads."""

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.codegen.simulator import Kind, Report

Run = Callable[..., Report]

_PUBLISH = """
extern "C" __global__ void CLUSTER k(float* data, unsigned* flag, float* y, int reader) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[0] = 7;
    RELEASE
  }
  if (blockIdx.x == reader && threadIdx.x == 32) {
    unsigned v;
    do { ASK } while (v == 0);
    ACQUIRE
    /*!*/ y[0] = data[0];
  }
}"""

_RACE = Kind.RACE, 11
_SAME_BLOCK, _SAME_CLUSTER, _ELSEWHERE = 0, 1, 2
_FIRST = {"cta": _SAME_BLOCK, "cluster": _SAME_CLUSTER, "gpu": _ELSEWHERE, "sys": _ELSEWHERE}
"""The furthest reader that each scope includes."""


def _store(how: str) -> str:
    return f'asm volatile("st.{how}.global.u32 [%0], 1;" :: "l"(flag) : "memory");'


def _load(how: str) -> str:
    return f'asm volatile("ld.{how}.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");'


def _fence(how: str) -> str:
    return f'asm volatile("fence.{how};" ::: "memory");'


def _published(run: Run, reader: int, release: str, ask: str, acquire: str, cluster: int = 2):
    source = _PUBLISH.replace("CLUSTER", f"__cluster_dims__({cluster})")
    for word, text in {"RELEASE": release, "ASK": ask, "ACQUIRE": acquire}.items():
        source = source.replace(word, text)
    data, flag, y = np.zeros(1, np.float32), np.zeros(1, np.uint32), np.zeros(1, np.float32)
    report = run(source, data, flag, y, reader, grid=4, block=64)
    return [(error.kind, error.line) for error in report.errors]


@pytest.mark.parametrize("reader", [_SAME_BLOCK, _SAME_CLUSTER, _ELSEWHERE])
@pytest.mark.parametrize(("released", "acquired"), [("cta", "gpu"), ("gpu", "cluster")])
def test_the_smaller_scope_counts(run: Run, released: str, acquired: str, reader: int):
    right = reader <= min(_FIRST[released], _FIRST[acquired])
    by_fences = _published(
        run,
        reader,
        _fence(f"acq_rel.{released}") + _store("relaxed.gpu"),
        _load("relaxed.gpu"),
        _fence(f"acq_rel.{acquired}"),
    )
    assert by_fences == ([] if right else [_RACE])
    by_accesses = _published(
        run, reader, _store(f"release.{released}"), _load(f"acquire.{acquired}"), ""
    )
    assert (_RACE not in by_accesses) == right


def test_a_cluster_of_one_block_ends_at_the_block(run: Run):
    release, ask = _store("release.cluster"), _load("acquire.cluster")
    assert not _published(run, 0, release, ask, "", cluster=1)
    assert _RACE in _published(run, 1, release, ask, "", cluster=1)


def test_half_a_fence_is_not_the_other_half(run: Run):
    whole = _fence("acq_rel.gpu") + _store("relaxed.gpu")
    assert not _published(run, 2, whole, _load("relaxed.gpu"), _fence("acquire.gpu"))
    assert _published(run, 2, whole, _load("relaxed.gpu"), _fence("release.gpu"))
    half = _fence("acquire.gpu") + _store("relaxed.gpu")
    assert _published(run, 2, half, _load("relaxed.gpu"), _fence("acq_rel.gpu"))
