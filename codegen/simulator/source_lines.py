# SPDX-License-Identifier: Apache-2.0
"""
Mapping from `.loc` directives to lines of the CUDA text.

Code inlined from a device function counts for the line of the kernel that calls it. A reader of the
kernel can act on that line. PTX ISA, ".loc".
"""

import re

_LOC = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")

_MAIN_FILE = 1
"""Number of the main file: NVRTC numbers the text it is given first, then the headers."""

Position = tuple[int, int, int]
"""Position in a source text: file, line, column."""


class SourceLines:
    """Reader of a kernel's `.loc` directives, in order; `line` is the current line."""

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
        """Return the position in the kernel's own text from which nested calls reach `position`."""
        seen = {position}
        while (caller := self._callers.get(position)) and caller not in seen:
            seen.add(caller)
            position = caller
        return position
