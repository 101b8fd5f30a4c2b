# SPDX-License-Identifier: Apache-2.0
"""`--report` and `--json` of `compile`, and `--report` of `run`."""

import json
from pathlib import Path

import pytest

from tilewright.codegen import nvrtc_library
from tilewright.tools.cli import main

PROGRAM = ["-c", "torch.relu(torch.randn(8, 64))"]
TWO = ["-c", "torch.log_softmax(torch.randn(8, 64), -1) @ torch.randn(64, 64)"]


def test_the_report_stands_in_the_place_of_the_ir(capsys: pytest.CaptureFixture[str]):
    assert main(["compile", *PROGRAM, "--report"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("target sm_90a, H100 SXM\n\nrelu<<<")
    assert "__global__" not in out
    assert err == ""


def test_the_target_is_the_one_asked_for(capsys: pytest.CaptureFixture[str]):
    assert main(["compile", *PROGRAM, "--report", "--target", "sm_120"]) == 0
    assert capsys.readouterr().out.startswith("target sm_120, RTX 5090\n")


def test_several_kernels_have_a_table(capsys: pytest.CaptureFixture[str]):
    assert main(["compile", *TWO, "--report"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["kernel", "grid", "block", "registers"]
    assert first.split()[0] == "log_softmax"


def test_json_beside_the_cuda_text(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["compile", *PROGRAM, "--json", str(tmp_path / "k.json")]) == 0
    assert "__global__" in capsys.readouterr().out
    assert json.loads((tmp_path / "k.json").read_text())["kernels"][0]["name"] == "relu"


def test_json_on_stdout_moves_the_text_to_stderr(capsys: pytest.CaptureFixture[str]):
    assert main(["compile", *PROGRAM, "--report", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["target"] == "sm_90a"
    assert err.startswith("target sm_90a")


def test_json_on_stdout_moves_the_trace_to_stderr(capsys: pytest.CaptureFixture[str]):
    assert main(["compile", *PROGRAM, "-vv", "--json", "-"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["target"] == "sm_90a"
    assert ">>> t:001_tileify" in err


@pytest.mark.parametrize("other", ["-o", "--plan"])
def test_stdout_is_for_one_thing_beside_json(
    capsys: pytest.CaptureFixture[str], other: str
) -> None:
    assert main(["compile", *PROGRAM, "--json", "-", other, "-"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err == f"error: --json - writes to stdout: {other} needs a file\n"


@pytest.mark.parametrize(
    ("one", "other"), [("-o", "--plan"), ("--plan", "--json"), ("-o", "--json")]
)
def test_a_file_is_for_one_output(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, one: str, other: str
) -> None:
    path = tmp_path / "both.txt"
    assert main(["compile", *PROGRAM, one, str(path), other, str(path)]) == 2
    assert f"error: {one} and {other} write the same file" in capsys.readouterr().err
    assert not path.exists()


def test_the_cuda_text_is_still_written_to_its_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    assert main(["compile", *PROGRAM, "--report", "-o", str(tmp_path / "k.cu")]) == 0
    assert "__global__" in (tmp_path / "k.cu").read_text()
    assert "__global__" not in capsys.readouterr().out


def test_a_kernel_without_a_host_function_gets_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    kernel = """loop.kernel @twice(%x: memref<64xf32>) -> (%y: memref<64xf32>) {
      loop.for %i in 64 {
        %v = loop.load %x[%i] : memref<64xf32>
        %w = arith.addf %v, %v : f32
        loop.store %w, %y[%i] : memref<64xf32>
      }
    }"""
    (tmp_path / "k.mlir").write_text(kernel)
    assert main(["compile", str(tmp_path / "k.mlir"), "--report"]) == 0
    assert "twice<<<" in capsys.readouterr().out


def test_a_reported_run_counts_in_the_simulator(capsys: pytest.CaptureFixture[str]):
    assert main(["run", *PROGRAM, "--report"]) == 0
    out = capsys.readouterr().out
    assert "sector factor 1.00 (simulator)" in out
    assert out.endswith("\nright\n")


def test_the_json_of_a_run_has_the_report(capsys: pytest.CaptureFixture[str]):
    assert main(["run", *PROGRAM, "--report", "--json", "-"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["ok"]
    assert content["report"]["kernels"][0]["traffic"]["source"] == "simulator"


def test_a_run_has_no_report_unless_requested(capsys: pytest.CaptureFixture[str]):
    assert main(["run", *PROGRAM, "--json", "-"]) == 0
    assert "report" not in json.loads(capsys.readouterr().out)


def test_without_nvrtc(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    def missing() -> None:
        raise nvrtc_library.NvrtcUnavailable("and it is not found")

    monkeypatch.setattr(nvrtc_library, "load", missing)
    assert main(["compile", *PROGRAM, "--report"]) == 1
    assert "pip install 'tilewright[cuda]'" in capsys.readouterr().err


def test_proofs_have_a_line_and_certificates(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    path = tmp_path / "k.json"
    assert main(["compile", *PROGRAM, "--report", "--prove", "--json", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line.split() for line in lines if line.lstrip().startswith("proofs")]
    count = int(line[1])
    assert count > 4
    assert line[1:] == [f"{count}", "of", f"{count}", "obligations", "proved"]
    (kernel,) = json.loads(path.read_text())["kernels"]
    assert kernel["proofs"]["proved"]
    assert len(kernel["proofs"]["obligations"]) == count
    kinds = [each["kind"] for each in kernel["proofs"]["obligations"]]
    assert kinds[-2:] == ["same", "int"]


def test_reports_have_no_proofs_by_default(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["compile", *PROGRAM, "--report", "--json", str(tmp_path / "k.json")]) == 0
    assert "proofs" not in capsys.readouterr().out
    assert json.loads((tmp_path / "k.json").read_text())["kernels"][0]["proofs"] is None


def test_a_refuted_obligation_is_counted_in_the_report(capsys: pytest.CaptureFixture[str]):
    path = Path(__file__).parents[3] / "examples" / "transpose_without_mask.mlir"
    assert main(["compile", str(path), "--report", "--prove"]) == 0
    assert "proofs         11 of 12 obligations proved, 1 refuted\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--prove adds to the report, and there is none (add --report or --json FILE)"),
        (["--report"], "--prove is about Tile IR, and the program is kernel IR"),
    ],
)
def test_programs_without_tile_ir_or_report_have_no_proofs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: list[str], message: str
):
    path = tmp_path / "relu.mlir"
    assert main(["compile", *PROGRAM, "--ir", "kernel", "-o", str(path)]) == 0
    capsys.readouterr()
    assert main(["compile", str(path), "--prove", *options]) == 2
    assert f"error: {message}\n" in capsys.readouterr().err
