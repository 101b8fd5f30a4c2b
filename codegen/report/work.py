# SPDX-License-Identifier: Apache-2.0
"""
Work of a launch, from its code (the work of one step of each loop) and its cost (the total work).

Machine code does not contain the trip counts of its loops. A loop with the kernel's arithmetic must
run until the arithmetic is done. A loop with its loads must run until everything is loaded. The
trip count of a loop is therefore the total work of one kind over the work of one step.

If loops are nested, this rule holds for the loop with more work of this kind in a step. For
example, the loop over chunks of a product computes a little too, and runs once for many steps of
its inner loop. If its loads give the trip count of the outer loop, its arithmetic is taken off
first: attention computes weights in the loop over keys.

Compilers make several versions of a loop, as unrolled and remainder. Of versions from the same
source line only the longest counts.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping

from tilewright.codegen.report.critical_path import DEVICE_LATENCY, L2_LATENCY, path_clocks
from tilewright.codegen.report.estimate import Work
from tilewright.codegen.report.instruction import GLOBAL, Category, Code
from tilewright.codegen.report.instruction_mix import InstructionMix, instruction_mix
from tilewright.codegen.report.loops import Loop, loops, reachable
from tilewright.dialects.target import WARP_SIZE
from tilewright.passes.cost.launch_cost import KernelCost

_FLOPS = {
    Category.FFMA: 2,
    Category.FLOAT: 1,
    Category.HALF: 2,
    Category.DOUBLE: 1,
    Category.SPECIAL: 1,
}


def source_line(code: Code, loop: Loop) -> int:
    """Return the line of the CUDA text that most instructions of a loop come from; 0 if unknown."""
    lines = Counter(code.instructions[place].line for place in sorted(loop.body))
    return lines.most_common(1)[0][0]


def work_of(
    code: Code,
    cost: KernelCost,
    resident_blocks: int,
    sector_bytes: float,
    wavefronts: float,
    cluster: int = 1,
) -> Work:
    """
    Return the work of one launch with the code `code` and the cost `cost`.

    `sector_bytes` and `wavefronts` are totals of the launch, counted or estimated. Wavefronts of
    `ldmatrix` in the code replace `wavefronts` if there are more.
    """
    counted = longest_versions(code)
    runs = trip_counts(code, cost, counted)
    mixes = {loop: instruction_mix(code, loop.body) for loop in counted}
    straight = _straight(code)
    once = instruction_mix(code, straight)
    warps = cost.blocks * -(-cost.threads // WARP_SIZE)

    def executed(*categories: Category) -> float:
        return total(lambda mix: _count(mix, categories))

    def total(measure: Callable[[InstructionMix], float]) -> float:
        looped = sum(runs[loop] * measure(mixes[loop]) for loop in counted)
        return warps * (measure(once) + looped)

    latency = _latency(cost.global_bytes, sector_bytes)
    path = path_clocks(code, straight, global_latency=latency) + sum(
        runs[loop] * path_clocks(code, loop.body, repeats=True, global_latency=latency)
        for loop in counted
    )
    return Work(
        cost.blocks,
        resident_blocks,
        cost.global_bytes,
        sector_bytes,
        instructions=executed(),
        float32=executed(Category.FFMA, Category.FLOAT),
        special=executed(Category.SPECIAL),
        wavefronts=max(wavefronts, total(_matrix_wavefronts)),
        path_clocks=path,
        cluster=cluster,
        mma=total(lambda mix: _mma_count(mix, by_group=False)),
        wgmma=total(lambda mix: _mma_count(mix, by_group=True)),
    )


def _latency(device_bytes: float, sector_bytes: float) -> float:
    """
    Return the average latency of a load in clocks. First reads come from device memory, rereads
    from the L2 cache.
    """
    first = min(1.0, device_bytes / sector_bytes) if sector_bytes else 1.0
    return first * DEVICE_LATENCY + (1 - first) * L2_LATENCY


def _count(mix: InstructionMix, categories: Collection[Category]) -> int:
    return mix.count(*categories) if categories else mix.total


def _straight(code: Code) -> frozenset[int]:
    """Return the reachable places that are in no loop, or only in loops that wait."""
    return reachable(code).difference(*(loop.body for loop in loops(code)))


def longest_versions(code: Code) -> list[Loop]:
    """
    Return the longest loop from each source line at each depth. Other loops from this line at this
    depth are versions of it.
    """
    longest: dict[tuple[int, int], Loop] = {}
    for number, loop in enumerate(loops(code), 1):
        key = (source_line(code, loop) or -number, loop.depth)
        if key not in longest or len(loop.body) > len(longest[key].body):
            longest[key] = loop
    return list(longest.values())


def trip_counts(code: Code, cost: KernelCost, counted: Iterable[Loop]) -> dict[Loop, float]:
    """Return the number of steps that each of the loops `counted` runs in a thread, at least 1."""
    threads = cost.blocks * cost.threads
    once = instruction_mix(code, _straight(code))
    mixes = {loop: instruction_mix(code, loop.body) for loop in counted}
    runs = dict.fromkeys(mixes, 1.0)
    moved = _without_outer({loop: _global_bytes(mix) for loop, mix in mixes.items()})
    _run_until_done(runs, moved, cost.accessed_bytes / threads - _global_bytes(once))
    computed = {loop: _flops(mix) for loop, mix in mixes.items()}
    around = {loop for loop in runs if runs[loop] > 1 and _contains_any(loop, runs)}
    apart = _flops(once) + sum(runs[loop] * computed.pop(loop) for loop in around)
    _run_until_done(runs, _without_outer(computed), cost.flops / threads - apart)
    return runs


def _run_until_done(runs: dict[Loop, float], in_step: Mapping[Loop, float], left: float) -> None:
    """Raise `runs` to the number of steps in which the loops `in_step` do the work that is left."""
    for loop, work in in_step.items():
        if work:
            runs[loop] = max(runs[loop], left / sum(in_step.values()))


def _contains_any(loop: Loop, others: Iterable[Loop]) -> bool:
    return any(other.whole < loop.whole for other in others)


def _without_outer(in_step: Mapping[Loop, float]) -> dict[Loop, float]:
    """
    Return the work in a step of each loop, without loops that contain a loop with more work in a
    step.

    The trip count of such an outer loop does not follow from this kind of work.
    """
    return {
        loop: work
        for loop, work in in_step.items()
        if not any(other.whole < loop.whole and more > work for other, more in in_step.items())
    }


def _flops(mix: InstructionMix) -> float:
    in_matrices = sum(shape.flops * number for shape, number in mix.matrices.items())
    return in_matrices + sum(flops * mix.count(category) for category, flops in _FLOPS.items())


def _mma_count(mix: InstructionMix, *, by_group: bool) -> float:
    """
    Return the number of `mma.sync` m16n8k16 on half types that occupy a tensor core for as long as
    the matrix instructions of one warp, or of groups of warps (`by_group`).
    """
    shapes = mix.matrices.items()
    return sum(shape.mma_count * n for shape, n in shapes if (shape.warps > 1) == by_group)


def _matrix_wavefronts(mix: InstructionMix) -> float:
    """
    Return the wavefronts of `ldmatrix` without bank conflicts: one for each matrix of 8 rows of 16
    bytes.
    """
    return sum(n * bits // 32 for (kind, bits), n in mix.accesses.items() if kind is Category.LDSM)


def _global_bytes(mix: InstructionMix) -> float:
    return mix.bytes(*GLOBAL)
