# SPDX-License-Identifier: Apache-2.0
"""Random changes to the text of a scheduled kernel; few of them leave a legal schedule."""

import re
from collections.abc import Callable, Mapping

from .drawing import Draw

_STAGE = re.compile(r"(tile\.stage \([^)]*\) in \[[\d, ]+\])( ring\([^)]*\))?( transport\(\w+\))?")
_SLAB = re.compile(r"memref<([\dx]+[a-z]+\d+)(, #tile\.layout<[^>]*>)?, 3 : i64>")
_LAYOUTS = (
    "swizzle 64",
    "swizzle 128",
    "inner 16",
    "inner 4, swizzle 32",
    "pad [1, 2]",
    "order [1, 0]",
    "order [1, 0], inner 8, swizzle 32",
)


def changed(draw: Draw, text: str) -> str:
    """Return the text with one random change."""
    return draw.one([*_CHANGES.values()])(draw, text)


def _replaced(draw: Draw, text: str, pattern: str, new: Callable[[str], str]) -> str:
    """
    Return the text with a random match of `pattern` replaced by `new`, or unchanged if none
    matches.
    """
    found = list(re.finditer(pattern, text))
    if not found:
        return text
    match = draw.one(found)
    return text[: match.start()] + new(match[0]) + text[match.end() :]


def _number(draw: Draw, text: str) -> str:
    def new(old: str) -> str:
        n = int(old)
        return str(draw.one((n + 1, max(0, n - 1), n * 2, n // 2, 0, 1, 300)))

    return _replaced(draw, text, r"(?<![\w%.])\d+(?![\w.])", new)


def _transport(draw: Draw, text: str) -> str:
    new = draw.one((" transport(tma)", " transport(cp_async)", ""))
    return _STAGE.sub(lambda match: f"{match[1]}{match[2] or ''}{new}", text, count=1)


def _ring(draw: Draw, text: str) -> str:
    depth = draw.one((2, 3, 4, 7))
    new = f" ring(depth {depth}, lookahead {draw.one(range(depth + 1))})"
    return _STAGE.sub(lambda match: f"{match[1]}{new}{match[3] or ''}", text, count=1)


def _level(draw: Draw, text: str) -> str:
    levels = ("block", "thread", "register", "warp", "lane")
    return _replaced(draw, text, r"= (block|thread|register) ", lambda _: f"= {draw.one(levels)} ")


def _mask(draw: Draw, text: str) -> str:
    return _replaced(draw, text, r" where \[[^\]]*\]", lambda _: "")


def _join(draw: Draw, text: str) -> str:
    joins = ("cluster", "atomic", "workspace", "last_block")
    return _replaced(
        draw,
        text,
        r"(?<=combine )[^\n]* : ",
        lambda old: f"{re.sub(r' join.*| : $', '', old)} join({draw.one(joins)}) : ",
    )


def _layout(draw: Draw, text: str) -> str:
    """Replace the layout of a random slab type, wherever the type occurs in the text."""
    slabs = [match[0] for match in _SLAB.finditer(text)]
    if not slabs:
        return text
    slab, layout = draw.one(slabs), draw.one(_LAYOUTS)
    return text.replace(slab, _SLAB.sub(rf"memref<\1, #tile.layout<{layout}>, 3 : i64>", slab))


def _name(draw: Draw, text: str) -> str:
    names = sorted(set(re.findall(r"%\w+", text)))
    return _replaced(draw, text, r"%\w+", lambda _: draw.one(names))


_CHANGES: Mapping[str, Callable[[Draw, str], str]] = {
    "a number": _number,
    "how a slab is filled": _transport,
    "the slots of a slab": _ring,
    "the level of an axis": _level,
    "a mask that is left out": _mask,
    "how blocks join": _join,
    "where a slab's elements lie": _layout,
    "another value": _name,
}
