# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `stage-inputs`: each operand is staged the first of its ways (`operands.py`),
if all slabs fit. Then follow choices that stage one or two operands another way.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from tilewright.dialects import tile
from tilewright.passes.cost.shared_budget import shared_bytes
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.tile.operands import Kind, Operand, find_operands
from tilewright.passes.tile.stage_inputs import StageInputsPass, matrices

_MOST_CHOICES = 40


@memoised
def prefer(step: StageInputsPass, launch: tile.LaunchOp) -> Sequence[StageInputsPass]:
    """Return the choices that fit, the best guess first, choices with a transposed operand last."""
    operands = find_operands(launch)
    taken = shared_bytes(launch)
    every = _combinations(operands)
    kinds = [k for k in every if step.reason_not_fitting(k, taken) is None]
    if not kinds:
        return []
    best = {operand.name: kind for operand, kind in kinds[0]}
    turned = [_with(step, kinds[0], name) for name in matrices(operands, best)]
    return [*(_with(step, k) for k in kinds), *turned][:_MOST_CHOICES]


def reason_to_skip(step: StageInputsPass, launch: tile.LaunchOp) -> str | None:
    """Reason why the best guess stages nothing, or None."""
    best = next(iter(prefer(step, launch)), None)
    if best is None or best.raw or best.computed:
        return None
    names = ", ".join(best.none or ())
    return f"{names}: plain loads, which the cache serves as well, or too long for a slab"


def _with(
    step: StageInputsPass, kinds: Sequence[tuple[Operand, Kind]], *transposed: str
) -> StageInputsPass:
    """Return the pass with a way to stage each operand."""

    def of(kind: Kind) -> tuple[str, ...] | None:
        return tuple(operand.name for operand, k in kinds if k is kind) or None

    return StageInputsPass(
        step.target,
        raw=of(Kind.RAW),
        computed=of(Kind.COMPUTED),
        none=of(Kind.NONE),
        transposed=transposed or None,
    )


def _combinations(operands: Sequence[Operand]) -> Iterator[Sequence[tuple[Operand, Kind]]]:
    """
    Yield a way to stage each operand: the best guess, then other ways for one or two operands.
    """
    best = [operand.kinds[0] for operand in operands]
    for number in range(min(3, len(operands) + 1)):
        for differing in combinations(range(len(operands)), number):
            for kinds in product(*(operands[at].kinds[1:] for at in differing)):
                others = dict(zip(differing, kinds, strict=True))
                yield [(o, others.get(at, best[at])) for at, o in enumerate(operands)]
    yield [(operand, Kind.NONE) for operand in operands]
