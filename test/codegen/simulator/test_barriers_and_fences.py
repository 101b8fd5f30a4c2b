# SPDX-License-Identifier: Apache-2.0
"""Orderings by clusters, named barriers, mbarriers, fences and atomics, and orderings they lack."""

from collections.abc import Callable

import numpy as np
import pytest

from tilewright.codegen.simulator import Kind, Report, SimulatorError

Run = Callable[..., Report]


def _kinds(report: Report) -> set[Kind]:
    return {error.kind for error in report.errors}


_CLUSTER = """
extern "C" __global__ void __cluster_dims__(2, 3) k(int* y) {
  unsigned v[8];
  asm("mov.u32 %0, %cluster_ctaid.x;" : "=r"(v[0]));
  asm("mov.u32 %0, %cluster_ctaid.y;" : "=r"(v[1]));
  asm("mov.u32 %0, %cluster_nctaid.x;" : "=r"(v[2]));
  asm("mov.u32 %0, %cluster_nctaid.y;" : "=r"(v[3]));
  asm("mov.u32 %0, %clusterid.x;" : "=r"(v[4]));
  asm("mov.u32 %0, %clusterid.y;" : "=r"(v[5]));
  asm("mov.u32 %0, %cluster_ctarank;" : "=r"(v[6]));
  asm("mov.u32 %0, %nclusterid.x;" : "=r"(v[7]));
  for (int i = 0; i < 8; ++i) y[(blockIdx.y * gridDim.x + blockIdx.x) * 8 + i] = v[i];
}"""


def test_where_a_block_is_in_its_cluster(run: Run):
    y = np.full((6, 4, 8), -1, np.int32)
    assert run(_CLUSTER, y, grid=(4, 6), block=1).ok
    expected = [
        [[x % 2, r % 3, 2, 3, x // 2, r // 3, r % 3 * 2 + x % 2, 2] for x in range(4)]
        for r in range(6)
    ]
    assert y.tolist() == expected


def test_a_grid_that_is_no_whole_clusters(run: Run):
    with pytest.raises(SimulatorError, match="does not divide into clusters"):
        run(_CLUSTER, np.zeros(8, np.int32), grid=(3, 3), block=1)


_EXCHANGE = """
extern "C" __global__ void __cluster_dims__(4) k(const float* x, float* y) {
  __shared__ float mine[32];
  unsigned rank, at;
  asm("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  mine[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  float sum = 0, v;
  for (unsigned r = 0; r < 4; ++r) {
    unsigned here = (unsigned)__cvta_generic_to_shared(mine + threadIdx.x);
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(here), "r"(r));
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(at) : "memory");
    sum += v;
  }
  unsigned long long there;
  asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(mine), "r"(0));
  y[blockIdx.x * 32 + threadIdx.x] = sum + *(float*)there;
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}"""


def test_blocks_of_a_cluster_read_each_other(run: Run):
    x = np.arange(8 * 32, dtype=np.float32).reshape(2, 4, 32)
    y = np.zeros_like(x)
    report = run(_EXCHANGE, x, y, grid=8)
    assert report.ok, report.errors
    np.testing.assert_array_equal(y, np.repeat(x.sum(1, keepdims=True), 4, 1) + x[:, :1, :1])


_HANDOVER = """(float* y) {
  __shared__ float part[64];
  int t = threadIdx.x;
  if (t < 64) {
    part[t] = t;
    asm volatile("ARRIVE" ::: "memory");
    return;
  }
  asm volatile("SYNC" ::: "memory");
  y[t - 64] = part[127 - t];
}"""


@pytest.mark.parametrize(
    ("arrive", "sync", "kinds"),
    [
        ("bar.arrive 1, 128;", "bar.sync 1, 128;", set[Kind]()),
        ("barrier.cta.arrive 3, 128;", "barrier.cta.sync 3, 128;", set[Kind]()),
        ("bar.arrive 1, 128;", "bar.sync 2, 64;", {Kind.RACE, Kind.DEADLOCK}),
        ("bar.arrive 1, 128;", "bar.sync 1, 96;", {Kind.DIVERGENCE}),
        ("bar.arrive 1, 160;", "bar.sync 1, 160;", {Kind.DEADLOCK}),
    ],
)
def test_some_arrive_and_others_wait(run: Run, arrive: str, sync: str, kinds: set[Kind]):
    y = np.zeros(64, np.float32)
    report = run(_HANDOVER.replace("ARRIVE", arrive).replace("SYNC", sync), y, block=128)
    assert _kinds(report) == kinds, report.errors
    if not kinds:
        assert y.tolist() == list(range(63, -1, -1))


_PAIRS = """(float* y) {
  __shared__ float part[256];
  const int t = threadIdx.x, pair = t / 64;
  part[t] = t;
  asm volatile("barrier.sync %0, %1;" :: "r"(FIRST), "r"(COUNT) : "memory");
  const float other = part[t ^ 32];
  BETWEEN
  asm volatile("barrier.sync %0, %1;" :: "r"(SECOND), "r"(COUNT) : "memory");
  part[t] = other;
  y[t] = other;
}"""


@pytest.mark.parametrize(
    ("first", "count", "second", "between", "kinds"),
    [
        ("pair + 1", "64", "pair + 1", "", set[Kind]()),
        ("pair + 12", "64", "pair + 8", "", set[Kind]()),
        # too many or too few threads arrive, or none of the others
        ("pair + 1", "32", "pair + 1", "", {Kind.DIVERGENCE}),
        ("pair + 1", "96", "pair + 1", "", {Kind.DEADLOCK}),
        ("1", "64", "pair + 1", "", {Kind.DIVERGENCE}),
        ("t / 32 + 1", "64", "pair + 1", "", {Kind.DEADLOCK}),
        # the barrier or the count does not exist
        ("pair + 13", "64", "pair + 1", "", {Kind.DIVERGENCE}),
        ("pair + 1", "48", "pair + 1", "", {Kind.DIVERGENCE}),
        # others may still wait at the barrier, unless all threads have met
        ("pair + 1", "64", "4 - pair", "", {Kind.DIVERGENCE}),
        ("pair + 1", "64", "4 - pair", "__syncthreads();", set[Kind]()),
    ],
)
def test_pairs_of_warps_have_barriers_of_their_own(
    run: Run, first: str, count: str, second: str, between: str, kinds: set[Kind]
):
    source = _PAIRS
    words = {"FIRST": first, "COUNT": count, "SECOND": second, "BETWEEN": between}
    for word, text in words.items():
        source = source.replace(word, text)
    y = np.zeros(256, np.float32)
    report = run(source, y, block=256)
    assert _kinds(report) - {Kind.RACE} == kinds, report.errors
    if not kinds:
        assert report.ok, report.errors
        assert y.tolist() == [t ^ 32 for t in range(256)]


def test_a_pair_that_meets_nowhere_races(run: Run):
    y = np.zeros(256, np.float32)
    source = _PAIRS.replace("SECOND", "pair + 1").replace("COUNT", "64").replace("BETWEEN", "")
    lost = 'asm volatile("barrier.sync %0, %1;" :: "r"(FIRST), "r"(64) : "memory");'
    assert Kind.RACE in _kinds(run(source.replace(lost, ""), y, block=256))


def test_arriving_without_waiting_orders_nothing(run: Run):
    source = """(float* y) {
      __shared__ float part[64];
      int t = threadIdx.x;
      if (t < 32) {
        part[t] = t;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        return;
      }
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      y[t - 32] = part[63 - t];
    }"""
    assert Kind.RACE in _kinds(run(source, np.zeros(32, np.float32), block=64))


_ATOMICS = """(float* data, unsigned* flag, float* y) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 7;
    PUBLISH
  } else {
    while (ASK == 0) {}
    ACQUIRE
    y[0] = data[0];
  }
}"""
_STORE = 'asm volatile("st.{}.u32 [%0], 1;" :: "l"(flag) : "memory");'
_LOAD = """[&] {{ unsigned v;
      asm volatile("ld.{}.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
      return v; }}()"""


@pytest.mark.parametrize(
    ("publish", "ask", "acquire", "right"),
    [
        ("__threadfence(); atomicExch(flag, 1u);", "atomicAdd(flag, 0u)", "__threadfence();", True),
        ("atomicExch(flag, 1u);", "atomicAdd(flag, 0u)", "__threadfence();", False),
        ("__threadfence(); atomicExch(flag, 1u);", "atomicAdd(flag, 0u)", "", False),
        (
            "__threadfence_block(); atomicExch(flag, 1u);",
            "atomicAdd(flag, 0u)",
            "__threadfence();",
            False,
        ),
        (
            "__threadfence(); atomicExch(flag, 1u);",
            "atomicAdd(flag, 0u)",
            "__threadfence_block();",
            False,
        ),
        (_STORE.format("release.gpu.global"), _LOAD.format("acquire.gpu.global"), "", True),
        (_STORE.format("release.cta.global"), _LOAD.format("acquire.cta.global"), "", False),
        (_STORE.format("relaxed.gpu.global"), _LOAD.format("acquire.gpu.global"), "", False),
        (
            "__threadfence(); *(volatile unsigned*)flag = 1;",
            "*(volatile unsigned*)flag",
            "__threadfence();",
            True,
        ),
        ("__threadfence(); *flag = 1;", "*(volatile unsigned*)flag", "__threadfence();", False),
    ],
)
def test_values_published_to_another_block(
    run: Run, publish: str, ask: str, acquire: str, right: bool
):
    source = _ATOMICS.replace("PUBLISH", publish).replace("ASK", ask).replace("ACQUIRE", acquire)
    data, flag, y = np.zeros(1, np.float32), np.zeros(1, np.uint32), np.zeros(1, np.float32)
    report = run(source, data, flag, y, grid=2)
    assert y[0] == 7
    assert _kinds(report) == (set() if right else {Kind.RACE}), report.errors


@pytest.mark.every_case
def test_blocks_take_turns_over_many_batches(run: Run):
    """A semaphore: each block updates the totals of the block before it."""
    source = """(float* total, unsigned* turn) {
      if (threadIdx.x == 0) {
        while (atomicAdd(turn, 0u) != blockIdx.x) {}
        __threadfence();
      }
      __syncthreads();
      total[threadIdx.x] = total[threadIdx.x] * 0.5f + blockIdx.x;
      __threadfence();
      __syncthreads();
      if (threadIdx.x == 0) atomicAdd(turn, 1u);
    }"""
    total, turn = np.zeros(1024, np.float32), np.zeros(1, np.uint32)
    report = run(source, total, turn, grid=17, block=1024)
    assert report.ok, report.errors
    expected = 0.0
    for block in range(17):
        expected = expected * 0.5 + block
    np.testing.assert_allclose(total, expected)
    unfenced = source.replace("      __threadfence();\n      __syncthreads", "      __syncthreads")
    assert _kinds(run(unfenced, total * 0, turn * 0, grid=17, block=1024)) == {Kind.RACE}


def test_a_write_after_a_read_of_another_thread(run: Run):
    source = """(float* x) { int t = threadIdx.x; float v = x[(t + 1) % 64]; BARRIER x[t] = v; }"""
    x = np.arange(64, dtype=np.float32)
    assert run(source.replace("BARRIER", "__syncthreads();"), x, block=64).ok
    assert _kinds(run(source.replace("BARRIER", ""), x, block=64)) == {Kind.RACE}


_RING = """(float* y) {
  __shared__ float slot;
  __shared__ unsigned long long full, empty;
  unsigned f = __cvta_generic_to_shared(&full), e = __cvta_generic_to_shared(&empty);
  int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(f) : "memory");
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(e) : "memory");
  }
  __syncthreads();
  for (int i = 0; i < 5; ++i) {
    if (t == 32) {
      WAIT(e, i % 2 ^ 1);
      slot = i;
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(f) : "memory");
    }
    if (t == 0) {
      WAIT(f, i % 2);
      y[i] = slot;
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(e) : "memory");
    }
  }
}"""
_WAITS = {
    "try_wait": """
#define WAIT(b, p) asm volatile("{\\n.reg .pred q;\\nagain:\\n" \\
  "mbarrier.try_wait.parity.shared.b64 q, [%0], %1;\\n@!q bra again;\\n}" \\
  :: "r"(b), "r"(p) : "memory")""",
    "test_wait": """
#define WAIT(b, p) asm volatile("{\\n.reg .pred q;\\nagain:\\n" \\
  "mbarrier.test_wait.parity.shared.b64 q, [%0], %1;\\n@!q bra again;\\n}" \\
  :: "r"(b), "r"(p) : "memory")""",
}


@pytest.mark.parametrize("wait", _WAITS)
def test_two_warps_hand_a_slot_back_and_forth(run: Run, wait: str):
    source = _WAITS[wait] + '\nextern "C" __global__ void k' + _RING
    y = np.zeros(5, np.float32)
    report = run(source, y, block=64)
    assert report.ok, report.errors
    assert y.tolist() == [0, 1, 2, 3, 4]
    early = source.replace("WAIT(e, i % 2 ^ 1);", "")
    assert _kinds(run(early, y, block=64)) & {Kind.RACE, Kind.MBARRIER}


def test_arrivals_return_the_phase(run: Run):
    source = """(unsigned* y) {
      __shared__ unsigned long long bar;
      unsigned b = __cvta_generic_to_shared(&bar), done;
      unsigned long long state;
      if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" :: "r"(b) : "memory");
      __syncwarp();
      asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
      asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; "
        "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b), "l"(state) : "memory");
      y[threadIdx.x] = done;
    }"""
    y = np.zeros(32, np.uint32)
    report = run(source, y)
    assert report.ok, report.errors
    assert y.all()


def test_an_mbarrier_is_initialised_before_other_threads_use_it(run: Run):
    """The check also holds if the thread that initialises the mbarrier is its first user."""
    source = """(unsigned* y) {
      __shared__ unsigned long long bar;
      unsigned b = __cvta_generic_to_shared(&bar), done;
      if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" :: "r"(b) : "memory");
      }
      __syncthreads();
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; "
        "selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(b) : "memory");
      y[threadIdx.x] = done;
    }"""
    y = np.zeros(64, np.uint32)
    assert run(source, y, block=64).ok
    (error,) = run(source.replace("__syncthreads()", "__syncwarp()"), y, block=64).errors
    assert error.kind is Kind.RACE
    assert error.message == (
        "thread 32 of block 0 uses an mbarrier that another thread initialises: "
        "thread 0 of block 0, with no barrier between"
    )


def test_an_unknown_instruction_names_itself_and_its_line(run: Run):
    source = """(unsigned* y) {
      unsigned long long t;
      asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
      y[0] = t;
    }"""
    with pytest.raises(SimulatorError, match="globaltimer"):
        run(source, np.zeros(1, np.uint32))
    source = """(unsigned* y) {
      asm volatile("griddepcontrol.wait;");
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    }"""
    with pytest.raises(SimulatorError, match=r"line 3: .* 'setmaxnreg.dec.sync.aligned.u32'"):
        run(source, np.zeros(1, np.uint32))


def test_findings_name_the_op_of_their_line(run: Run):
    source = "(float* y) {\n  y[threadIdx.x / 2] = threadIdx.x;\n}"
    report = run(source, np.zeros(16, np.float32), notes={2: "tile.store %y"})
    (error,) = report.errors
    assert error.note == "tile.store %y"
    assert str(error).endswith("(tile.store %y)")


def test_a_sample_of_the_blocks(run: Run):
    source = "(float* y) { y[blockIdx.x] = blockIdx.x + 1; }"
    y = np.zeros(1000, np.float32)
    report = run(source, y, grid=1000, block=1, blocks=5)
    assert report.blocks == 5
    assert np.flatnonzero(y).tolist() == [0, 250, 500, 749, 999]
    assert (y[y > 0] == np.flatnonzero(y) + 1).all()
    assert run(source, y, grid=1000, block=1).blocks == 1000


_REMOTE = """
extern "C" __global__ void __cluster_dims__(2) k(float* y) {
  __shared__ float slot[32];
  __shared__ unsigned long long full;
  unsigned rank, s = __cvta_generic_to_shared(slot + threadIdx.x);
  unsigned f = __cvta_generic_to_shared(&full), there;
  asm("mov.u32 %0, %cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(f) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  if (rank == 1) {
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(s));
    asm volatile("st.shared::cluster.f32 [%0], %1;"
                 :: "r"(there), "f"(threadIdx.x * 2.f) : "memory");
    asm("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(there) : "r"(f));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                 :: "r"(there) : "memory");
    return;
  }
  asm volatile("{\\n.reg .pred q;\\nagain:\\n"
    "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 q, [%0], 0;\\n@!q bra again;\\n}"
:: "r"(f) : "memory");
  y[threadIdx.x] = slot[threadIdx.x ^ 7];
}"""


def test_a_block_writes_to_another_and_arrives_there(run: Run):
    y = np.zeros(32, np.float32)
    report = run(_REMOTE, y, grid=2)
    assert report.ok, report.errors
    assert y.tolist() == [2.0 * (i ^ 7) for i in range(32)]
    relaxed = _REMOTE.replace("arrive.release.cluster", "arrive.relaxed.cluster")
    assert Kind.RACE in _kinds(run(relaxed, y, grid=2))
    wait = 'asm volatile("barrier.cluster.wait.aligned;" ::: "memory");'
    assert Kind.RACE in _kinds(run(_REMOTE.replace(wait, ""), y, grid=2))
    at_home = _REMOTE.replace("%1, 0;", "%1, 1;")
    assert Kind.DEADLOCK in _kinds(run(at_home, y, grid=2))


@pytest.mark.parametrize("bytes", [0, 1, 4, 5, 8])
def test_copies_of_8_bytes_fill_up_with_zeros(run: Run, bytes: int):
    source = f"""(const float2* x, float2* y) {{
      __shared__ float2 s[32];
      asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;"
        :: "r"((unsigned)__cvta_generic_to_shared(s + threadIdx.x)), "l"(x + threadIdx.x),
           "r"({bytes}) : "memory");
      asm volatile("cp.async.wait_all;" ::: "memory");
      y[threadIdx.x] = s[threadIdx.x];
    }}"""
    x = np.arange(1, 65, dtype=np.float32).reshape(32, 2) * np.float32(1.1)
    y = np.zeros_like(x)
    report = run(source, x, y, read_only=(0,))
    assert report.ok, report.errors
    expected = x.view(np.uint8).reshape(32, 8).copy()
    expected[:, bytes:] = 0
    np.testing.assert_array_equal(y.view(np.uint8).reshape(32, 8), expected)
