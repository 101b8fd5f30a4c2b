# SPDX-License-Identifier: Apache-2.0
"""`make gpu` on the simulator instead of a GPU: its checks, its JSON and its page."""

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from gpu_checks.command import main
from gpu_checks.micro import MICROS, judged
from gpu_checks.outcome import missing, right, wrong
from gpu_checks.places import ROOT
from gpu_checks.record import Record
from gpu_checks.tables import PAGE, print_record
from needs import needs_nvrtc

STAGES = "frontend,correctness,occupancy,micro,race,counters,sanitizer,estimates,suite,level1"


@needs_nvrtc
def test_a_dry_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    options = ["--device", "simulator", "--jobs", "1", "--out", str(tmp_path)]
    assert main([*options, "--stages", "micro"]) == 0
    assert "micro micro.cu: right: compiles" in capsys.readouterr().out
    assert main([*options, "--stages", STAGES, "--only", "matmul.k1"]) == 0
    assert "micro.cu" not in capsys.readouterr().out.splitlines()[0]  # which is already done
    found = json.loads((tmp_path / "check.json").read_text())
    assert {stage: [*checks] for stage, checks in found["checks"].items()} == {
        "micro": ["micro.cu"],
        "correctness": ["program/matmul.k1"],
    }
    assert found["disagreements"] == []
    page = (tmp_path / PAGE).read_text()
    assert "correctness  program/matmul.k1  right" in page
    assert page.rstrip().endswith("disagrees  check  factor")


def test_the_page_ends_with_disagreements(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    record = Record(tmp_path / "check.json", {"device": "gpu", "gpu": "H100", "sources": "now"})
    record.add("micro", "mufu", judged(MICROS["mufu"], 8.0, 4.0))
    record.add("bitwise", "softmax.100", wrong("1 of 4 elements differ"))
    record.add("race", "softmax.tinyllama.s512", right("20.00 us", us=20.0))
    record.add("estimates", "suite84/softmax.tinyllama.s512", right("5.0 us, 1 kernels", us=5.0))
    record.add("counters", "rms_norm", missing("ncu is not found"))
    print_record(record, Counter(race=11), tmp_path)
    page, printed = (tmp_path / PAGE).read_text(), capsys.readouterr().out
    for text in (page, printed):
        *_, head, first, second, third = text[: text.index("8: 16 lanes") + 40].splitlines()
        assert head.split() == ["disagrees", "check", "factor"]
        assert first.split()[:4] == ["bitwise", "softmax.100", "1", "of"]
        assert second.split()[:3] == ["race", "softmax.tinyllama.s512", "4.00"]
        assert third.split()[:3] == ["micro", "mufu", "2.00"]
    assert printed.endswith("repeat the command to run the remaining checks\n")
    ranked = json.loads((tmp_path / "check.json").read_text())["disagreements"]
    assert [each["factor"] for each in ranked] == [None, 4.0, 2.0]


def test_make_gpu_is_this_command():
    command = ["make", "-n", "-o", ".venv/ready", "gpu", "GPU_SECONDS=60", "GPU_ARGS=--retry"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    script, _, rest = printed.partition(" --seconds 60 --retry || test $? -eq 3\n")
    assert (script, rest) == (".venv/bin/python benchmarks/gpu_check.py", "")
