# SPDX-License-Identifier: Apache-2.0
"""Answers of the measuring process, run in this process and on the CPU."""

import json
import os
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from scripted_device import ScriptedDevice

from tilewright.codegen.timing.isolated import own_stdout, sender
from tilewright.tools.bench.contest import Contest
from tilewright.tools.bench.contestants import Prepare, eager
from tilewright.tools.bench.environment import sources
from tilewright.tools.bench.suite import Case
from tilewright.tools.bench.worker import serve

RELU = Case("relu", "relu", "torch.relu(t0)", ((4, 8),), {}, 1, 1, 1, 1.0)
WRONG = Case("wrong", "relu", "torch.relu(t9)", ((4, 8),), {}, 1, 1, 1, 1.0)


def asked(contest: Contest, *cases: Case) -> list[dict[str, Any]]:
    """Return the worker's replies to requests for the cases, one for each line."""
    requests = [json.dumps({"case": asdict(case), "left_out": {}}) for case in cases]
    replies = StringIO()
    serve(contest, requests, sender(replies))
    return [json.loads(line) for line in replies.getvalue().splitlines()]


def contest(device: ScriptedDevice | None = None, ours: Prepare = eager) -> Contest:
    """Return a contest on the CPU."""
    return Contest(device or ScriptedDevice(l2_bytes=100), {"ours": ours, "eager": eager})


def test_phases_and_a_row() -> None:
    *phases, last = asked(contest(), RELU)
    assert [reply["phase"] for reply in phases] == [
        *("capturing", "comparing", "ours: compiling", "ours: running"),
        *("eager: compiling", "eager: running", "timing"),
    ]
    row = last["row"]
    assert {*row} >= {
        *("name", "us", "eager_us", "compile_us", "vs_eager", "vs_compile", "roofline"),
    }
    assert (row["name"], row["shapes"], row["problem"]) == ("relu", [[4, 8]], "")


def test_an_invalid_case_is_a_row() -> None:
    wrong, *_, fine = [reply["row"] for reply in asked(contest(), WRONG, RELU) if "row" in reply]
    assert wrong["problem"].startswith("failed: ")
    assert "t9" in wrong["problem"]
    assert (wrong["us"], fine["problem"]) == (None, "")


def test_it_ends_when_the_device_is_lost() -> None:
    class Broken(ScriptedDevice):
        def wait(self) -> None:
            raise RuntimeError("an illegal memory access was encountered")

    *_, last = asked(contest(Broken(l2_bytes=100)), RELU, RELU)
    assert last["lost"] is True
    assert last["row"]["problem"].startswith("failed: ours: RuntimeError: an illegal memory")


def test_other_output_does_not_mix_with_replies(capfd: pytest.CaptureFixture[str]) -> None:
    saved = os.dup(1)
    try:
        stream = own_stdout()
        os.write(1, b"chatter\n")
        sender(stream)({"phase": "timing"})
        stream.close()
    finally:
        os.dup2(saved, 1)
        os.close(saved)
    out, err = capfd.readouterr()
    assert (out, err) == ('{"phase": "timing"}\n', "chatter\n")


def test_sources_have_one_name() -> None:
    assert len(sources()) == 16
    assert sources() == sources()
    assert Path(__file__).suffix == ".py"
