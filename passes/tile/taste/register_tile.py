# SPDX-License-Identifier: Apache-2.0
"""
Heuristics (taste) of `register-tile`: the largest tile up to 8 by 8 that leaves a block 128 to 256
threads, and vectors as wide as one access moves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import log2

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.passes.cost.live_registers import NVRTC_EXTRA_REGISTERS
from tilewright.passes.facts.matrix_factors import multiplies_halves
from tilewright.passes.tile.register_tile import RegisterTilePass
from tilewright.passes.tile.register_tile_sizes import (
    WIDTHS,
    innermost,
    last_axis,
    m_n_axes,
    neighbours,
    registers_with,
)
from tilewright.passes.tile.row_facts import row_length, stride, vector_width_along
from tilewright.passes.tile.split_thread_axes import steps_of, threads_with

_FACTORS = (8, 4, 16, 2, 1)
"""Rows or columns of a thread, in the order in which equal sizes are tried."""

_FK = 4

_FEWEST_THREADS, _MOST_THREADS = 128, 256
"""
Fewest and most threads of a block by default. If threads go along a row in steps, wide vectors are
used only if they leave a block at least the second number.
"""


def prefer(step: RegisterTilePass, launch: tile.LaunchOp) -> Iterator[RegisterTilePass]:
    """Yield the choices that agree with the given options, the best guess first."""
    if step.reason_against_options(launch) is None:
        yield from _tiles(step, launch) if m_n_axes(launch) else _lines(step, launch)


def reason_to_skip(step: RegisterTilePass, launch: tile.LaunchOp) -> str | None:
    """Reason why the launch is better left unchanged, or None."""
    if next(prefer(step, launch), None) is None:
        return "its threads cannot have several elements each"
    return None


def _tiles(step: RegisterTilePass, launch: tile.LaunchOp) -> Iterator[RegisterTilePass]:
    """
    Yield tiles that fit, first the largest up to 8 by 8 that leaves a block 128 threads. If it
    leaves more than 256, a larger tile comes first. `fm`, `fn` and `min_blocks` keep their values
    if they are given.
    """
    bare = RegisterTilePass(step.target)
    tiles = _sizes(launch, _given_or(step.fm, _FACTORS), _given_or(step.fn, _FACTORS))
    is_along_k = _reads_along_k(launch) and not any(map(multiplies_halves, innermost(launch)))
    steps = [_FK, 1] if is_along_k else [1, _FK]  # matrix instructions do several steps themselves
    steps = [fk for fk in steps if replace(bare, fk=fk).reason_not_divisible(launch) is None]
    for of_m, of_n in tiles:
        choice = replace(bare, fm=of_m, fn=of_n)
        if choice.reason_not_fitting(launch) is not None:
            continue
        needed = registers_with(launch, steps_of(choice.splits(launch)))
        if needed > step.gpu.max_registers_per_thread:
            continue
        given = step.min_blocks
        blocks = _blocks(choice, launch, needed) if given is None else [given]
        for fk, resident in product(steps, blocks):
            yield replace(choice, fk=fk, min_blocks=resident)
        if (of_m, of_n) == tiles[0] and given is None:
            yield from _strips(choice, steps[0], blocks[0])


def _strips(choice: RegisterTilePass, fk: int, min_blocks: int) -> Iterator[RegisterTilePass]:
    """Yield `choice` with strips of other numbers of adjacent rows and columns."""
    usual = neighbours(choice.fm or 1), neighbours(choice.fn or 1)
    for vm, vn in product(WIDTHS, WIDTHS):
        if (vm, vn) != usual and (choice.fm or 1) % vm == (choice.fn or 1) % vn == 0:
            yield replace(choice, vm=vm, vn=vn, fk=fk, min_blocks=min_blocks)


def _lines(step: RegisterTilePass, launch: tile.LaunchOp) -> Iterator[RegisterTilePass]:
    """
    Yield choices for a launch that is no contraction, first with the widest vectors that all
    accesses allow, if enough threads are left.
    """
    bare = RegisterTilePass(step.target, min_blocks=0)
    vectors = _given_or(step.vector, (_widest(launch), 4, 2, 1, 8))
    for vector, items in product(dict.fromkeys(vectors), _given_or(step.items, (1, 2, 4, 8))):
        choice = replace(bare, vector=vector, items=items)
        if choice.reason_not_possible(launch) is None:
            yield choice


def _blocks(choice: RegisterTilePass, launch: tile.LaunchOp, needed: int) -> list[int]:
    """
    Return values of `min_blocks`: as many as registers allow, no limit, one fewer and one more.
    """
    target, threads = (
        choice.gpu,
        threads_with(launch, choice.splits(launch)),
    )
    usual = target.blocks_per_sm(threads, 0, needed + NVRTC_EXTRA_REGISTERS)
    near = (n for n in (usual - 1, usual + 1) if 1 <= n <= target.max_blocks_per_sm)
    return [*dict.fromkeys([usual, 0, *near])]


def _given_or(value: int | None, usual: Sequence[int]) -> Sequence[int]:
    return usual if value is None else (value,)


def _widest(launch: tile.LaunchOp) -> int:
    """
    Return the widest vector along the last axis that all accesses allow and that leaves enough
    threads.
    """
    (axis,) = last_axis(launch)
    vector = vector_width_along(launch, axis.value, axis.extent)
    goes_in_steps = axis.role is Role.K and row_length(launch) > 0
    left = _MOST_THREADS if goes_in_steps else _FEWEST_THREADS
    while vector > 1 and launch.num_threads < vector * left:
        vector //= 2
    return vector


def _reads_along_k(launch: tile.LaunchOp) -> bool:
    """True if K is the innermost axis of an array that is read."""
    return any(
        isinstance(load, loop.LoadOp) and stride(load, op.axis) == 1
        for op in innermost(launch)
        for load in op.body.block.ops
    )


def _sizes(
    launch: tile.LaunchOp, rows: Sequence[int], columns: Sequence[int]
) -> list[tuple[int, int]]:
    """
    Return tiles of `rows` by `columns` for each thread, the best guess first. The best guess is the
    largest tile up to 64 elements that leaves a block 128 to 256 threads; the nearest sizes follow.
    """
    tiles = [*product(rows, columns)]
    best = min(tiles, key=lambda each: _preference(launch, each))
    return sorted(tiles, key=lambda each: _distance(each, best))


def _preference(launch: tile.LaunchOp, tile: tuple[int, int]) -> tuple[float, ...]:
    (fm, fn), (m, n) = tile, m_n_axes(launch)
    if m.extent % fm or n.extent % fn:
        return 2, 0, 0, 0
    threads = launch.num_threads // (fm * fn)
    outside = max(_FEWEST_THREADS / threads, threads / _MOST_THREADS, 1)
    return 1, outside, -min(fm * fn, 64), abs(log2(fm / fn)) + (fm > fn) / 2


def _distance(tile: tuple[int, int], other: tuple[int, int]) -> float:
    return sum(abs(log2(a / b)) for a, b in zip(tile, other, strict=True))
