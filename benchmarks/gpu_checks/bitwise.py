# SPDX-License-Identifier: Apache-2.0
"""
Stage `bitwise`: the simulator's results equal the GPU's, bit by bit.

Differences are allowed for approximate instructions (`ex2.approx` of `expf`, `div.full` and
others), which the simulator rounds correctly. They are also allowed for atomic sums, whose order is
not fixed. In both cases the distance is reported. Sums of matrix instructions are compared with
both models of the simulator, and the nearer one is named. An H100 may follow neither, so that they
may differ, too.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from operator import le
from typing import Any

from gpu_checks.device import Device
from gpu_checks.launched import prepared
from gpu_checks.outcome import Outcome, Verdict, right, wrong
from tilewright.arrays import ROUNDOFF
from tilewright.matrix_sums import MatrixSums

ITEMS = (
    "pointwise",
    "sum.columns",
    "softmax.100",
    "rms_norm",
    "matmul.odd",
    "matmul.even",
    "matmul.boxes",
    "matmul.deep",
    "matmul.k1",
    "matmul.batched",
    "matmul.half",
    "matmul.warpgroups",
    "matmul.split",
    "matmul.gated",
    "sdpa",
    "sdpa.half",
    "sdpa.decode",
    "conv2d",
    "conv2d.boxes",
    "conv2d.half",
    "conv_transpose2d",
    "cumsum",
    "cumsum.exclusive",
    "scatter_add",
    "dtype.float16",
    "dtype.bfloat16",
    "dtype.float64",
    "dtype.int64",
)
"""Names of the checked programs, all of which are in `programs`."""

_FREE = re.compile(r"\.approx|\bdiv\.full\b|\b(?:atom|red)\.|\bmma\.sync|\bwgmma\.mma")
"""
Pattern of PTX instructions whose results may differ. Its word boundary keeps `red.` from matching
the end of `.shared.`.
"""


def items(device: Device) -> list[str]:
    """Return the names of the checked programs."""
    return [*ITEMS]


def check(device: Device, item: str) -> Outcome:
    """
    Run a program on the simulator and on the GPU with the same plan; return the outcome of
    comparing their results.
    """
    from tilewright.codegen import nvrtc
    from tilewright.codegen.simulator_backend import SimulatorBackend

    backend = device.backend()
    _, plan, inputs = prepared(item, device.target)
    results = backend.run(plan, inputs).results
    instructions = free(nvrtc.compile(plan.source, device.target).ptx)
    has_matrices = not _MATRIX.isdisjoint(instructions)
    outcomes = dict[MatrixSums, Outcome]()
    for sums in MatrixSums if has_matrices else [MatrixSums.ROUNDED_ONCE]:
        simulated = SimulatorBackend(device.target, matrix_sums=sums).run(plan, inputs)
        if simulated.problems:
            return wrong(f"the simulator reports: {simulated.problems[0].message}")
        outcomes[sums] = judged(simulated.results, results, instructions)
    return nearest(outcomes)


def nearest(outcomes: Mapping[MatrixSums, Outcome]) -> Outcome:
    """
    Return the outcome by the model of matrix instructions that the GPU's results are nearest to,
    with the model's name. Programs without these instructions have only one outcome.
    """

    def distance(pair: tuple[MatrixSums, Outcome]) -> tuple[bool, int]:
        outcome = pair[1]
        return outcome.verdict is not Verdict.RIGHT, outcome.figures.get("differing", 0)

    sums, outcome = min(outcomes.items(), key=distance)
    if len(outcomes) == 1:
        return outcome
    return replace(outcome, says=f"{outcome.says}; sums of matrix instructions as {sums.value}")


_MATRIX = {"mma.sync", "wgmma.mma"}
"""Matrix instructions, whose sums no manual describes."""


def free(ptx: str) -> list[str]:
    """Return the names of the instructions in the PTX whose results may differ on the GPU."""
    return sorted(set(_FREE.findall(ptx)))


def judged(simulated: list[Any], results: list[Any], free: list[str]) -> Outcome:
    """
    Return the outcome of the comparison: right if results are equal, or if `free` instructions
    explain a small distance.
    """
    pairs = list(zip(simulated, results, strict=True))
    differing = sum(int((_bits(a) != _bits(b)).sum()) for a, b in pairs)
    elements = sum(a.size for a, _ in pairs)
    if not differing:
        return right(f"equal to the bit, {elements} elements")
    distances = [_distance(a, b) for a, b in pairs]
    distance = max(distances)
    says = f"{differing} of {elements} elements differ, by at most {distance:.2e} of the largest"
    figures = {"differing": differing, "elements": elements, "distance": distance}
    allowed = (max(_ALLOWED, _spacing(a)) for a, _ in pairs)
    if free and all(map(le, distances, allowed)):
        return right(f"{says}: the kernels use {', '.join(free)}", **figures)
    return wrong(says, **figures)


_ALLOWED = 1e-5
"""
Allowed distance relative to the largest element, far above the effect of approximate instructions
and of the order of sums. In half types, a unit in the last place of the largest element is allowed.
"""


def _spacing(array: Any) -> float:
    """Return the distance from 1 to the next number of a half type; 0 for other types."""
    name = array.dtype.name
    return 2 * ROUNDOFF[name] if name in ("float16", "bfloat16") else 0.0


def _bits(array: Any) -> Any:
    """Return the elements as bits; all NaN become equal, because no program distinguishes them."""
    import numpy as np

    flat = np.array(array).reshape(-1)
    if (is_nan := flat != flat).any():
        flat[is_nan] = np.nan
    return flat.view(np.dtype((np.void, flat.itemsize))) if flat.size else flat


def _distance(one: Any, other: Any) -> float:
    """
    Return the largest distance relative to the largest element; infinite if special values differ.
    """
    import numpy as np

    from tilewright.interpreters.distances import distances, finite, largest

    scale = largest(np.abs(finite(one))) or 1.0
    return largest(distances(one, other)) / scale
