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

from collections.abc import Mapping

from xdsl.utils.arg_spec import ParameterListType

from tilewright.codegen.launch_plan import Launch
from tilewright.passes.pipeline_string import parse_spec_list

_OUTPUTS, _COLUMNS, _ELEMENTS = 16 * 16, 8, 128

Options = Mapping[str, ParameterListType]


def most_blocks(launch: Launch) -> int:
    """How many blocks there could be, at least as many as there are."""
    return launch.grid * max(1, _parts(launch.schedule))


def _parts(schedule: str) -> int:
    """Into how many blocks the work of a block could be taken apart."""
    tile = _options(schedule, "blockify-launch")
    match tile:
        case {"m": (int(m),), "n": (int(n),)}:
            return m * n // _OUTPUTS
        case _:
            pass
    match _options(schedule, "cooperative-reduce"):
        case {"rows": (int(columns),), "columns": (True,)}:
            return columns // _COLUMNS
        case {"rows": (int(rows),)}:
            return rows
        case _:
            pass
    match tile:
        case {"n": (int(elements),)}:
            return elements // _ELEMENTS
        case _:
            return 1


def _options(schedule: str, name: str) -> Options:
    """The options of a step of the schedule; none if it has no such step."""
    found = [spec.parameters for spec in parse_spec_list(schedule) if spec.name == name]
    return found[0] if found else {}
