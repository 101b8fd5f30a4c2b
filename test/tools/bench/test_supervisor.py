# SPDX-License-Identifier: Apache-2.0
"""Measuring processes that hang, die or lose the device, and those that continue."""

from pathlib import Path

import pytest
from faked_supervisor import ENVIRONMENT, Faked, case

from tilewright.errors import TilewrightError
from tilewright.tools.bench.supervisor import worker_command


def test_one_process_answers_many_requests(tmp_path: Path) -> None:
    supervisor = Faked(tmp_path, a="fine", b="fine")
    assert [supervisor.row(case(name))["name"] for name in "ab"] == ["a", "b"]
    assert supervisor.environment == ENVIRONMENT
    supervisor.stop()
    assert supervisor.asked() == ["start", "a", "b"]


def test_a_hanging_process_is_killed_and_the_next_case_gets_a_new_one(tmp_path: Path) -> None:
    supervisor = Faked(tmp_path, limit_s=1.5, a="hang", b="fine")
    row = supervisor.row(case("a"))
    assert row["problem"] == "killed: no sign of life for 1.5 s (ours: running)"
    assert (row["name"], row["us"], row["vs_eager"]) == ("a", None, None)
    assert supervisor.row(case("b"))["problem"] == ""
    supervisor.stop()
    assert supervisor.asked() == ["start", "a", "start", "b"]


def test_a_case_is_measured_without_a_hanging_contestant(tmp_path: Path) -> None:
    supervisor = Faked(tmp_path, limit_s=1.5, a="hang in compile")
    row = supervisor.row(case("a"))
    supervisor.stop()
    killed = "killed: no sign of life for 1.5 s (compile: compiling)"
    assert (row["problem"], row["left_out"]) == ("", {"compile": killed})
    assert supervisor.asked() == ["start", "a", "start", "a"]


def test_a_process_that_dies_is_reported_with_its_last_output(tmp_path: Path) -> None:
    supervisor = Faked(tmp_path, a="die", b="fine")
    row = supervisor.row(case("a"))
    assert row["problem"] == "the process ended with code 3: Segmentation fault (timing)"
    assert supervisor.row(case("b"))["problem"] == ""
    supervisor.stop()


def test_a_process_that_lost_the_device_is_replaced(tmp_path: Path) -> None:
    supervisor = Faked(tmp_path, a="lose", b="fine")
    assert supervisor.row(case("a"))["problem"] == "failed: ours: illegal address"
    assert supervisor.row(case("b"))["problem"] == ""
    supervisor.stop()
    assert supervisor.asked() == ["start", "a", "start", "b"]


def test_a_process_that_does_not_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TilewrightError, match=r"does not start: .*code 1: no GPU today$"):
        Faked(tmp_path, start="no GPU today").start()


def test_the_real_worker_is_started_with_its_backends() -> None:
    command = worker_command(["eager", "compile"], db="mine.sqlite")
    worker = ["-m", "tilewright.tools.bench.worker"]
    assert command[1:] == [*worker, "--backends", "eager,compile", "--db", "mine.sqlite"]
