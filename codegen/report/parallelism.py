# SPDX-License-Identifier: Apache-2.0
"""
How many blocks the work of a launch could be dealt out to: what its shape has of parallelism.

| work     | the least that a block is made for                                               |
|----------|----------------------------------------------------------------------------------|
| product  | 16x16 outputs: a warp, of 8 outputs a thread, so that loads are worth their while |
| rows     | a row, whose elements wait for each other; of columns, 8: a sector of memory      |
| elements | 128: a warp, 16 bytes of float32 a thread                                         |

Blocks that share a row, or the steps of a product, count as they are in the schedule: that they
join takes time, so that more of them are no more parallelism.
"""

from tilewright.codegen.launch_plan import Launch
from tilewright.passes.driver.pipeline_string import parameters_by_pass

_OUTPUTS, _COLUMNS, _ELEMENTS = 16 * 16, 8, 128


def most_blocks(launch: Launch) -> int:
    """How many blocks there could be, at least as many as there are."""
    return launch.grid * max(1, _parts(launch.schedule))


def _parts(schedule: str) -> int:
    """Into how many blocks the work of a block could be taken apart."""
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
