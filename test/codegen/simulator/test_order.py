# SPDX-License-Identifier: Apache-2.0
"""
Shared vector clocks give the same happens-before relation as one vector clock for each thread.
"""

from typing import Any

import numpy as np
from draws import drawn
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.order import Order, View
from tilewright.codegen.simulator.vector_clocks import Knowledge

_WIDTH, _BLOCKS = 32, 2
_LANES = _WIDTH * _BLOCKS


class _PlainClocks:
    """Reference: one vector clock for each thread."""

    def __init__(self) -> None:
        self.known = np.zeros((_LANES, _LANES), np.int64)
        self.now = np.ones(_LANES, np.int64)

    def release(self, lanes: list[int]) -> Any:
        vector = self.known[lanes].max(axis=0)
        vector[lanes] = self.now[lanes]
        self.now[lanes] += 1
        return vector

    def acquire(self, lanes: list[int], vector: Any) -> None:
        self.known[lanes] = np.maximum(self.known[lanes], vector)


_LANE = st.integers(0, _WIDTH - 1)
_SOME = st.lists(_LANE, min_size=1, max_size=6, unique=True).map(sorted)
_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("team"), st.integers(0, 1), _SOME),
        st.tuples(st.just("warps"), st.integers(0, 1), st.just(list(range(_WIDTH)))),
        st.tuples(st.just("release"), st.integers(0, 1), _SOME),
        st.tuples(st.just("acquire"), st.integers(0, 1), _SOME),
        st.tuples(st.just("fence"), st.integers(0, 1), _SOME),
        st.tuples(st.just("barrier"), st.just(0), st.just(list[int]())),
        st.tuples(st.just("forget"), st.just(0), st.just(list[int]())),
    ),
    max_size=12,
)


@given(steps=_STEPS, uses_rows=st.booleans())
@settings(max_examples=drawn(150))
def test_happens_before_of_random_steps(steps: list[tuple[str, int, list[int]]], uses_rows: bool):
    order, plain = Order(Geometry((_BLOCKS, 1, 1), (_WIDTH, 1, 1)), uses_rows), _PlainClocks()
    released: dict[int, tuple[Knowledge, Any]] = {}
    did: list[tuple[int, int, int]] = []
    for what, block, members in steps:
        lanes = [block * _WIDTH + member for member in members]
        numbers = np.array(lanes)
        if uses_rows or what not in ("release", "acquire", "fence"):
            _step(order, plain, released, what, block, lanes)
        times = order.time
        did += [(lane, int(times[lane]), int(plain.now[lane])) for lane in numbers.tolist()]
    for lane, time, plain_time in did:
        same = np.arange(lane // _WIDTH * _WIDTH, (lane // _WIDTH + 1) * _WIDTH)
        knows = order.knows(same, np.full(_WIDTH, lane), np.full(_WIDTH, time))
        expected = (plain.known[same, lane] >= plain_time) | (same == lane)
        assert knows.tolist() == expected.tolist()


def _step(
    order: Order,
    plain: _PlainClocks,
    released: dict[int, Any],
    what: str,
    block: int,
    lanes: list[int],
) -> None:
    numbers = np.array(lanes)
    match what:
        case "team" | "warps":
            order.teams(numbers, np.full(len(lanes), block))
            plain.acquire(lanes, plain.release(lanes))
        case "release":
            released[block] = order.release(numbers), plain.release(lanes)
        case "acquire" if block in released:
            order.acquire(numbers, released[block][0])
            plain.acquire(lanes, released[block][1])
        case "fence":
            order.fence(numbers, (View.PROXIED, View.DEVICE))
            plain.now[lanes] += 1
        case "barrier":
            order.barrier(np.arange(_LANES), everybody=True)
            for first in (0, _WIDTH):
                lanes_of_block = list(range(first, first + _WIDTH))
                plain.acquire(lanes_of_block, plain.release(lanes_of_block))
        case "forget":
            order.compact()
        case _:
            pass


def test_unused_rows_are_forgotten():
    order = Order(Geometry((1, 1, 1), (_WIDTH, 1, 1)), uses_rows=True)
    lanes_of_block = np.arange(_WIDTH)
    kept = order.release(lanes_of_block[:4])
    for _ in range(6000):
        order.teams(lanes_of_block[8:], np.zeros(_WIDTH - 8, np.int64))
    assert len(order.clocks.known) < 20_000
    order.acquire(lanes_of_block[:1], kept)
    assert order.knows(lanes_of_block[:1], lanes_of_block[1:2], np.array([1])).all()
    assert not order.knows(lanes_of_block[:1], lanes_of_block[9:10], np.array([1])).any()


def test_a_fence_covers_what_was_known_and_done_before_it():
    order = Order(Geometry((1, 1, 1), (_WIDTH, 1, 1)), uses_rows=True)
    one, two, three = (np.array([lane]) for lane in (1, 2, 3))
    before = order.time[one].copy()
    order.teams(np.array([1, 2]), np.zeros(2, np.int64))
    order.fence(two, (View.PROXIED,))
    after = order.time[two].copy()
    order.teams(np.array([2, 3]), np.zeros(2, np.int64))
    assert order.knows(three, one, before, View.PROXIED).all()
    assert order.knows(three, two, after - 1, View.PROXIED).all()
    assert not order.knows(three, two, after, View.PROXIED).any()
    assert order.knows(three, two, after).all()
