# SPDX-License-Identifier: Apache-2.0
"""The steps of schedules: other packages add their own, each at its place."""

from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint, EntryPoints
from typing import cast

import pytest

from tilewright.errors import UsageError
from tilewright.passes import scheduling_steps
from tilewright.passes.driver.pipelines import to_tile
from tilewright.passes.scheduling_steps import STEPS, SchedulingStep

NOWHERE = "no_such_package:Pass"
BESIDE = SchedulingStep("beside", NOWHERE, after="async-copy")
CHOSEN = SchedulingStep("chosen", NOWHERE, after="async-copy", cost="no_such_package:cost")
AGAIN = SchedulingStep("again", NOWHERE, after="async-copy")
BEHIND = SchedulingStep("behind", NOWHERE, after="again")
EARLY = SchedulingStep("early", NOWHERE, after="tileify")
LATE = SchedulingStep("late", NOWHERE, after="mark-unroll")
LOST = SchedulingStep("lost", NOWHERE, after="async-copi")
OURS = SchedulingStep("pad-smem", NOWHERE, after="tileify")
CSE = SchedulingStep("cse", NOWHERE, after="tileify")
HERE = SchedulingStep("here", NOWHERE, after="there")
THERE = SchedulingStep("there", NOWHERE, after="here")
ITSELF = SchedulingStep("itself", NOWHERE, after="itself")
TYPED = SchedulingStep("typed", NOWHERE, after="tileify", cost=cast(str, len))
NO_STEP = "a text"


@pytest.fixture
def announce(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., list[str]]]:
    """A function that announces rows of this module, by their names in it."""

    def of(**rows: str) -> list[str]:
        group = scheduling_steps.STEP_GROUP
        points = [
            EntryPoint(n.replace("_", "-"), f"{__name__}:{v}", group) for n, v in rows.items()
        ]

        def find(group: str) -> EntryPoints:
            return EntryPoints(points).select(group=group)

        monkeypatch.setattr(scheduling_steps, "entry_points", find)
        scheduling_steps.scheduling_steps.cache_clear()
        return [step.name for step in scheduling_steps.scheduling_steps()]

    yield of
    scheduling_steps.scheduling_steps.cache_clear()
    scheduling_steps.added_steps.cache_clear()
    scheduling_steps.step_named.cache_clear()


def test_steps_of_packages_come_after_the_step_they_name(
    announce: Callable[..., list[str]],
) -> None:
    names = announce(beside="BESIDE", behind="BEHIND", again="AGAIN", early="EARLY")
    ours = [step.name for step in STEPS]
    at = ours.index("async-copy") + 1
    assert names == ["early", *ours[:at], "again", "behind", "beside", *ours[at:]]


def test_a_step_without_taste_or_cost_runs_only_where_it_is_planned(
    announce: Callable[..., list[str]],
) -> None:
    announce(beside="BESIDE", chosen="CHOSEN")
    assert ",beside{planned_only=true},chosen,pad-smem," in to_tile()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"late": "LATE"}, "'mark-unroll' closes a schedule: no step runs after it"),
        ({"lost": "LOST"}, "it runs after 'async-copi', which is no step"),
        ({"pad_smem": "OURS"}, "there is another pass 'pad-smem'"),
        ({"cse": "CSE"}, "there is another pass 'cse'"),
        ({"here": "HERE", "there": "THERE"}, "run after each other: 'here' and 'there'"),
        ({"itself": "ITSELF"}, "it runs after itself"),
        ({"typed": "TYPED"}, "its 'cost' is not a string such as 'package.module:name'"),
        ({"other": "BESIDE"}, "calls itself 'beside'"),
        ({"beside": "NO_STEP"}, "it is not a SchedulingStep"),
        ({"beside": "MISSING"}, "has no attribute 'MISSING'"),
    ],
)
def test_rows_without_a_place_are_refused(
    announce: Callable[..., list[str]], rows: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        announce(**rows)


def test_an_unknown_place_has_a_remedy(announce: Callable[..., list[str]]) -> None:
    with pytest.raises(UsageError) as refused:
        announce(lost="LOST")
    assert refused.value.remedy == "did you mean async-copy?"


def test_a_row_must_name_an_existing_pass() -> None:
    with pytest.raises(UsageError, match="'beside' names 'no_such_package:Pass', but"):
        BESIDE.resolved(BESIDE.path)
