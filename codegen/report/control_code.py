# SPDX-License-Identifier: Apache-2.0
"""
Control codes: the scheduling information in each 128-bit instruction of SASS, from Volta on.

The compiler, not the hardware, knows latencies that never vary. It writes them as stall counts.
Results of variable latency signal one of six scoreboards, and later instructions wait for these.

| bits of the upper half | field                                                            |
|------------------------|------------------------------------------------------------------|
| 41-44                  | stall count: clocks until the warp issues its next instruction   |
| 45                     | yield: 0 asks the scheduler to prefer another warp               |
| 46-48                  | scoreboard that signals the written results; 7 for none          |
| 49-51                  | scoreboard that signals that operands have been read; 7 for none |
| 52-57                  | mask of the scoreboards that the instruction waits for           |
| 58-61                  | reuse: mask of operands that stay in the operand cache           |

Source: Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking", section
2.1. The layout is the same for all targets of this project.
"""

from functools import lru_cache
from typing import NamedTuple

SCOREBOARDS = 6
"""Number of scoreboards of a warp."""

_NO_SCOREBOARD = 7


class ControlCode(NamedTuple):
    """Scheduling information of one instruction."""

    stall: int = 1
    """Fewest clocks until the same warp issues its next instruction."""
    yields: bool = False
    """True if the scheduler should prefer another warp for the next instruction."""
    write_scoreboard: int | None = None
    """Scoreboard that signals that the results are written."""
    read_scoreboard: int | None = None
    """Scoreboard that signals that the operands are read."""
    waits: tuple[int, ...] = ()
    """Scoreboards that must be clear before the instruction issues."""
    reuse: int = 0
    """Mask of the source operands that stay in the operand cache, the first as bit 0."""


def decode(upper: int) -> ControlCode:
    """Return the control code in `upper`, the upper 64 bits of an instruction."""
    return _decoded(upper >> 41)


@lru_cache(maxsize=1 << 12)
def _decoded(code: int) -> ControlCode:
    mask = code >> 11 & 0x3F
    return ControlCode(
        stall=max(1, code & 0xF),
        yields=not code >> 4 & 1,
        write_scoreboard=_scoreboard(code >> 5 & 7),
        read_scoreboard=_scoreboard(code >> 8 & 7),
        waits=tuple(number for number in range(SCOREBOARDS) if mask >> number & 1),
        reuse=code >> 17 & 0xF,
    )


def _scoreboard(number: int) -> int | None:
    return None if number == _NO_SCOREBOARD else number
