# SPDX-License-Identifier: Apache-2.0
"""
Races of random kernels, compared with those that plain vector clocks give.

The kernels have two blocks, or a cluster of two. Each reported line belongs to a conflict. A single
conflict is always reported; of several, the first write may hide later ones.
"""

from random import Random

import numpy as np
import pytest
from needs import needs_nvrtc

from tilewright.codegen import nvrtc
from tilewright.codegen.simulator import Kind, Report, simulate

from .happens_before import conflicts
from .pairs import PRELUDE
from .random_kernels import BLOCKS, CELLS, HELPERS, WARP, WARPS, events, text

_AT_ONCE, _FEW, _ALL, _LENGTH = 20, 60, 2000, 14
_KINDS = {Kind.RACE, Kind.ASYNC_RACE, Kind.PROXY}


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("first", range(0, _ALL, _AT_ONCE))
def test_races_are_found_and_nothing_else(first: int, request: pytest.FixtureRequest):
    if first >= _FEW and not request.config.getoption("--every-case"):
        request.getfixturevalue("every_case")
    seeds, cluster = range(first, first + _AT_ONCE), first // _AT_ONCE % 2 == 1
    made = {seed: events(Random(seed), _LENGTH, cluster=cluster) for seed in seeds}
    source, lines = PRELUDE.rpartition("extern")[0] + HELPERS, dict[int, int]()
    for seed in seeds:
        lines[seed] = source.count("\n") + 2
        source += text(made[seed], f"k{seed}", cluster=cluster) + "\n"
    ptx = nvrtc.compile(source).ptx
    for seed in seeds:
        report = _run(ptx, f"k{seed}")
        found = {error.line - lines[seed] for error in report.errors}
        expected = conflicts(made[seed])
        assert {error.kind for error in report.errors} <= _KINDS, (seed, report.errors)
        assert found <= {event for pair in expected for event in pair}, (seed, report.errors)
        assert bool(found) == bool(expected), (seed, expected)


def _run(ptx: str, name: str) -> Report:
    data, flags = np.zeros(4 * CELLS, np.float32), np.zeros(_LENGTH, np.uint32)
    return simulate(ptx, name, grid=BLOCKS, block=WARP * WARPS, arguments=[data, flags])


def test_kernels_with_and_without_races_are_drawn():
    counts = [len(conflicts(events(Random(seed), _LENGTH))) for seed in range(_FEW)]
    assert min(counts.count(0), counts.count(1)) >= 8
