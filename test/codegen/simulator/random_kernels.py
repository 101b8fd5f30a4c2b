# SPDX-License-Identifier: Apache-2.0
"""
Random kernels of two blocks of three warps, each a list of events; each warp executes its own.

The common order of events ensures that no barrier waits forever. Each event is a line of the text,
which findings name.
"""

from dataclasses import dataclass
from random import Random

WARP, WARPS, BLOCKS, CELLS = 32, 3, 2, 3
ALL = tuple(range(WARP))
_ACCESSES = ("read", "write", "update")


@dataclass(frozen=True)
class Event:
    """
    Event of some `lanes` of `warps` of a `block`: a read, write or update of a `cell`, or one of

    - sync: at a barrier of those warps; syncwarp;
    - arrive, await: at named barrier `cell`, one warp each;
    - signal, wait: arrive at mbarrier `cell`, and wait for its phase;
    - copy, finish: `cp.async` from a global cell to a shared `cell`, and waiting for all of them;
    - bulk: a bulk copy between these cells, arriving at `mbarrier`; fence: `fence.proxy.async`;
    - release, acquire: set flag `cell` of the launch, and wait for it;
    - meet: at the barrier of the cluster, if the blocks form one.

    Accesses are to global memory, or to the shared memory of block `home`.
    """

    what: str
    block: int
    warps: tuple[int, ...]
    lanes: tuple[int, ...] = ALL
    cell: int = 0
    is_global: bool = False
    source: int = 0
    mbarrier: int = 0
    home: int = -1
    """Block whose shared memory is accessed; the block itself, if negative."""


class _Drawing:
    """Random events in order, with the pending events that must follow."""

    def __init__(self, random: Random, cluster: bool):
        self.random = random
        self.cluster = cluster
        self.made: list[Event] = []
        self.later: list[Event] = []
        self.named = [0] * BLOCKS
        self.mbarriers = 0
        self.flags = 0

    def draw(self) -> None:
        """Draw one event, or two of which the second is pending."""
        random = self.random
        block, warp = random.randrange(BLOCKS), random.randrange(WARPS)
        mine = block, (warp,)
        other = (warp + random.randrange(1, WARPS)) % WARPS
        lane = random.choice((0, 0, 31, random.randrange(WARP)))
        cell, source = random.randrange(CELLS), random.randrange(CELLS)
        match random.choice(_WHAT):
            case "read" | "write" | "update" as what:
                lanes = ALL if what != "write" and random.random() < 0.3 else (lane,)
                is_global = random.random() < 0.5
                home = random.randrange(BLOCKS) if self.cluster and not is_global else -1
                self.made.append(Event(what, *mine, lanes, cell, is_global, home=home))
            case "sync":
                self.made.append(Event("sync", block, tuple(range(WARPS))))
            case "pair" | "arrive" as what:
                self._named(what, block, warp, other)
            case "signal":
                lanes = random.choice((ALL, (0,), (31,)))
                self.made.append(Event("signal", *mine, lanes, self._mbarrier(block, (other,))))
            case "bulk":
                waits = (random.choice((warp, other)),)
                bar = self._mbarrier(block, waits)
                self.made.append(Event("bulk", *mine, (lane,), cell, False, source, bar))
            case "copy":
                self.made.append(Event("copy", *mine, (lane,), cell, False, source))
                self.later.append(Event("finish", *mine))
            case "fence":
                self.made.append(Event("fence", *mine, random.choice((ALL, (lane,)))))
            case "release":
                self.made.append(Event("release", *mine, (lane,), self.flags))
                to = random.randrange(BLOCKS), (random.randrange(WARPS),)
                self.later.append(Event("acquire", *to, (random.choice((0, lane)),), self.flags))
                self.flags += 1
            case "meet" if self.cluster:
                self.made += [Event("meet", each, tuple(range(WARPS))) for each in range(BLOCKS)]
            case "later" if self.later:
                self.made.append(self.later.pop(random.randrange(len(self.later))))
            case "syncwarp" | "finish" as what:
                self.made.append(Event(what, *mine))
            case _:
                pass

    def _named(self, what: str, block: int, warp: int, other: int) -> None:
        if self.named[block] == 15:
            return
        self.named[block] += 1
        number = self.named[block]
        if what == "pair":
            self.made.append(Event("sync", block, tuple(sorted((warp, other))), cell=number))
            return
        self.made.append(Event("arrive", block, (warp,), cell=number))
        self.later.append(Event("await", block, (other,), cell=number))

    def _mbarrier(self, block: int, waits: tuple[int, ...]) -> int:
        """Return a new mbarrier, for which some warps wait later."""
        self.later.append(Event("wait", block, waits, cell=self.mbarriers))
        self.mbarriers += 1
        return self.mbarriers - 1


_WHAT = (
    *("read", "write", "update") * 3,
    *("sync", "sync", "syncwarp", "pair", "arrive", "signal", "release", "release"),
    *("copy", "bulk", "bulk", "fence", "meet", "finish", "later", "later", "later", "later"),
)


def events(random: Random, length: int, *, cluster: bool = False) -> list[Event]:
    """Return the events of one kernel; about half of them synchronise, the others access memory."""
    drawing = _Drawing(random, cluster)
    for _ in range(length):
        drawing.draw()
    return [*drawing.made, *drawing.later]


_TEXT = {
    "read": "get(AT_CELL);",
    "write": "put(AT_CELL);",
    "update": "add(AT_CELL);",
    "syncwarp": "__syncwarp();",
    "arrive": "arrive(CELL, 64);",
    "await": "sync(CELL, 64);",
    "signal": "arrive_on(bars + CELL);",
    "wait": "wait_for(bars + CELL, 0);",
    "copy": "copy16(s + 4 * CELL, g + 4 * SOURCE);",
    "finish": 'DO("cp.async.wait_all;");',
    "bulk": "{ expect(bars + BAR, 16); bulk(s + 4 * CELL, g + 4 * SOURCE, 16, bars + BAR); }",
    "fence": "FENCE_PROXY;",
    "release": "release(flags + CELL, 1);",
    "acquire": "while (acquire(flags + CELL) == 0) {}",
}
HELPERS = """
INLINE unsigned there(unsigned p, int block) { unsigned q;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(q) : "r"(p), "r"(block)); return q; }
INLINE void get(unsigned p) { float v;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(p) : "memory"); }
INLINE void put(unsigned p) {
  asm volatile("st.shared::cluster.f32 [%0], 0f00000000;" :: "r"(p) : "memory"); }
INLINE void add(unsigned p) {
  asm volatile("red.shared::cluster.add.f32 [%0], 0f00000000;" :: "r"(p) : "memory"); }
INLINE void get(float* p) { float v;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory"); }
INLINE void put(float* p) {
  asm volatile("st.global.f32 [%0], 0f00000000;" :: "l"(p) : "memory"); }
INLINE void add(float* p) {
  asm volatile("red.global.add.f32 [%0], 0f00000000;" :: "l"(p) : "memory"); }
"""
"""Functions that the kernels use in addition to the prelude of the pairs."""


_MEET = "CLUSTER_BARRIER"


def text(made: list[Event], name: str, *, cluster: bool = False) -> str:
    """Return the CUDA text of a kernel: event `n` stands in its line `n + 1`, counted from 0."""
    counts: dict[int, int] = {}
    for event in made:
        if event.what in ("signal", "bulk"):
            bar = event.cell if event.what == "signal" else event.mbarrier
            counts[bar] = counts.get(bar, 0) + len(event.lanes)
    makes = " ".join(f"make(bars + {bar}, {count});" for bar, count in counts.items())
    clustered, meet = ("__cluster_dims__(2) ", f"{_MEET};") if cluster else ("", "")
    start = (
        f'extern "C" __global__ void {clustered}{name}(float* g, unsigned* flags) {{ '
        f"__shared__ __align__(16) float s[{4 * CELLS}]; __shared__ u64 bars[{len(counts) + 1}]; "
        "const int t = threadIdx.x, w = t / 32; "
        f"if (t == 0) {{ for (int i = 0; i < {4 * CELLS}; ++i) s[i] = 0.f; {makes} }} "
        "FENCE_PROXY; __syncthreads(); if (t == 0) FENCE_PROXY; __syncthreads(); "
        f"{meet}"
    )
    return "\n".join([start, *map(_line, made), f"{meet} }}"])


def _line(event: Event) -> str:
    if event.what == "meet":
        return f"if (blockIdx.x == {event.block}) {{ {_MEET}; }}"
    if event.what == "sync":
        if len(event.warps) == WARPS:
            return f"if (blockIdx.x == {event.block}) __syncthreads();"
        a, b = event.warps
        return f"if (blockIdx.x == {event.block} && (w == {a} || w == {b})) sync({event.cell}, 64);"
    here = f"w == {event.warps[0]}"
    if event.lanes != ALL:
        here = f"t == {event.warps[0] * WARP + event.lanes[0]}"
    at = f"g + {4 * event.cell + 1}" if event.is_global else f"AT(s + {4 * event.cell + 1})"
    if event.home >= 0:
        at = f"there({at}, {event.home})"
    words = {"AT_CELL": at, "CELL": str(event.cell), "SOURCE": str(event.source)}
    body = _TEXT[event.what].replace("BAR", str(event.mbarrier))
    for word, value in words.items():
        body = body.replace(word, value)
    return f"if (blockIdx.x == {event.block} && {here}) {body}"
