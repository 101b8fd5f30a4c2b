# SPDX-License-Identifier: Apache-2.0
"""
Barriers of a cluster, split into an arrival and a wait: orderings they give, and do not give.

`/*!*/` marks the line that a finding names; a kernel without a mark is correct.
"""

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.codegen.simulator import Kind, Report

Run = Callable[..., Report]

_KERNEL = """
__device__ unsigned at(float* p, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;"
      : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(p)), "r"(rank));
  return there;
}
__device__ float load(float* p, unsigned rank) {
  float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(at(p, rank)) : "memory");
  return v;
}
__device__ void store(float* p, unsigned rank, float v) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" :: "r"(at(p, rank)), "f"(v) : "memory");
}
#define ARRIVE asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
#define RELAXED asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#define WAIT asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
extern "C" __global__ void __cluster_dims__(2) k(float* y) {
  __shared__ float a[64], b[64];
  unsigned rank;
  asm("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  const int t = threadIdx.x, me = blockIdx.x * 64 + t;
  const unsigned peer = rank ^ 1;
BODY
}"""

_UNSTARTED = {
    "a barrier of the cluster first": """
        RELAXED WAIT
        store(a + t, peer, t);
        ARRIVE WAIT y[me] = a[t];""",
    "one warp waits, and the others learn of it": """
        RELAXED if (t < 32) WAIT
        __syncthreads();
        store(a + t, peer, t);
        if (t >= 32) WAIT
        ARRIVE WAIT y[me] = a[t];""",
    "a store to a peer": """
        /*!*/ store(a + t, peer, t);
        ARRIVE WAIT y[me] = a[t];""",
    "a barrier of the block only": """
        __syncthreads();
        /*!*/ store(a + t, peer, t);
        ARRIVE WAIT y[me] = a[t];""",
    "an arrival without its wait": """
        RELAXED
        /*!*/ store(a + t, peer, t);
        WAIT ARRIVE WAIT y[me] = a[t];""",
    "an atomic of one thread": """
        const unsigned first = at(a, peer);
        /*!*/ if (t == 0) asm("red.shared::cluster.add.u32 [%0], 1;" :: "r"(first) : "memory");
        ARRIVE WAIT y[me] = a[t];""",
}
_SPLIT = {
    "private work between": """
        a[t] = t; ARRIVE b[t] = 2 * t; WAIT
        y[me] = load(a + t, peer) + b[t]; ARRIVE WAIT""",
    "a write between, read by the peer": """
        ARRIVE a[t] = t; WAIT
        /*!*/ y[me] = load(a + t, peer);
        ARRIVE WAIT""",
    "a write between, read by the block": """
        ARRIVE a[t] = t; WAIT
        /*!*/ y[me] = a[63 - t];""",
    "a read between, overwritten after": """
        a[t] = t; ARRIVE WAIT ARRIVE
        float v = load(a + t, peer);
        WAIT
        /*!*/ a[t] = 0;
        y[me] = v; ARRIVE WAIT""",
    "a write to the peer between": """
        RELAXED WAIT ARRIVE
        store(a + t, peer, t);
        WAIT
        /*!*/ y[me] = a[t];
        ARRIVE WAIT""",
    "a place in global memory, written between": """
        ARRIVE y[me] = t; WAIT
        /*!*/ if (y[me ^ 64] < 0) y[me] = 1;""",
    "a place in global memory, written before": """
        y[me] = t; ARRIVE WAIT
        if (y[me ^ 64] < 0) a[t] = 1;""",
    "a second barrier that is relaxed": """
        a[t] = t; ARRIVE WAIT
        float v = load(a + t, peer);
        RELAXED WAIT
        /*!*/ a[t] = 0;
        y[me] = v; ARRIVE WAIT""",
    "a barrier that is relaxed for one warp": """
        a[t] = t;
        if (t < 32) RELAXED else ARRIVE
        WAIT
        /*!*/ y[me] = load(a + t, peer);
        ARRIVE WAIT""",
    "a thread that has exited": """
        a[t] = t;
        if (t >= 32) return;
        ARRIVE WAIT
        /*!*/ y[me] = a[t + 32];""",
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [*((name, Kind.UNSTARTED) for name in _UNSTARTED), *((name, Kind.RACE) for name in _SPLIT)],
)
def test_accesses_around_a_split_barrier(run: Run, name: str, kind: Kind):
    body = (_UNSTARTED | _SPLIT)[name]
    source = _KERNEL.replace("BODY", body)
    report = run(source, np.zeros(256, np.float32), grid=4, block=64)
    marked = [(kind, i) for i, line in enumerate(source.split("\n"), 1) if "/*!*/" in line]
    found = [(error.kind, error.line) for error in report.errors]
    assert (marked[0] in found) if marked else not found, report.errors


def test_a_second_arrival_without_a_wait_is_reported(run: Run):
    source = _KERNEL.replace("BODY", "y[me] = t; ARRIVE ARRIVE WAIT")
    report = run(source, np.zeros(256, np.float32), grid=4, block=64)
    (error,) = (error for error in report.errors if error.kind is Kind.DIVERGENCE)
    name = "thread 0 of block 0"
    says = f"{name} arrives again at the barrier of its cluster, before it has waited"
    assert error.message == says
