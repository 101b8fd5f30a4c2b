# SPDX-License-Identifier: Apache-2.0
"""The text of a pipeline: accepted spellings, and messages for mistakes."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.errors import UsageError
from tilewright.passes.driver.pipeline_string import parse_pipeline


@dataclass(frozen=True)
class TilePass(ModulePass):
    """A pass with an option of each kind."""

    name = "tile"
    m: int = 128
    sizes: tuple[int, ...] = ()
    scale: float = 1.0
    fast: bool = False
    label: str = ""
    join: Literal["cluster", "atomics"] = "cluster"
    depth: int | None = None
    names: tuple[str, ...] | None = None
    flags: Literal["on", "off"] | tuple[str, ...] = "on"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Do nothing: the pass is never run here."""


@dataclass(frozen=True)
class NeedsPass(ModulePass):
    """A pass with a required option, which must be positive."""

    name = "needs"
    factor: int

    def __post_init__(self):
        if self.factor < 1:
            raise ValueError("factor must be positive")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Do nothing: the pass is never run here."""


AVAILABLE: dict[str, Callable[[], type[ModulePass]]] = {
    "tile": lambda: TilePass,
    "needs": lambda: NeedsPass,
}


@pytest.mark.parametrize(
    ("text", "passes"),
    [
        ("", ()),
        ("tile", (TilePass(),)),
        ("tile,needs{factor=2}", (TilePass(), NeedsPass(2))),
        (" tile , needs{ factor = 2 } ", (TilePass(), NeedsPass(2))),
        ("builtin.module(tile,needs{factor=2})", (TilePass(), NeedsPass(2))),
        ("builtin.module(\n  tile,\n  tile\n)", (TilePass(), TilePass())),
        ("builtin.module()", ()),
        ("tile{m=64 sizes=1,2}", (TilePass(m=64, sizes=(1, 2)),)),
        ("tile{sizes=1, 2}", (TilePass(sizes=(1, 2)),)),
        ("tile{fast}", (TilePass(fast=True),)),
        ("tile{fast=false}", (TilePass(fast=False),)),
        ("tile{scale=2}", (TilePass(scale=2.0),)),
        ("tile{scale=1e-3}", (TilePass(scale=1e-3),)),
        ("tile{scale=0.5}", (TilePass(scale=0.5),)),
        ("tile{depth}", (TilePass(depth=None),)),
        ('tile{label="a , b = {}"}', (TilePass(label="a , b = {}"),)),
        ('tile{join="atomics"}', (TilePass(join="atomics"),)),
    ],
)
def test_spellings(text: str, passes: tuple[ModulePass, ...]):
    assert parse_pipeline(text, AVAILABLE) == passes


def wrong(option: str, expected: str, found: str, example: str) -> str:
    """Return the message for an option of the pass `tile` with a value of another type."""
    what = f"pass 'tile': option '{option}' expects {expected}, not '{found}'"
    return f"{what} (e.g. {option}={example})"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("tilr", "unknown pass 'tilr' (did you mean tile?)"),
        ("zzz", "unknown pass 'zzz' (opt-tool --help lists them)"),
        ("tile{size=1}", "pass 'tile' has no option 'size' (did you mean sizes?)"),
        ("needs{zzz=1}", "pass 'needs' has no option 'zzz' (it has: factor)"),
        ("needs", "pass 'needs' needs the option 'factor'"),
        ("needs{factor=0}", "pass 'needs': factor must be positive"),
        ("tile{m=x}", wrong("m", "an integer", "x", "64")),
        ("tile{m=1.5}", wrong("m", "an integer", "1.5", "64")),
        ("tile{m=1,2}", wrong("m", "an integer", "1,2", "64")),
        ("tile{m}", wrong("m", "an integer", "nothing", "64")),
        ("tile{m=true}", wrong("m", "an integer", "true", "64")),
        ("tile{depth=x}", wrong("depth", "an integer", "x", "64")),
        ("tile{sizes=x,2}", wrong("sizes", "a list of integers", "x,2", "64,32")),
        ("tile{names=2}", wrong("names", "a list of words", "2", "a,b")),
        ("tile{scale=true}", wrong("scale", "a number", "true", "0.5")),
        ("tile{fast=1}", wrong("fast", "true or false", "1", "true")),
        ("tile{label=1}", wrong("label", "a word", "1", "a")),
        ("tile{join=x}", wrong("join", "cluster or atomics", "x", "cluster")),
        ("tile{flags=1}", wrong("flags", "on or off or a list of words", "1", "on")),
        ("tile{m=1 fast m=2}", "the option 'm' is given twice in '{m=1 fast m=2}'"),
        (
            'tile{label="m n"},tile{m=1 label="m m=1 m=2"},tile{m=1 m=1}',
            "the option 'm' is given twice in '{m=1 m=1}'",
        ),
        ("func.func(tile)", "cannot nest passes in 'func.func': all passes run on builtin.module"),
        ("tile{", "pass-pipeline:1:6: Expected argument name here\ntile{\n     ^"),
        ("tile;", "pass-pipeline:1:5: Unknown token\ntile;\n    ^"),
    ],
)
def test_mistakes(text: str, complaint: str):
    with pytest.raises(UsageError) as failure:
        parse_pipeline(text, AVAILABLE)
    assert str(failure.value) == complaint


@given(
    st.lists(
        st.builds(
            TilePass,
            m=st.integers(),
            sizes=st.lists(st.integers(), min_size=2, max_size=4).map(tuple),
            scale=st.integers(-(10**9), 10**9).map(lambda n: n / 64),
            fast=st.booleans(),
            label=st.text("ab ,={}[]()-_"),
            depth=st.none() | st.integers(),
        ),
        max_size=3,
    )
)
def test_printed_passes_are_read_back(passes: list[TilePass]):
    text = ",".join(str(p) for p in passes)
    assert parse_pipeline(text, AVAILABLE) == tuple(passes)


@given(st.text('tile needs{}=,"[]()1.m-\n', max_size=30))
def test_any_text_is_read_or_refused(text: str):
    with suppress(UsageError):
        parse_pipeline(text, AVAILABLE)
