# SPDX-License-Identifier: Apache-2.0
"""
Directives that number the lines of a PTX text, by which findings name a line of the PTX file.

    ld.global.f32 %f1, [%rd1];    becomes    .loc 1 12 0
                                             ld.global.f32 %f1, [%rd1];

They replace directives that name lines of the CUDA text, which may be missing.
"""

import re
from collections.abc import Iterator

from tilewright.codegen.simulator.ptx import COMMENT

_PLACE = re.compile(r"^[ \t]*\.(loc|file)\b[^\n;]*;?", re.MULTILINE)
_WHOLE_LINE = re.compile(r"\.(version|target|address_size)\b")
_END = re.compile(r"[;{}]|:(?!:)")
_HEADER = re.compile(r"\.(entry|func)\b")


def with_own_lines(ptx: str) -> str:
    """Return a text without comments, with a `.loc` before each line that begins a statement."""
    text = COMMENT.sub(_blank, ptx).split("\n\t.section", 1)[0]
    return "\n".join(_numbered(_PLACE.sub("", text)))


def _blank(comment: re.Match[str]) -> str:
    return " " + "\n" * comment[0].count("\n")


def _numbered(text: str) -> Iterator[str]:
    begun, depth = "", 0
    for number, line in enumerate(text.split("\n"), 1):
        if depth and line.strip() and not begun.strip():
            yield f".loc 1 {number} 0"
        yield line
        if depth == 0 and _WHOLE_LINE.match(line.strip()):
            continue
        begun, depth = _rest(begun + line + "\n", depth)


def _rest(text: str, depth: int) -> tuple[str, int]:
    """
    Return the unfinished statement at the end of a text, and the number of open bodies. Braces in a
    statement, of a vector or an initialiser, open none.
    """
    start = 0
    for end in _END.finditer(text):
        before = text[start : end.start()]
        opens = end[0] == "{" and (not before.strip() or _HEADER.search(before) is not None)
        closes = end[0] == "}" and not before.strip()
        if end[0] in "{}" and not (opens or closes):
            continue
        depth, start = depth + opens - closes, end.end()
    return text[start:], depth
