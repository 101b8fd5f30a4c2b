# SPDX-License-Identifier: Apache-2.0
"""`tilewright compile --host`: one CUDA program of a plan, which needs nothing of ours."""

import shutil
import subprocess
from pathlib import Path

import pytest
from needs import needs_nvrtc

from tilewright.codegen.gpu import present_gpu
from tilewright.tools.cli import main

pytestmark = needs_nvrtc

PROGRAMS = {
    # a matrix product with tensor maps, an intermediate buffer, two results
    "product": "x, w = torch.randn(512, 256), torch.randn(256, 512); y = x @ w; y.softmax(-1), y",
    # a sum that blocks join by counters or atomics; half types and bools; a kernel with the name of
    # a function of the C library
    "others": "x = torch.randn(64, 4096).bfloat16(); x.half() * 2, x > 0, x.float().sum(), x.int(),"
    " torch.randn(8, 4)[torch.tensor([3, 1, 1])]",
    "nothing": "torch.empty(0, 3).exp()",
}


def written(expression: str, folder: Path) -> Path:
    """Write the program's CUDA text to a file, and return its path."""
    path = folder / "x.cu"
    assert main(["compile", "-c", expression, "--host", "-o", str(path)]) == 0
    return path


def test_data_are_written_next_to_the_text(tmp_path: Path):
    path = written("torch.randn(8, 64).t().exp()", tmp_path)
    text = path.read_text()
    assert '"x.bin"' in text
    assert "extern" not in text.replace("extern __shared__", "")
    assert (tmp_path / "x.bin").stat().st_size == 2 * 8 * 64 * 4


def test_the_text_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["compile", "-c", "torch.ones(3).exp()", "--host", "-o", "-"]) == 0
    assert "int main(" in capsys.readouterr().out


def test_a_file_may_have_any_name(tmp_path: Path):
    path = tmp_path / 'a"\\é.cu'
    assert main(["compile", "-c", "torch.ones(3).exp()", "--host", "-o", str(path)]) == 0
    assert r'argv[1] : "a\042\134\303\251.bin";' in path.read_text()


def test_text_is_the_same_each_time(tmp_path: Path):
    files = [tmp_path / "x.cu", tmp_path / "x.bin"]
    first = [written(PROGRAMS["product"], tmp_path), *(f.read_bytes() for f in files)]
    assert first == [written(PROGRAMS["product"], tmp_path), *(f.read_bytes() for f in files)]


needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")


@pytest.mark.one_in(2)
@needs_nvcc
@pytest.mark.parametrize("name", ["product", "others"])
def test_it_compiles_and_runs(name: str, tmp_path: Path):
    check(name, tmp_path)


@needs_nvcc
@pytest.mark.usefixtures("every_case")
def test_no_kernels_compile_and_run(tmp_path: Path):
    check("nothing", tmp_path)


def check(name: str, tmp_path: Path) -> None:
    """Run the program: right on a GPU, otherwise an error, as for missing data."""
    path = written(PROGRAMS[name], tmp_path)
    program = tmp_path / "program"
    command = next(line for line in path.read_text().splitlines() if "nvcc" in line)
    options = command.split()[2:-3]
    subprocess.run(["nvcc", *options, str(path), "-o", str(program)], check=True)
    run = subprocess.run([program], cwd=tmp_path, capture_output=True, text=True, timeout=100)
    if present_gpu() is not None:
        assert (run.returncode, run.stderr) == (0, "")
        return
    sentence = "error: cudaMalloc: CUDA driver version is insufficient for CUDA runtime version\n"
    assert (run.returncode, run.stdout, run.stderr) == (1, "", sentence)
    elsewhere = subprocess.run([program, "nowhere"], capture_output=True, text=True, timeout=100)
    assert (elsewhere.returncode, elsewhere.stderr) == (1, "error: cannot read nowhere\n")


WRONG = {
    "no file": (["--host"], "--host writes two files"),
    "another name": (["--host", "-o", "x.c"], "--host writes two files"),
    "another level": (["--host", "-o", "x.cu", "--ir", "tile"], "--host cannot be combined with"),
    "a report": (["--host", "-o", "x.cu", "--report"], "--host cannot be combined with"),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_mistakes(mistake: str, capsys: pytest.CaptureFixture[str]):
    options, message = WRONG[mistake]
    assert main(["compile", "-c", "torch.ones(3).exp()", *options]) == 2
    assert message in capsys.readouterr().err
