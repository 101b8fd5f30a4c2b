# SPDX-License-Identifier: Apache-2.0
"""
Execution order between lanes of a warp, which collectives such as shuffles establish.

Each lane counts its synchronisations. A lane *knows* what another lane executed up to the count
that the other lane had at their last common collective. This orders reads before later writes, but
makes no write visible: see `shared_reads.py`.
"""

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.lanes import WARP, Booleans, Integers

Clocks = NDArray[np.int32]


class WarpOrder:
    """
    Clocks of `lanes` lanes; `clock` is replaced, never changed in place, so callers may keep it.
    """

    def __init__(self, lanes: int):
        self.clock: Clocks = np.ones(lanes, np.int32)
        self._by_all: Clocks = np.zeros(lanes, np.int32)
        self._by_pair: Clocks | None = None

    def join_all(self, lanes: slice | Integers) -> None:
        """
        Synchronise `lanes` within each warp, where they are all the running lanes of their warps.
        """
        self._by_all[lanes] = self.clock[lanes]
        self._tick(lanes)

    def join_some(self, lanes: Integers, masks: NDArray[np.uint32]) -> None:
        """Synchronise each lane with the lanes of its warp that its mask names."""
        if self._by_pair is None:
            self._by_pair = np.zeros((len(self.clock), WARP), np.int32)
        teams = np.unique(np.stack([lanes // WARP, masks.astype(np.int64)]), axis=1)
        for warp, mask in teams.T.tolist():
            members = lanes[(lanes // WARP == warp) & (masks == mask)]
            known = self._known_rows(members)
            known[:, members % WARP] = self.clock[members]
            self._by_pair[members] = known.max(axis=0)
        self._tick(lanes)

    def ordered(self, now: Integers, then: Integers, clock: Clocks) -> Booleans:
        """
        Return a mask of the lanes `now` that know what the lane in `then` executed at `clock`
        (elementwise).
        """
        known = self._by_all[then]
        if self._by_pair is not None:
            known = np.maximum(known, self._by_pair[now, then % WARP])
        return (now // WARP == then // WARP) & (known >= clock)

    def _known_rows(self, members: Integers) -> Clocks:
        everyone = (members // WARP)[:, None] * WARP + np.arange(WARP)
        assert self._by_pair is not None
        return np.maximum(self._by_pair[members], self._by_all[everyone])

    def _tick(self, lanes: slice | Integers) -> None:
        self.clock = self.clock.copy()
        self.clock[lanes] += 1
