# SPDX-License-Identifier: Apache-2.0
"""Schedules are stored with canonical names of a kernel's inputs, and read with another's names."""

from dataclasses import fields
from typing import get_type_hints

import pytest

from tilewright.passes import get_all_passes
from tilewright.passes.scheduling_steps import STEPS
from tilewright.tuning.operand_names import from_canonical, to_canonical

OWN = "stage-inputs{raw=w,x-1 computed=x none=bias},pad-smem{pad=4 slabs=xs,xs-1,ws},mark-unroll"
KEPT = (
    "stage-inputs{raw=arg1,arg0-1 computed=arg0 none=arg2},"
    "pad-smem{pad=4 slabs=arg0s,arg0s-1,arg1s},mark-unroll"
)


def test_names_go_and_come_back() -> None:
    assert to_canonical(OWN, ["x", "w", "bias"]) == KEPT
    assert from_canonical(KEPT, ["x", "w", "bias"]) == OWN
    other = from_canonical(KEPT, ["q", "k", "v"])
    assert other.startswith(
        "stage-inputs{raw=k,q-1 computed=q none=v},pad-smem{pad=4 slabs=qs,qs-1"
    )


def test_names_may_be_each_others_slabs() -> None:
    schedule = "stage-inputs{raw=x,xs},tma-copy{slabs=xs,xss}"
    kept = to_canonical(schedule, ["xs", "x"])
    assert kept == "stage-inputs{raw=arg1,arg0},tma-copy{slabs=arg1s,arg0s}"
    assert from_canonical(kept, ["xs", "x"]) == schedule


def test_inputs_of_one_name_share_it() -> None:
    schedule = "stage-inputs{raw=matmul,matmul-1},pad-smem{pad=4 slabs=matmuls-1}"
    kept = to_canonical(schedule, ["b", "matmul", "matmul"])
    assert kept == "stage-inputs{raw=arg1,arg1-1},pad-smem{pad=4 slabs=arg1s-1}"
    assert from_canonical(kept, ["y", "mm", "mm"]).endswith("slabs=mms-1}")


def test_inputs_without_names_have_the_names_of_schedules() -> None:
    schedule = "stage-inputs{raw=arg0,x},pad-smem{pad=4 slabs=slab,xs}"
    kept = to_canonical(schedule, ["", "x"])
    assert kept == "stage-inputs{raw=arg0,arg1},pad-smem{pad=4 slabs=slab,arg1s}"
    assert from_canonical(kept, ["", "x"]) == schedule


@pytest.mark.parametrize(
    "schedule", ["tileify", "stage-inputs{raw=unknown}", "a{raw=4 slabs=true}", "no(pipeline", "a{"]
)
def test_other_words_are_unchanged(schedule: str) -> None:
    assert to_canonical(schedule, ["x"]) == schedule


def test_rows_list_all_options_that_list_names() -> None:
    for step in STEPS:
        kind = get_all_passes()[step.name]()
        hints = get_type_hints(kind)
        listing = {f.name for f in fields(kind) if "str, ..." in str(hints[f.name])}
        assert listing == {*step.operands, *step.slabs}, step.name
