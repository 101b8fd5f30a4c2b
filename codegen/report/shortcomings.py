# SPDX-License-Identifier: Apache-2.0
"""
Reasons why a kernel is slower than it could be, from its machine code.

| what                | expected                                                                   |
|---------------------|----------------------------------------------------------------------------|
| blocks              | one for each SM, or as many as the shape has work for (`_most_blocks`)     |
| spills              | none                                                                       |
| global memory       | nine tenths of the bytes of loads, stores and copies 16 or more at a time  |
| shared memory       | a bank factor of at most 1.05                                              |
| multiply-adds       | without tensor cores: a share of the main loop by tile (`expected_share`)  |
| sectors             | at most 1.05 times those that would hold the bytes that warps ask for      |
"""

from collections.abc import Iterator
from typing import NamedTuple

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.report.evidence import KernelEvidence
from tilewright.codegen.report.instruction import GLOBAL, Category
from tilewright.passes.driver.pipeline_string import parameters_by_pass

FFMA_SHARES = {(128, 128): 0.89, (64, 64): 0.85, (32, 128): 0.82}
"""
Share of multiply-adds in the main loop of good hand-written kernels on sm_90a, by rows and columns
of a block.
"""

COMPUTING_SHARE = 0.91
"""
Factor that a share in `FFMA_SHARES` is multiplied by if a block computes operands while it stages
them.

In hand-written kernels, `silu(g) * u` before a product of 128x128 lowered the share from 0.898 to
between 0.815 and 0.841 (NVRTC 13.0.88, sm_90a).
"""

MOST_BANK_FACTOR = 1.05
MOST_SECTOR_FACTOR = 1.05
LEAST_WIDE_SHARE = 0.9

_OUTPUTS, _COLUMNS, _ELEMENTS = 16 * 16, 8, 128
"""
Least work that a block is made for: outputs of a product, columns of a reduction, elements
(`_most_blocks`).
"""


class Tile(NamedTuple):
    """Part of a matrix product that a block computes."""

    rows: int
    columns: int
    computes: bool = False
    """True if the block computes an operand while it stages it."""


def expected_share(tile: Tile) -> float | None:
    """Return the share of multiply-adds in a good main loop for a tile; None if it is not known."""
    plain = FFMA_SHARES.get((tile.rows, tile.columns))
    if plain is None or not tile.computes:
        return plain
    return round(plain * COMPUTING_SHARE, 2)


def wide_share(kernel: KernelEvidence) -> float | None:
    """
    Return the share of a block's global-memory bytes that move 16 or more at a time; None without
    accesses.

    Each instruction counts once. Copies by the tensor memory accelerator count as wide.
    """
    threads, accesses = kernel.launch.block, kernel.mix.accesses.items()
    every = threads * kernel.mix.bytes(*GLOBAL) + kernel.copied_bytes
    if not every:
        return None
    narrow = sum(n * bits // 8 for (kind, bits), n in accesses if kind in GLOBAL and bits < 128)
    return 1 - threads * narrow / every


def shortcomings(kernel: KernelEvidence, tile: Tile | None) -> Iterator[str]:
    """
    Yield a short text for each shortcoming. `tile` is None if the kernel is no matrix product.
    """
    launch, sms = kernel.launch, kernel.target.sms
    if launch.grid < min(sms, _most_blocks(launch)):
        yield f"{launch.grid} blocks for {sms} SMs"
    if kernel.resources.spills:
        yield f"spills {kernel.resources.spill_store_bytes} B"
    wide = wide_share(kernel)
    if wide is not None and wide < LEAST_WIDE_SHARE:
        yield f"{100 * wide:.0f} % of accesses wide"
    bank = kernel.traffic.bank_factor
    if bank is not None and bank > MOST_BANK_FACTOR:
        yield f"bank factor {bank:.2f}"
    sector = kernel.traffic.sector_factor
    if sector is not None and sector > MOST_SECTOR_FACTOR:
        yield f"sector factor {sector:.2f}"
    expected = None if tile is None else expected_share(tile)
    if expected is not None and kernel.loop is not None and not kernel.loop.mix.matrices:
        share = kernel.loop.mix.share(Category.FFMA)
        if round(share, 2) < expected:
            yield f"FFMA share {share:.2f} of {expected:.2f}"


def _most_blocks(launch: Launch) -> int:
    """
    Return the number of blocks that the work could be split into, at least the present number.

    | work     | the least that a block is made for                                               |
    |----------|----------------------------------------------------------------------------------|
    | product  | 16x16 outputs: a warp of 8 outputs a thread, to amortise the loads               |
    | rows     | a row, a chain of dependences; of columns 8: a sector of memory                  |
    | elements | 128: a warp, 16 bytes of float32 a thread                                        |

    Blocks that share a row, or the steps of a product, count as in the schedule. Joining their
    results takes time, so more of them do not give more parallelism.
    """
    return launch.grid * max(1, _parts(launch.schedule))


def _parts(schedule: str) -> int:
    """
    Return the number of blocks that the work of one block could be split into, according to the
    options in `schedule`.
    """
    options = parameters_by_pass(schedule)
    match options.get("blockify-launch"), options.get("cooperative-reduce"):
        case {"m": (int(m),), "n": (int(n),)}, _:
            return m * n // _OUTPUTS
        case _, {"rows": (int(columns),), "columns": (True,)}:
            return columns // _COLUMNS
        case _, {"rows": (int(rows),)}:
            return rows
        case {"n": (int(elements),)}, _:
            return elements // _ELEMENTS
        case _:
            return 1
