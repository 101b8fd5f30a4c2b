# SPDX-License-Identifier: Apache-2.0
"""
The cases of suite84 at sizes that the simulator takes: the same kernels, by the very schedules that
the planner makes for the full sizes.
"""

import re
from dataclasses import replace
from typing import NamedTuple

from suite84 import Case
from xdsl.dialects.builtin import ModuleOp, StringAttr

from tilewright import api
from tilewright.dialects.loop import KernelOp
from tilewright.frontend.capture import Captured

# What becomes of a size: rows of 16 bytes still, chunks of 32 for every split of the planner and a
# part of one, tiles that overrun.
SIZES = {32: 32, 64: 32, 128: 72, 256: 40, 512: 136, 2048: 520, 3584: 776, 5632: 1032, 18944: 1160}
FEWER_HEADS = (4, 2, 1)
"""By so many; with too few of them it pays to write the scores' softmax to memory, or not to."""


class Scheduled(NamedTuple):
    """A program, and its Tile IR."""

    captured: Captured
    module: ModuleOp


def by_full_schedules(case: Case, target: str) -> Scheduled:
    """The reduced case, scheduled as the full one is."""
    full = _schedules(api.lower(captured(case, "meta"), "tile", target))
    program, nests = _alike(case, len(full), target)
    for kernel, schedule in zip(_kernels(nests), full, strict=True):
        kernel.plan = StringAttr(schedule)
    scheduled = api.lower(nests, "tile", target)
    assert _schedules(scheduled) == full
    return Scheduled(program, scheduled)


def captured(case: Case, device: str) -> Captured:
    """The case's Torch IR; on `meta` there are no values."""
    return api.capture(case.function, *case.inputs(device))


def reduced(case: Case, fewer: int = 4) -> Case:
    """The case with fewer tokens, heads and features."""
    shapes = tuple(tuple(_sizes(shape, fewer)) for shape in case.shapes)
    expression = re.sub(
        r"\((\d{4}),\)", lambda found: f"({SIZES[int(found[1])]},)", case.expression
    )
    return replace(case, shapes=shapes, expression=expression, tokens=SIZES[case.tokens])


def _sizes(shape: tuple[int, ...], fewer: int) -> list[int]:
    batch, *sizes = shape
    if len(shape) == 4:  # batch, heads, tokens, features
        heads, *sizes = sizes
        return [batch, heads // fewer, *(SIZES[size] for size in sizes)]
    return [SIZES.get(size, size) for size in shape]


def _alike(case: Case, number: int, target: str) -> Scheduled:
    """The reduced case, and its Loop IR with as many kernels as at full size."""
    programs = (captured(reduced(case, fewer), "cpu") for fewer in FEWER_HEADS)
    if case.op == "silu_mul_matmul" and number == 2:
        # Where many tiles share rows it pays to compute them once; here they are asked for.
        programs = iter([captured(_with_product(reduced(case)), "cpu")])
    for program in programs:
        nests = api.lower(program, "loop", target)
        if len(_kernels(nests)) == number:
            return Scheduled(program, nests)
    raise AssertionError(f"no reduced {case.name} has {number} kernels")


def _schedules(module: ModuleOp) -> list[str]:
    """Of the kernels, in their order."""
    scheduled = _kernels(module)
    return [kernel.schedule.data for kernel in scheduled if kernel.schedule is not None]


def _kernels(module: ModuleOp) -> list[KernelOp]:
    return [op for op in module.ops if isinstance(op, KernelOp)]


def _with_product(case: Case) -> Case:
    """The case with what is multiplied as a result too, so that a kernel of its own computes it."""
    found = re.fullmatch(r"torch.matmul\((F.silu.*), t2\)", case.expression)
    assert found is not None
    return replace(case, expression=f"(lambda h: (h, torch.matmul(h, t2)))({found[1]})")
