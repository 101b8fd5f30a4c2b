# SPDX-License-Identifier: Apache-2.0
"""The command for GPU machines: how it handles its checks; some of them run on the simulator."""

import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu_checks import bitwise, counters, drivers, sanitizer, suite
from gpu_checks.command import main
from gpu_checks.device import Device
from gpu_checks.launched import launch
from gpu_checks.outcome import Outcome, Verdict, missing, right, wrong
from gpu_checks.places import ROOT
from gpu_checks.programs import PROGRAMS
from gpu_checks.record import Record
from gpu_checks.run import Runner
from gpu_checks.stage import STAGES, Stage, stage_named
from gpu_checks.worker import serve
from needs import needs_no_gpu, needs_nvrtc

from tilewright.codegen.runtime.driver import DriverError
from tilewright.errors import UsageError
from tilewright.matrix_sums import MatrixSums
from tilewright.tools import cli

SIMULATOR, GPU = Device("simulator"), Device("gpu")


def found(record: Record) -> dict[str, str]:
    """Return the text of each check in a record."""
    return {item: outcome.says for _, item, outcome in record}


# A worker that answers each request with the action that the item names.
SCRIPT = """
import json, os, sys, time
for line in sys.stdin:
    item = json.loads(line)["item"]
    if item == "hangs":
        time.sleep(600)
    if item == "crashes":
        print("a last word", file=sys.stderr)
        os._exit(7)
    verdict = "wrong" if item == "fails" else "right"
    says = f"{item} in {os.getpid() if item == 'pid' else 'time'}"
    print(json.dumps({"verdict": verdict, "says": says, "figures": {}, "seconds": 0.5}), flush=True)
"""
ITEMS = ["first", "hangs", "crashes", "fails", "last"]


def stage(items: Sequence[str], limit_s: float = 60.0) -> Stage:
    """Return a stage of checks that only `SCRIPT` can run."""

    def check(device: Device, item: str) -> Outcome:
        raise AssertionError("not here")

    return Stage("scripted", lambda _: [*items], check, 1.0, limit_s)


def runner(folder: Path, seconds: float = 60.0, only: str = "", retry: bool = False) -> Runner:
    """Return a runner of stages, which runs one check at a time."""
    record = Record(folder / "check.json", {"device": "gpu", "gpu": "none", "sources": "now"})
    record.take(folder / "check.json")

    def command(stage: Stage) -> Sequence[str]:
        return [sys.executable, "-c", SCRIPT]

    return Runner(GPU, record, monotonic() + seconds, 1, lambda _: None, only, retry, command)


def test_other_checks_run_after_a_hang_or_a_crash(tmp_path: Path):
    runs = runner(tmp_path)
    assert runs.run(stage(ITEMS, limit_s=2.0)) == 0
    texts = found(runs.record)
    assert list(texts) == ITEMS
    assert texts["hangs"] == "killed: no sign of life for 2 s"
    assert texts["crashes"] == "the process ended with code 7: a last word"
    assert [v.verdict for *_, v in runs.record] == ["right", "wrong", "wrong", "wrong", "right"]


def test_finished_checks_are_not_run_again(tmp_path: Path):
    assert runner(tmp_path, only="pid").run(stage(["pid", "first"])) == 0
    before = found(runner(tmp_path).record)
    again = runner(tmp_path)
    assert again.run(stage(["pid", "first"])) == 0
    assert {**found(again.record), "first": ""} == {**before, "first": ""}
    assert list(before) == ["pid"]
    assert runner(tmp_path, retry=True).run(stage(["pid"])) == 0
    assert found(runner(tmp_path).record)["pid"] == before["pid"]  # a right result is not retried
    other = Record(tmp_path / "x", {"device": "gpu", "gpu": "none", "sources": "later"})
    other.take(tmp_path / "check.json")
    assert found(other) == {}


def test_checks_without_enough_time_remain(tmp_path: Path):
    runs = runner(tmp_path, seconds=1.0)
    assert runs.run(stage(["hangs", "first", "last"])) == 3
    assert found(runs.record) == {}


@pytest.fixture
def accepts_interrupts() -> Iterator[None]:
    """SIGINT interrupts, even if tests run in a shell's background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_it_at_once(accepts_interrupts: None, tmp_path: Path):
    runs = runner(tmp_path, seconds=60.0)
    runs.print_line = lambda _: os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        runs.run(stage(["first", "hangs", "last"], limit_s=60.0))
    assert [*found(runner(tmp_path).record)] == ["first"]
    assert runs.left_s > 30


def test_a_file_of_something_else(tmp_path: Path):
    (tmp_path / "check.json").write_text("[]")
    with pytest.raises(UsageError, match="is not a file of checks"):
        runner(tmp_path)


def test_a_worker_reports_errors_and_ends_on_a_device_that_may_be_lost():
    def check(device: Device, item: str) -> Outcome:
        if item == "bad":
            raise DriverError("kernel 'k' failed")
        return right(item)

    checks = Stage("checks", lambda _: [], check, 1.0, 1.0)
    requests = [json.dumps({"item": item}) for item in ("good", "bad", "good")]
    for device, expected in ((SIMULATOR, "right wrong right"), (GPU, "right wrong")):
        sent: list[dict[str, Any]] = []
        serve(checks, device, requests, sent.append)
        assert [each["verdict"] for each in sent] == expected.split()
        assert "kernel 'k' failed" in sent[1]["says"]


def test_errors_of_others_are_reported_in_one_line():
    def check(device: Device, item: str) -> Outcome:
        raise ModuleNotFoundError("No module named\n  'filelock'")

    sent: list[dict[str, Any]] = []
    checks = Stage("checks", lambda _: [], check, 1.0, 1.0)
    serve(checks, SIMULATOR, [json.dumps({"item": "bad"})], sent.append)
    assert sent[0]["says"].startswith("ModuleNotFoundError: No module named 'filelock' (")
    assert "test_gpu_check.py" in sent[0]["says"]


NCU = """\
==PROF== Connected to process 4711 (/usr/bin/python3.12)
==PROF== Profiling "softmax" - 0: 0%....50%....100% - 2 passes
launched softmax
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",\
"Grid Size","Device","CC","gpu__time_duration.sum",\
"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",\
"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",\
"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"
"","","","","","","","","","","","ns","","","sector","sector"
"0","4711","python3.12","127.0.0.1","softmax","1","7","(128, 1, 1)","(8, 1, 1)","0","9.0",\
"3,904","256","64","1,512","512"
"""
NCU_LONG = """\
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","1","one","gpu__time_duration.sum","ns","1,000"
"0","1","one","launch__waves","","n/a"
"1","1","two","gpu__time_duration.sum","ns","20.5"
"""
NO_PERMISSION = """\
==PROF== Connected to process 4711 (/usr/bin/python3.12)
==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance \
Counters on the target device 0.
"""


def test_output_of_ncu():
    ((name, metrics),) = counters.profiled(NCU)
    assert name == "softmax"
    assert metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 1512
    assert metrics["gpu__time_duration.sum"] == 3904
    assert [(name, dict(m)) for name, m in counters.profiled(NCU_LONG)] == [
        ("one", {"gpu__time_duration.sum": 1000}),
        ("two", {"gpu__time_duration.sum": 20.5}),
    ]


def test_where_ncu_gives_no_counters():
    assert counters.no_profile(NCU) is None
    refused = counters.no_profile(NO_PERMISSION)
    assert refused is not None
    assert refused.verdict == "missing"
    assert "ERR_NVGPUCTRPERM" in refused.says
    failed = counters.no_profile("==ERROR== Failed to initialize the profiler: LibraryNotLoaded\n")
    assert failed == missing(
        "ncu gives no counters: ==ERROR== Failed to initialize the profiler: LibraryNotLoaded"
    )
    assert counters.unknown("==ERROR== Failed to find metric b.sum\n", ["a.sum", "b.sum"]) == [
        "b.sum"
    ]


def simulated(**counts: int) -> Any:
    """Return the simulator's counters: `global_ld=512`."""
    rows = [(*name.split("_"), number) for name, number in counts.items()]
    return SimpleNamespace(
        accesses=[SimpleNamespace(space=s, operation=o, transactions=n) for s, o, n in rows]
    )


def test_counters_are_compared():
    ((name, metrics),) = counters.profiled(NCU)

    def judged(**counts: int) -> Outcome:
        return counters.judged([(name, metrics, simulated(**counts))])

    same = {"global_ld": 1512, "global_st": 512, "shared_ld": 256, "shared_st": 62}
    assert judged(**same) == right("1 launches agree", **judged(**same).figures)
    assert judged(**{**same, "global_ld": 1000}).says == "softmax: ld sectors 1512, simulated 1000"
    assert judged(**{**same, "shared_ld": 512}).says == "softmax: ld wavefronts 256, simulated 512"
    assert judged(**{**same, "global_ld": 1000, "global_cp": 512}).verdict == "right"  # not judged
    few = counters.judged([(name, {}, simulated())])
    assert few.verdict == "missing"
    assert "does not report l1tex__" in few.says


CLEAN = "========= COMPUTE-SANITIZER\nlaunched rms_norm\n========= ERROR SUMMARY: 0 errors\n"
OUT_OF_BOUNDS = """\
========= COMPUTE-SANITIZER
========= Invalid __global__ read of size 4 bytes
=========     at planted+0x60 in kernels.cu:1
=========     by thread (0,0,0) in block (0,0,0)
=========     Access to 0x7f4a58000000 is out of bounds
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernelEx in libcuda.so.1
=========
========= Target application returned an error
========= ERROR SUMMARY: 64 errors
"""
RACE = """\
========= COMPUTE-SANITIZER
launched planted.race
========= Error: Race reported between Write access at planted+0x90 in kernels.cu:1
=========     and Read access at planted+0xb0 in kernels.cu:1 [256 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
REFUSED = "========= COMPUTE-SANITIZER\n========= Error: Device not supported\n"


def test_output_of_compute_sanitizer():
    assert sanitizer.judged(CLEAN, 0, ["rms_norm"]).verdict == "right"
    assert sanitizer.judged(CLEAN, 1, ["rms_norm", "sdpa"]).says == (
        "nothing reported, but sdpa did not run (exit code 1)"
    )
    bounds = sanitizer.judged(OUT_OF_BOUNDS, 1, ["rms_norm"])
    assert bounds.verdict == "wrong"
    assert bounds.says == "64 reported; first: Invalid __global__ read of size 4 bytes"
    assert sanitizer.judged(REFUSED, 1, ["rms_norm"]).verdict == "missing"
    assert sanitizer.judged("nothing", 1, ["rms_norm"]).verdict == "missing"


def test_planted_bugs_must_be_found():
    assert "Race reported between" in sanitizer.judged_planted(RACE).says
    assert [sanitizer.judged_planted(text).verdict for text in (RACE, CLEAN, REFUSED)] == [
        "right",
        "wrong",
        "missing",
    ]


@needs_nvrtc
def test_the_simulator_finds_them_too(capsys: pytest.CaptureFixture[str]):
    assert launch(SIMULATOR, ["matmul.k1"]) == 0
    assert capsys.readouterr().out == "launched matmul.k1\n"
    for planted in ("planted.bounds", "planted.race"):
        with pytest.raises(DriverError, match="kernel 'planted' failed"):
            launch(SIMULATOR, [planted])


def test_bits():
    ptx = "ld.shared.f32 a; ex2.approx.ftz.f32 b; red.global.add.f32 c; @p atom.global.add.u32 d;"
    assert bitwise.free(ptx) == [".approx", "atom.", "red."]
    assert bitwise.free("div.full.f32 %f1, %f2, %f3;") == ["div.full"]
    assert bitwise.free("ld.shared.f32 %f1, [%r1]; mul.f32 a; div.rn.f32 b;") == []
    one, nan = (np.array([first, 1.0, 2.0], np.float32) for first in (0.0, np.nan))
    near = one * np.float32(1 + 1e-6)
    assert bitwise.judged([nan], [nan.copy()], []).says == "equal to the bit, 3 elements"
    other_nan = np.array([0xFFC00001, 0x3F800000, 0x40000000], np.uint32).view(np.float32)
    assert bitwise.judged([nan], [other_nan], []).verdict == "right"
    minus = np.array([-0.0, 1.0, 2.0], np.float32)
    assert bitwise.judged([one], [minus], []).verdict == "wrong"
    assert bitwise.judged([one], [near], []).verdict == "wrong"
    assert bitwise.judged([one], [near], [".approx"]).verdict == "right"
    assert bitwise.judged([one], [nan], [".approx"]).verdict == "wrong"
    specials = np.array([np.inf, 1, 2], np.float32), np.array([-np.inf, 1, 2], np.float32)
    assert bitwise.judged([specials[0]], [specials[1]], [".approx"]).verdict == "wrong"
    assert bitwise.judged([specials[0]], [nan], [".approx"]).verdict == "wrong"
    assert bitwise.judged([one[:0]], [one[:0]], []).verdict == "right"
    half, next_half = (np.array([1.0, first], "float16") for first in (0.5, 0.5005))
    assert bitwise.judged([half], [next_half], []).verdict == "wrong"
    assert bitwise.judged([half], [next_half], [".approx"]).verdict == "right"


def test_the_nearer_model_of_matrix_instructions_is_named():
    differing, equal = wrong("2 of 4 elements differ", differing=2), right("equal to the bit")
    found = bitwise.nearest({MatrixSums.ROUNDED_ONCE: differing, MatrixSums.TRUNCATED: equal})
    assert found == right("equal to the bit; sums of matrix instructions as truncated")
    assert bitwise.nearest({MatrixSums.ROUNDED_ONCE: differing}) is differing


def test_the_race(tmp_path: Path):
    file = tmp_path / "suite84.json"
    whole = suite.WHOLE[0]
    assert suite.outcomes(whole, file) == ({}, 84)
    assert suite.outcomes(suite.DOZEN, file) == ({}, 12)
    figures = {"us": 3.25, "floor_us": 1.625, "vs_eager": 1.5, "vs_compile": None}
    row = {"name": "softmax.qwen.s32", "problem": "", **figures, "roofline": 0.5}
    bad = {"name": "sdpa.qwen.s128", "problem": "the result is wrong", "us": None}
    file.write_text(json.dumps({"cases": [row, bad]}))
    done, left = suite.outcomes(whole, file)
    assert left == 82
    says = "3.25 us, 1.50x eager, 50 % of the roofline"
    assert done["softmax.qwen.s32"] == right(says, **figures)
    assert done["sdpa.qwen.s128"].verdict is Verdict.WRONG
    assert suite.outcomes(suite.DOZEN, file).left == 11
    slow = {**bad, "problem": "killed: no sign of life for 60 s (comparing)"}
    file.write_text(json.dumps({"cases": [slow]}))
    assert suite.outcomes(whole, file).done["sdpa.qwen.s128"].verdict is Verdict.MISSING


@needs_no_gpu
def test_bench_accepts_the_command_of_the_race(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    for raced in suite.SUITES:
        command = suite.command(raced, tmp_path / "x.json", "eager,compile", 100, retry=True)
        assert command[:4] == [sys.executable, "-m", "tilewright.tools.cli", "bench"]
        assert cli.main(command[3:]) == 1
        assert "timing needs a GPU" in capsys.readouterr().err  # the options are accepted


def test_a_race_that_takes_too_long_is_interrupted(tmp_path: Path):
    script = "import time\ntry: time.sleep(60)\nexcept KeyboardInterrupt: print('ended')"
    ours = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in a shell's background
    try:
        with (tmp_path / "log").open("w") as log:
            suite.run_for(6.5, [sys.executable, "-I", "-S", "-c", script], log)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, ours)
    assert (tmp_path / "log").read_text() == "ended\n"


def test_the_race_finds_our_packages_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "log").open("w") as log:
        suite.run_for(60, [sys.executable, "-c", "import os; print(os.getcwd())"], log)
    assert (tmp_path / "log").read_text() == f"{ROOT}\n"


def test_tests_of_drivers_find_our_packages_from_anywhere(monkeypatch: pytest.MonkeyPatch):
    folders: list[Path | None] = []

    def asked(command: Sequence[str], folder: Path | None = None) -> tuple[int, str]:
        folders.append(folder)
        return 0, "11 passed in 1.00s"

    monkeypatch.setattr(drivers, "output_of", asked)
    assert drivers.check(SIMULATOR, "simulator") == right("11 passed in 1.00s")
    assert folders == [ROOT]


def test_every_stage_has_checks():
    counts = {stage.name: len(stage.items(GPU)) for stage in STAGES}
    assert min(counts.values()) > 0
    names = stage_named("correctness").items(GPU)
    assert len(names) == len(set(names))
    assert {f"program/{name}" for name in PROGRAMS} < set(names)
    assert stage_named("counters").items(SIMULATOR) == []


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("environment", "NVRTC"),
        ("frontend", "expression.statements"),
        ("correctness", "program/lies.strided"),
        ("correctness", "half/matmul.tinyllama.q_proj.s128.bf16"),
        ("correctness", "behaviour/mutation"),
        ("correctness", "ops/tilewright.dialects.torch.attention"),
        ("bitwise", "matmul.k1"),
        ("bitwise", "matmul.warpgroups"),
    ],
)
def test_a_check_on_the_simulator(name: str, item: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "path", [*sys.path])  # a check imports the cases of tests from it
    checked = stage_named(name)
    assert item in checked.items(SIMULATOR)
    outcome = checked.check(SIMULATOR, item)
    assert outcome.verdict is Verdict.RIGHT, outcome.says


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    options = ["--device", "simulator", "--stages", "environment", "--only", "xdsl"]
    absent = ["--resume", str(tmp_path / "no")]
    assert main([*options, "--out", str(tmp_path / "one"), *absent]) == 0
    written = json.loads((tmp_path / "one" / "check.json").read_text())
    assert written["checks"]["environment"]["xdsl"]["verdict"] == "right"
    assert "xdsl" in (tmp_path / "one" / "check.txt").read_text()
    printed = capsys.readouterr()
    assert "environment xdsl: right" in printed.out
    assert f"note: there is no '{tmp_path}/no/check.json' to resume" in printed.err
    resumed = ["--out", str(tmp_path / "two"), "--resume", str(tmp_path / "one")]
    assert main([*options, *resumed]) == 0
    assert "environment xdsl: right" not in capsys.readouterr().out


@needs_no_gpu
def test_without_a_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["--stages", "bitwise,suite", "--out", str(tmp_path)]) == 3
    assert "there is no GPU" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["--seconds", "-4"], "'-4' is not a number of seconds"),
        (["--jobs", "0"], "'0' is not a positive number of jobs"),
        (["--only", "xdlsl"], "no check of these stages has 'xdlsl' in its name"),
        (["--out", "/dev/null/x"], "cannot write into '/dev/null/x': Not a directory"),
    ],
)
def test_mistakes(
    argv: list[str], complaint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "out"
    options = ["--device", "simulator", "--stages", "environment", "--out", str(out)]
    try:
        code = main([*options, *argv])
    except SystemExit as err:
        code = err.code
    assert code == 2
    assert complaint in capsys.readouterr().err
    assert not out.exists()
