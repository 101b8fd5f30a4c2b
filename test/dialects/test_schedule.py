# SPDX-License-Identifier: Apache-2.0
"""Schedules have one spelling, in which they are read and written."""

import re
from itertools import chain
from pathlib import Path

import pytest
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.schedule import ScheduleAttr
from tilewright.errors import UsageError
from tilewright.passes.driver.lowering import context
from tilewright.tuning.goldens import shipped_goldens

_NO_SCHEDULE = re.compile(r"\{\{|\.\.\.|,\{$")
"""Patterns of FileCheck, ellipses, and deliberately wrong texts."""

ROOT = Path(__file__).parents[2]
_WRITTEN = re.compile(r'(?:schedule|planned) "(tileify[^"{]*(?:\{[^"]*)?)"')


def written() -> set[str]:
    """Return the complete schedules in tests and pages, and those shipped with Tilewright."""
    files = chain((ROOT / "test").rglob("*.mlir"), (ROOT / "docs").rglob("*.md"))
    texts = {text for file in files for text in _WRITTEN.findall(file.read_text())}
    recorded = {golden.schedule for file in shipped_goldens() for golden in file.goldens}
    return {text for text in texts | recorded if not _NO_SCHEDULE.search(text)}


def test_written_schedules_have_the_one_spelling() -> None:
    assert len(written()) > 15
    assert {text: ScheduleAttr.parse(text).data for text in written()} == {t: t for t in written()}
    assert all(ScheduleAttr.of(ScheduleAttr.parse(text).steps).data == text for text in written())


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ("tileify , blockify-launch{ n = 33 }", "tileify,blockify-launch{n=33}"),
        ("builtin.module(tileify,mark-unroll)", "tileify,mark-unroll"),
        ('stage-inputs{raw="x","w"}', "stage-inputs{raw=x,w}"),
        ("tileify{columns=true}", "tileify{columns=true}"),
        ('a{word="true"}', 'a{word="true"}'),
    ],
)
def test_spelling(text: str, spelling: str) -> None:
    assert ScheduleAttr.parse(text).data == spelling
    assert ScheduleAttr.parse(spelling).steps == ScheduleAttr.parse(text).steps


def test_steps_are_taken_one_after_the_other() -> None:
    schedule = ScheduleAttr.parse("tileify,blockify-launch{n=33},mark-unroll")
    step, behind = schedule.taken("blockify-launch")
    assert step is not None
    assert step.parameters == {"n": (33,)}
    assert behind == ScheduleAttr("mark-unroll")
    assert schedule.taken("mark-unroll")[1] is None
    assert schedule.taken("pad-smem") == (None, schedule)


def test_a_text_that_is_no_pipeline_stays_and_is_refused() -> None:
    schedule = ScheduleAttr.parse("tileify{")
    assert schedule.data == "tileify{"
    with pytest.raises(UsageError, match="Expected argument name"):
        _ = schedule.steps
    kernel = 'loop.kernel @k() -> (%out: memref<4xf32>) {} schedule "tileify{"'
    with pytest.raises(VerifyException, match="is not a pipeline"):
        Parser(context(), kernel).parse_module().verify()
