# SPDX-License-Identifier: Apache-2.0
"""
Cases of suite84 at sizes that the simulator can handle: the same kernels, with the schedules that
the planner makes for the full sizes.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from suite84 import Case
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.dialects.loop import KernelOp
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.frontend.capture import Captured

# Reduced sizes. Rows are still multiples of 16 bytes. Sums have a chunk of 32 for every split, and
# a part of a chunk. Tiles extend beyond the edges.
SIZES = {
    1: 1,
    32: 32,
    64: 32,
    128: 80,
    256: 40,
    512: 136,
    2048: 520,
    3584: 776,
    4096: 904,
    5632: 1032,
    8192: 904,
    18944: 1160,
}


class Way(NamedTuple):
    """
    Sizes of a reduced attention case: its heads are divided by `fewer_heads`. Sizes that are None
    are reduced as in other cases.
    """

    fewer_heads: int = 4
    tokens: int | None = None
    features: int | None = None


WAYS = (Way(), Way(2), Way(1), Way(features=136), Way(1, tokens=264, features=128))
"""
Reductions to try in order, until the kernels are those of full size. The sizes decide if the
softmax of scores is written to memory.
"""


class Scheduled(NamedTuple):
    """Captured program, with its Tile IR."""

    captured: Captured
    module: ModuleOp


def by_full_schedules(case: Case, target: str) -> Scheduled:
    """Return the reduced case with the schedules of the full one."""
    of_full_size = api.lower(captured(case, "meta"), "tile", target)
    full = _schedules(of_full_size)
    program, nests = _alike(case, _names(of_full_size), target)
    for kernel, schedule in zip(_kernels(nests), full, strict=True):
        kernel.planned = ScheduleAttr.parse(schedule)
    scheduled = api.lower(nests, "tile", target)
    assert _schedules(scheduled) == full
    return Scheduled(program, scheduled)


def captured(case: Case, device: str) -> Captured:
    """Return the case's Torch IR; on `meta` its inputs have no values."""
    return api.capture(case.function, *case.inputs(device))


def reduced(case: Case, way: Way = WAYS[0]) -> Case:
    """Return the case with fewer tokens, heads and features."""
    tokens = way.tokens or SIZES[case.tokens]
    shapes = tuple(tuple(_sizes(shape, case.tokens, tokens, way)) for shape in case.shapes)
    expression = re.sub(
        r"\((\d{4}),\)", lambda found: f"({SIZES[int(found[1])]},)", case.expression
    )
    return replace(case, shapes=shapes, expression=expression, tokens=tokens)


def _sizes(shape: tuple[int, ...], full: int, tokens: int, way: Way) -> list[int]:
    if len(shape) == 4:
        batch, heads, _, features = shape
        return [batch, heads // way.fewer_heads, tokens, way.features or SIZES[features]]
    return [tokens if size == full else SIZES.get(size, size) for size in shape]


def _alike(case: Case, names: list[str], target: str) -> Scheduled:
    """
    Return the first reduced case whose kernels are called `names`, captured, with its Loop IR.
    """
    programs = (captured(reduced(case, way), "cpu") for way in WAYS)
    if case.op == "silu_mul_matmul" and len(names) == 2:
        # At full size many tiles share rows, and the fusion computes them once; here this is
        # forced.
        programs = iter([captured(_with_product(reduced(case)), "cpu")])
    for program in programs:
        nests = api.lower(program, "loop", target)
        if _names(nests) == names:
            return Scheduled(program, nests)
    raise AssertionError(f"no reduced {case.name} has the kernels {', '.join(names)}")


def _names(module: ModuleOp) -> list[str]:
    """Return the names of the kernels, in their order."""
    return [kernel.sym_name.data for kernel in _kernels(module)]


def _schedules(module: ModuleOp) -> list[str]:
    """Return the kernels' schedules, without `none=` and `raster=`, which depend on the sizes."""
    schedules = (kernel.schedule for kernel in _kernels(module))
    return [
        re.sub(" (?:none|raster)=[^ }]*", "", each.data) for each in schedules if each is not None
    ]


def _kernels(module: ModuleOp) -> list[KernelOp]:
    return [op for op in module.ops if isinstance(op, KernelOp)]


def _with_product(case: Case) -> Case:
    """
    Return the case with the left operand of the product as another result; a separate kernel then
    computes that operand.
    """
    found = re.fullmatch(r"torch.matmul\((F.silu.*), t2\)", case.expression)
    assert found is not None
    return replace(case, expression=f"(lambda h: (h, torch.matmul(h, t2)))({found[1]})")
