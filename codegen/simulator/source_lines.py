# SPDX-License-Identifier: Apache-2.0
"""
`.loc` directives to lines of the CUDA text.

Code inlined from a device function counts for the line of the kernel that calls it: that is the
line a reader of the kernel can act on. PTX ISA, ".loc".
"""

import re

_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")

_MAIN_FILE = 1
"""NVRTC numbers the text it is given first; headers follow."""

Position = tuple[int, int, int]
"""File, line, column."""


class SourceLines:
    """Reads a kernel's `.loc` directives in order; `line` is the current line."""

    def __init__(self) -> None:
        self.line = 0
        self._callers: dict[Position, Position] = {}

    def read(self, directive: str) -> None:
        match = _LOC.match(directive)
        if match is None:
            return
        numbers = [int(group) if group else 0 for group in match.groups()]
        position: Position = (numbers[0], numbers[1], numbers[2])
        caller: Position = (numbers[3], numbers[4], numbers[5])
        if caller[0]:
            self._callers[position] = caller
        file, line, _ = self._outermost(caller if caller[0] else position)
        if file == _MAIN_FILE and line:
            self.line = line

    def _outermost(self, position: Position) -> Position:
        """Follow calls outward to the kernel's own text."""
        seen = {position}
        while (caller := self._callers.get(position)) and caller not in seen:
            seen.add(caller)
            position = caller
        return position
