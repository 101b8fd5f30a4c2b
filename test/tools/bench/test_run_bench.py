# SPDX-License-Identifier: Apache-2.0
"""`tilewright run --bench --profile` on the simulator, with a scripted clock."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from needs import needs_nvrtc
from scripted_device import ScriptedDevice

from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.codegen.timing.protocol import Protocol
from tilewright.tools import cli
from tilewright.tools.bench import profile
from tilewright.tools.bench.contest import Contest
from tilewright.tools.bench.contestants import BACKENDS, Ours, Prepare
from tilewright.tools.commands import run
from tilewright.tools.options import backends

from ..conftest import Tilewright

RELU = ["-c", "torch.relu(torch.randn(4, 16))"]
NCU = """\
#!{python}
import json, sys
from pathlib import Path
log = Path(sys.argv[sys.argv.index("--log-file") + 1])
Path("{asked}").write_text(json.dumps(sys.argv[1:]))
log.write_text("{text}")
sys.exit({code})
"""


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> ScriptedDevice:
    """
    A stand-in for a GPU: our kernels run in the simulator and take 10 us, PyTorch's take 30 us.
    """
    device = ScriptedDevice(lambda n: [20.0, 20.0, 60.0, 60.0][n % 4], l2_bytes=64)

    def contest(backends: Sequence[str], target: str, db: str | bool, precision: object) -> Contest:
        peers: dict[str, Prepare] = {name: BACKENDS[name] for name in backends}
        found = {"ours": Ours(SimulatedDriver(), target, db), **peers}
        return Contest(device, found, Protocol(0, 0, least_rounds=1))

    monkeypatch.setattr(run, "gpu_contest", contest)
    monkeypatch.setattr("tilewright.tools.bench.gpu.reason_against_gpu", lambda: None)
    return device


@needs_nvrtc
@pytest.mark.usefixtures("gpu")
def test_times_follow_the_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.json"
    assert cli.main(["run", *RELU, "--bench", "--backends", "eager", "--json", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    begin = lines.index("right")
    head, mine, eager, _, roofline = lines[begin + 2 :]
    assert head.split() == [
        *("us", "quartiles", "A/A", "ours", "is", "TFLOP/s", "TB/s", "roofline", "why", "not"),
    ]
    assert mine.split() == ["ours", "10.00", "0.00", "0.00", "0.00", "0.00", "0", "%"]
    assert eager.split()[:5] == ["eager", "30.00", "0.00", "0.00", "3.00x"]
    assert roofline == "roofline: 0.00 us, for 0 operations and 512 bytes"
    report = json.loads(path.read_text())
    assert report["ok"] is True
    assert (report["bench"]["us"], report["bench"]["vs_eager"]) == (10.0, 3.0)


@pytest.mark.parametrize(
    ("argv", "code", "complaint"),
    [
        ([*RELU, "--bench"], 1, "timing needs a GPU, and there is none: a test (compile -"),
        ([*RELU, "--profile"], 1, "timing needs a GPU"),
        ([*RELU, "--bench", "--device", "sim"], 2, "--bench needs a GPU: the simulator does not"),
        ([*RELU, "--backends", "eager"], 2, "--backends needs --bench"),
        (["x.mlir", "--bench"], 2, "--bench goes with -c or a model, not with a FILE of IR"),
        (["x.mlir", "--profile"], 2, "--profile goes with -c or a model"),
    ],
)
def test_programs_that_cannot_be_timed(
    argv: list[str],
    code: int,
    complaint: str,
    monkeypatch: pytest.MonkeyPatch,
    tilewright: Tilewright,
) -> None:
    monkeypatch.setattr("tilewright.tools.bench.gpu.reason_against_gpu", lambda: "a test")
    Path("x.mlir").touch()
    result = tilewright("run", *argv)
    assert (result.code, result.out) == (code, "")
    assert complaint in result.err


def profiler(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, code: int) -> Path:
    """Put a profiler that logs its arguments on the PATH; return the path of its log."""
    asked, ncu = folder / "asked.json", folder / "ncu"
    ncu.write_text(NCU.format(python=sys.executable, asked=asked, text=text, code=code))
    ncu.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return asked


@needs_nvrtc
@pytest.mark.usefixtures("gpu")
def test_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = profiler(tmp_path, monkeypatch, "relu: 99 % of the bandwidth", 0)
    assert cli.main(["run", *RELU, "--profile", "--seed", "3"]) == 0
    assert capsys.readouterr().out.endswith("\nright\n\nrelu: 99 % of the bandwidth\n")
    argv: list[str] = json.loads(asked.read_text())
    assert argv[argv.index("--kernel-name") + 1] == "regex:^(relu)$"
    program = argv[argv.index(sys.executable) :]
    assert program[1:3] == ["-m", "tilewright.tools.cli"]
    assert program[3:] == ["run", "--device", "gpu", "--seed", "3", *RELU]


@needs_nvrtc
@pytest.mark.usefixtures("gpu")
def test_a_profiler_that_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profiler(tmp_path, monkeypatch, "==ERROR== ERR_NVGPUCTRPERM - no permission", 1)
    assert cli.main(["run", *RELU, "--profile"]) == 1
    error = "error: Nsight Compute failed: ERR_NVGPUCTRPERM - no permission\n"
    assert capsys.readouterr().err == error


@needs_nvrtc
@pytest.mark.usefixtures("gpu")
def test_a_profiler_that_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    profiler(tmp_path, monkeypatch, "", 0)
    monkeypatch.setattr(profile, "_LIMIT_S", 0)
    assert cli.main(["run", *RELU, "--profile"]) == 1
    assert capsys.readouterr().err == "error: Nsight Compute was killed after 0 s\n"


@needs_nvrtc
@pytest.mark.usefixtures("gpu")
def test_a_missing_profiler_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nowhere(name: str) -> None:
        assert name == "ncu"

    monkeypatch.setattr(profile, "find_tool", nowhere)
    assert cli.main(["run", *RELU, "--profile"]) == 0
    out, err = capsys.readouterr()
    assert out.rstrip().endswith("right")
    assert err == "note: no profile: Nsight Compute (ncu) is neither on the PATH nor in CUDA_HOME\n"


def test_the_command_line_knows_all_backends() -> None:
    assert backends.BACKENDS == tuple(BACKENDS)
