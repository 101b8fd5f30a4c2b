# SPDX-License-Identifier: Apache-2.0
"""`tilewright compile`, `run` and `doctor`: their output and exit codes."""

import atexit
import gc
import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from needs import needs_no_gpu, needs_nvrtc
from safetensors import numpy as safetensors

from tilewright.codegen import nvrtc_library
from tilewright.codegen.gpu import present_gpu
from tilewright.codegen.outcome import Execution
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.passes.driver.levels import LEVELS
from tilewright.tools import opt_tool
from tilewright.tools.cli import command_names, main, parser
from tilewright.tools.commands import compile, run
from tilewright.tools.options import compile as compile_options

from .conftest import Result, Tilewright

MATMUL = "torch.relu(torch.matmul(torch.randn(9,12) + torch.randn(12), torch.randn(12,5)))"
SOFTMAX = "x=torch.randn(5,33); F.softmax(x, -1)"

LOOPS = """\
func.func @main(%x: memref<5x7xf32>, %y: memref<7xf32>) -> memref<5x7xf32> {
  %sum = memref.alloc() : memref<5x7xf32>
  loop.launch @add(%x, %y) -> (%sum) : (memref<5x7xf32>, memref<7xf32>) -> (memref<5x7xf32>)
  func.return %sum : memref<5x7xf32>
}
"""
KERNEL = """\
loop.kernel @add(%x: memref<5x7xf32>, %y: memref<7xf32>) -> (%out: memref<5x7xf32>) {
  loop.for %i in 5, %j in 7 {
    %0 = loop.load %x[%i, %j] : memref<5x7xf32>
    %1 = loop.load %y[%j] : memref<7xf32>
    %2 = arith.addf %0, %1 : f32
    loop.store %2, %out[%i, %j] : memref<5x7xf32>
  }
}
"""

AS_IR = "(tilewright compile --ir torch prints the program as IR)"


def save(tensors: dict[str, np.ndarray[Any, Any]], name: str) -> None:
    """Write a safetensors file in the working folder."""
    safetensors.save_file(tensors, name)  # pyright: ignore[reportUnknownMemberType]


def write(name: str, text: str) -> str:
    """Write a file in the working folder, and return its name."""
    Path(name).write_text(text)
    return name


MODEL = """\
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6)

    def forward(self, x):
        return self.norm(x) * 2

    example_inputs = (torch.ones(4, 6),)

def f(x):
    return x + 1
"""

# --- compile


@pytest.mark.parametrize("expression", ["nn.Dropout(0.5)(torch.randn(4))", "torch.randn(0).exp()"])
def test_a_program_without_kernels_prints_a_comment(tilewright: Tilewright, expression: str):
    result = tilewright("compile", "-c", expression)
    assert (result.code, result.out) == (0, "// no kernels: nothing is computed\n")


@pytest.mark.one_in(6)
@pytest.mark.parametrize("expression", [MATMUL, SOFTMAX])
@pytest.mark.parametrize("level", ["torch", "loop"])
def test_compilation_resumes_from_every_level(
    expression: str, level: str, tilewright: Tilewright, capsys: pytest.CaptureFixture[str]
):
    cuda = tilewright("compile", "-c", expression).out
    path = write("x.mlir", tilewright("compile", "-c", expression, "--ir", level).out)
    assert "__global__" in cuda
    assert statements(tilewright("compile", path).out) == statements(cuda)
    rest = ",".join(f"to-{name}" for name in LEVELS[LEVELS.index(level) + 1 :])
    assert opt_tool.main([path, "-p", rest, "-t", "cuda"]) == 0
    assert statements(capsys.readouterr().out) == statements(cuda)


def statements(cuda: str) -> list[str]:
    """
    Return the lines without comments: they name PyTorch's ops, which IR without locations lacks.
    """
    return [line for line in cuda.splitlines() if not line.lstrip().startswith("//")]


@pytest.mark.parametrize("name", command_names())
def test_a_command_alone_has_all_its_options(name: str, capsys: pytest.CaptureFixture[str]):
    helps = list[str]()
    for each in (parser(), parser(name)):
        with pytest.raises(SystemExit):
            each.parse_args([name, "--help"])
        helps.append(capsys.readouterr().out)
    assert helps[0] == helps[1] != ""


def test_the_commands_know_all_levels():
    assert list(compile_options.LEVELS) == [str(level) for level in LEVELS]


def test_a_level_is_all_that_is_printed(tilewright: Tilewright):
    result = tilewright("compile", "-c", SOFTMAX, "--ir", "tensor")
    assert result.out.startswith("builtin.module {\n  func.func public @main(%x: tensor<5x33xf32>)")
    assert result.out.endswith("\n}\n")
    assert result.err == ""


def test_output_goes_to_a_file(tilewright: Tilewright):
    printed = tilewright("compile", "-c", SOFTMAX)
    assert tilewright("compile", "-c", SOFTMAX, "-o", "x.cu").out == ""
    assert Path("x.cu").read_text() == printed.out


def test_minus_is_stdout(tilewright: Tilewright):
    plain = tilewright("compile", "-c", MATMUL)
    assert tilewright("compile", "-c", MATMUL, "-o", "-") == plain
    assert not Path("-").exists()


def test_a_trace_is_colored(tilewright: Tilewright):
    trace = tilewright("compile", "-c", SOFTMAX, "-vv", "--color", "always", "--ir", "loop").out
    assert "\x1b[32m+  " in trace
    plain = tilewright("compile", "-c", SOFTMAX, "-vv", "--ir", "loop").out
    assert re.sub(r"\x1b\[\d*m", "", trace) == plain


def test_vv_prints_rewrites_before_the_ir(tilewright: Tilewright):
    plain = tilewright("compile", "-c", SOFTMAX, "--ir", "tile").out
    traced = tilewright("compile", "-c", SOFTMAX, "--ir", "tile", "-vv").out
    assert traced.endswith(plain)
    trace = traced.removesuffix(plain)
    assert ">>> t:001_tileify\n" in trace
    assert "\n<<< t:001_tileify\n" in trace


def test_v_prints_skipped_passes_on_stderr(tilewright: Tilewright):
    plain = tilewright("compile", "-c", "torch.randn(4, 8).exp()")
    verbose = tilewright("compile", "-c", "torch.randn(4, 8).exp()", "-v")
    assert verbose.out == plain.out
    assert "cooperative_reduce skipped at exp" in verbose.err


def test_compiling_allocates_nothing(tilewright: Tilewright):
    """Weights of 256 GB are not allocated."""
    expression = "nn.Linear(262144, 262144)(torch.randn(1, 262144))"
    assert (
        "tensor<262144x262144xf32>" in tilewright("compile", "-c", expression, "--ir", "torch").out
    )


# --- run


@needs_nvrtc
def test_a_run_is_reported(tilewright: Tilewright):
    result = tilewright("run", "-c", SOFTMAX, "--target", "sm_90a", "--json", "report.json")
    assert (result.code, result.err) == (0, "wrote report.json\n")
    lines = result.out.splitlines()
    assert lines[0] == "device sim, target sm_90a"
    assert lines[3].split()[:3] == ["0", "5x33", "float32"]
    assert lines[6].split()[0] == "softmax"
    assert lines[-1] == "right"
    report = json.loads(Path("report.json").read_text())
    assert (report["schema"], report["ok"], report["device"]) == (1, True, "sim")
    (output,), (kernel,) = report["outputs"], report["kernels"]
    assert 0 <= output["max_abs_err"] < 1e-6
    assert 0 <= output["torch_max_abs_err"] < 1e-6
    assert (output["shape"], output["dtype"], output["ok"]) == ([5, 33], "float32", True)
    assert kernel["name"] == "softmax"
    assert kernel["grid"] * kernel["block"] >= 5
    assert kernel["smem_bytes"] >= 0
    assert kernel["instructions"] > 5 * 33
    assert kernel["global_sectors"] >= 2 * 5 * 33 * 4 / 32


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize(
    "expression",
    [
        "torch.randn(3, 4)",
        "x = torch.randn(4); (x, x * 2, {'a': (x, 5)})",
        "torch.randn(0, 4) + 1",
        "torch.randn(4, 0).sum(1)",
        "torch.randn(()) * 2",
        "x = torch.tensor([1.0, 0.0, -1.0]); 1 / x + torch.log(x)",
    ],
    ids=["identity", "nested", "empty", "empty sum", "scalar", "special values"],
)
def test_unusual_programs_run_right(expression: str, tilewright: Tilewright):
    result = tilewright("run", "-c", expression)
    assert (result.code, result.out.splitlines()[-1]) == (0, "right")


@needs_nvrtc
def test_values_written_in_place_are_compared_too(tilewright: Tilewright):
    result = tilewright("run", "-c", "x = torch.randn(4); y = x * 2; x.add_(1); x * y")
    assert (result.code, result.out.splitlines()[-1]) == (0, "right")
    rows = [line.split()[:3] for line in result.out.splitlines()[3:5]]
    assert rows == [["0", "4", "float32"], ["1", "4", "float32"]]


@needs_nvrtc
@pytest.mark.parametrize("kind", ["model.py:Net", "model.pt2"])
def test_a_model_is_compiled_and_run(kind: str, tilewright: Tilewright):
    import torch

    write("model.py", MODEL)
    program = torch.export.export(torch.nn.LayerNorm(6).eval(), (torch.ones(4, 6),))
    torch.export.save(program, "model.pt2")
    assert "%x: tensor<4x6xf32>" in tilewright("compile", kind, "--ir", "torch").out.replace(
        "%input", "%x"
    )
    result = tilewright("run", kind)
    assert (result.code, result.err, result.out.splitlines()[-1]) == (0, "", "right")
    result = tilewright("run", kind, "--against", write("x.mlir", ""))
    message = f"error: --against goes with a FILE of IR, not with a model {AS_IR}\n"
    assert (result.code, result.err) == (2, message)


@needs_nvrtc
def test_json_to_stdout_stands_alone(tilewright: Tilewright):
    result = tilewright("run", "-c", MATMUL, "--json", "-")
    assert json.loads(result.out)["ok"]
    assert result.err.endswith("\nright\n")


def test_the_seed_is_that_of_the_inputs(tilewright: Tilewright):
    runs = [tilewright("run", "-c", SOFTMAX, "--seed", seed).out for seed in ("1", "1", "2")]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("level", LEVELS[:-1])
def test_a_file_of_any_level_runs(level: str, tilewright: Tilewright):
    path = write("x.mlir", tilewright("compile", "-c", MATMUL, "--ir", level).out)
    result = tilewright("run", path, "--check", "end")
    assert (result.code, result.err) == (0, "")
    assert "interpreter" in result.out


@needs_nvrtc
def test_a_file_of_cuda_ir_runs_against_another(tilewright: Tilewright):
    high = write("high.mlir", tilewright("compile", "-c", MATMUL, "--ir", "tensor").out)
    assert opt_tool.main([high, "-p", "to-loop,to-tile,to-kernel,to-cuda", "-o", "low.mlir"]) == 0
    alone = tilewright("run", "low.mlir")
    assert (alone.code, alone.err) == (0, "")
    assert "not compared" in alone.out
    assert tilewright("run", "low.mlir", "--against", high).code == 0


@needs_nvrtc
def test_two_different_programs_do_not_match(tilewright: Tilewright):
    one = write("one.mlir", LOOPS + KERNEL)
    other = write("other.mlir", LOOPS + KERNEL.replace("addf", "subf"))
    assert tilewright("run", one, "--against", one).code == 0
    result = tilewright("run", one, "--against", other, "--json", "report.json")
    assert result.code == 1
    assert result.err.startswith("error: output 0 is wrong: the error to --against is ")
    assert result.out.splitlines()[-1] == "wrong"
    assert json.loads(Path("report.json").read_text())["ok"] is False


@needs_nvrtc
def test_nan_of_one_program_is_not_the_other_programs_number(tilewright: Tilewright):
    """0 / 0 is not close to x + y, although their distance is NaN."""
    one = write("one.mlir", LOOPS + KERNEL)
    zeros = KERNEL.replace("addf %0, %1", "subf %0, %0").replace(
        "loop.store %2", "%3 = arith.divf %2, %2 : f32 loop.store %3"
    )
    other = write("other.mlir", LOOPS + zeros)
    for first, second in ((one, other), (other, one)):
        result = tilewright("run", first, "--against", second, "--json", "report.json")
        assert result.code == 1
        assert "output 0 is wrong: element [0, 0] is " in result.err
        header, row = (line.split() for line in result.out.splitlines()[2:4])
        assert (header[5:8], row[4]) == (["to", "--against", "interpreter"], "nan")
        (output,) = json.loads(Path("report.json").read_text())["outputs"]
        assert (output["ok"], output["against_max_abs_err"]) == (False, None)
    assert tilewright("run", other, "--against", other).code == 0


@needs_nvrtc
def test_a_kernel_alone_runs(tilewright: Tilewright):
    assert tilewright("run", write("x.mlir", KERNEL)).code == 0


@needs_nvrtc
def test_inputs_come_from_a_file(tilewright: Tilewright):
    path = write("x.mlir", LOOPS + KERNEL)
    x = np.full((5, 7), np.inf, np.float32)
    y = np.zeros(7, np.float32)
    save({"x": x, "y": y}, "in.safetensors")
    assert tilewright("run", path, "--inputs", "in.safetensors").code == 0
    save({"x": x}, "in.safetensors")
    result = tilewright("run", path, "--inputs", "in.safetensors")
    assert (result.code, result.err) == (
        2,
        "error: 'in.safetensors' has no input called y (has: x)\n",
    )
    save({"x": x.T.copy(), "y": y}, "in.safetensors")
    result = tilewright("run", path, "--inputs", "in.safetensors")
    message = "error: the input 'x' is float32[7, 5], but the program takes float32[5, 7]\n"
    assert (result.code, result.err) == (2, message)
    header = b'{"x":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}'
    Path("in.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0\0")
    result = tilewright("run", path, "--inputs", "in.safetensors")
    assert result.code == 2
    problem = "NumPy does not support its dtype"
    assert result.err.startswith(f"error: cannot read 'in.safetensors': {problem}")


RACE = """\
func.func @main(%x: memref<64xf32>) -> memref<64xf32> {
  %y = memref.alloc() : memref<64xf32>
  loop.launch @all_to_one(%x) -> (%y) : (memref<64xf32>) -> (memref<64xf32>)
  func.return %y : memref<64xf32>
}
cuda.func grid 1 block 64 @all_to_one(%x: !cuda.ptr<f32, const>) -> (%y: !cuda.ptr<f32>) {
  %0 = cuda.builtin thread_idx : i32
  %t = cuda.let %0 : i32
  %zero = cuda.literal 0 : i32
  %1 = cuda.subscript %x[%t] : !cuda.ptr<f32, const>, i32
  cuda.store %1, %y[%zero] : !cuda.ptr<f32>, i32
}
"""


@needs_nvrtc
def test_findings_of_the_simulator_fail_the_run(tilewright: Tilewright):
    """All threads write one element, so the others are never written."""
    write("race.mlir", RACE)
    write(
        "copy.mlir",
        "func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> { func.return %x : tensor<64xf32> }",
    )
    result = tilewright("run", "race.mlir", "--against", "copy.mlir", "--json", "report.json")
    assert result.code == 1
    place, line, unwritten, *_ = result.err.splitlines()
    assert place.startswith("kernels.cu:")
    assert "error: kernel 'all_to_one': race: thread " in place
    assert line == "  y[0] = x[t];"
    assert unwritten == (
        "error: kernel 'all_to_one': output 0 is never written at [1], nor at 62 more"
    )
    assert len(json.loads(Path("report.json").read_text())["errors"]) >= 2


@needs_nvrtc
def test_too_much_work_is_refused_with_the_estimate(
    tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
):
    simulate = SimulatorBackend.run

    def simulate_little(self: SimulatorBackend, *given: Any) -> Execution:
        self.budget = 200_000
        return simulate(self, *given)

    monkeypatch.setattr(SimulatorBackend, "run", simulate_little)
    result = tilewright("run", "-c", "torch.matmul(torch.randn(400,30), torch.randn(30,400))")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: simulating matmul takes about ")
    assert "more than the 2.00e+05 allowed" in result.err
    assert result.err.count("\n") == 1


def test_without_nvrtc_a_run_says_how_to_get_it(
    tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
):
    def unavailable():
        raise nvrtc_library.NvrtcUnavailable("and libnvrtc.so.13 is not found")

    monkeypatch.setattr(nvrtc_library, "load", unavailable)
    result = tilewright("run", "-c", "torch.randn(4) + 1")
    assert (result.code, result.err.endswith("(pip install 'tilewright[cuda]')\n")) == (1, True)
    assert tilewright("compile", "-c", "torch.randn(4) + 1").code == 0
    assert "no: needs NVRTC" in tilewright("doctor").out


# --- Mistakes


@needs_no_gpu
def test_no_gpu(tilewright: Tilewright):
    result = tilewright("run", "-c", SOFTMAX, "--device", "gpu", "--json", "report.json")
    message = "error: there is no GPU to run on: NVIDIA's driver finds none (use the device sim)"
    assert (result.code, result.err) == (1, f"wrote report.json\n{message}\n")
    report = json.loads(Path("report.json").read_text())
    assert (report["ok"], report["errors"]) == (False, [message])


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["compil"],
        ["compile"],
        ["run", "x.mlir", "-c", "torch.randn(3)"],
        ["run", "x.mlir", "--seed", "1", "--inputs", "in.safetensors"],
        ["run", "-c", "torch.randn(3)", "--seed", "one"],
        ["run", "-c", "torch.randn(3)", "--seed", "-1"],
        ["run", "-c", "torch.randn(3)", "--seed", str(2**64)],
        ["compile", "-c", "--ir", "loop"],
        ["compile", "-c", "torch.randn(3)", "--ir", "ptx"],
        ["run", "-c", "torch.randn(3)", "--dev", "sim"],
    ],
    ids=" ".join,
)
def test_wrong_usage(arguments: list[str], tilewright: Tilewright):
    result = tilewright(*arguments)
    assert (result.code, result.out) == (2, "")
    assert "error: " in result.err


# Arguments, exit code, and first line of the error.
MISTAKES = {
    "no expression": (["-c", "1 +"], 2, "<-c>:1:4: error: not a Python expression: invalid syntax"),
    "no tensor": (
        ["-c", "nn.Linear(3, 3)"],
        2,
        "<-c>:1:1: error: the value is of type Linear, not a tensor: call it on an input",
    ),
    "unknown op": (
        ["-c", "torch.fft.fft(torch.randn(4))"],
        1,
        "<-c>:1: error: aten.fft_fft.default (node fft_fft) is not supported: there are no complex",
    ),
    "unsupported dtype": (
        ["-c", "torch.randn(4).to(torch.complex64) + 1"],
        1,
        "<-c>:1: error: the input 't0' has the dtype torch.complex64, which is not supported (dty",
    ),
    "Python without a name": (
        ["model.py"],
        2,
        "error: 'model.py' is Python: name the model in it, as in model.py:NAME (it defines ",
    ),
    "a name that is not there": (["model.py:net"], 2, "error: 'model.py' has no net (did you mean"),
    "no inputs": (["model.py:f"], 2, "error: the inputs of model.py:f are not known (set f."),
    "no such model": (["nowhere.pt2"], 2, "error: cannot read 'nowhere.pt2': No such file"),
    "nothing, and long": (
        ["-c", "x = torch.randn(3);" + 400 * " " + "y"],
        2,
        "<-c>:1:420: error: NameError: name 'y' is not defined; a text knows torch, nn, F and "
        "math\n" + 4 * " " + 119 * " " + "y\n",
    ),
    "arguments that only fake tensors take": (
        ["-c", "F.softmax(torch.randn(3, 4), 2)"],
        2,
        "<-c>:1: error: aten.softmax.int: dim 2 is out of range for rank 2: use -2 to 1",
    ),
    "CUDA": (["x.cu"], 2, "error: 'x.cu' is CUDA: a FILE is IR, as --ir torch, tensor, loop, "),
    "CUDA text": (["cuda.mlir"], 2, "error: 'cuda.mlir' is CUDA: a FILE is IR, as --ir torch, "),
    "no such file": (["nowhere.mlir"], 2, "error: cannot read 'nowhere.mlir': No such file"),
    "unparsable": (["unparsable.mlir"], 2, "unparsable.mlir:1:11: error: expect symbol name"),
    "ill-typed": (["ill_typed.mlir"], 2, "ill_typed.mlir:2:3: error: 'arith.addf': "),
    "unknown target": (
        ["-c", "torch.randn(4) + 1", "--target", "sm_1"],
        2,
        "error: unknown target",
    ),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("command", ["compile", "run"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_clear_line(mistake: str, command: str, tilewright: Tilewright):
    write("unparsable.mlir", "func.func main\n")
    write("model.py", MODEL)
    write("x.cu", "")
    write("cuda.mlir", "// grid 1, block 256\n__device__ float f() {}\n")
    write("ill_typed.mlir", 'func.func @main(%x: f32) {\n  %0 = "arith.addf"(%x) : (f32) -> f32\n}')
    arguments, code, message = MISTAKES[mistake]
    result = tilewright(command, *arguments)
    assert (result.code, result.out) == (code, "")
    assert result.err.startswith(message)
    assert "Traceback" not in result.err


def test_an_empty_file(tilewright: Tilewright):
    result = tilewright("compile", write("x.mlir", "\n"))
    assert (result.code, result.err) == (2, "x.mlir:1:1: error: the input is empty\n")


def test_a_text_that_begins_with_minus(tilewright: Tilewright):
    assert "torch.neg" in tilewright("compile", "-c", "-torch.randn(3)", "--ir", "torch").out


def test_a_warning_is_one_line(tilewright: Tilewright):
    result = tilewright("compile", "-c", "nn.Softmax()(torch.randn(3, 4))")
    assert result.code == 0
    assert result.err.startswith("warning: Implicit dimension choice for softmax")
    assert result.err.count("\n") == 1
    warn = "import warnings; warnings.warn('careful'); torch.randn(3)"
    assert tilewright("compile", "-c", warn).err == "<-c>:1: warning: careful\n"


def test_an_input_without_values_compiles_and_does_not_run(tilewright: Tilewright):
    meta = "torch.randn(3, device='meta') + 1"
    assert tilewright("compile", "-c", meta).code == 0
    error = "error: the input 't0' is on the device meta: it has no values\n"
    assert tilewright("run", "-c", meta).err == error


def test_a_terminal_that_does_not_know_all_characters(monkeypatch: pytest.MonkeyPatch):
    def shown(args: object) -> int:
        print("caf\xe9 \u2603")
        return 0

    printed = io.BytesIO()
    monkeypatch.setattr(compile, "run", shown)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, encoding="latin-1"))
    assert main(["compile", "-c", "torch.randn(3) + 1"]) == 0
    assert printed.getvalue() == b"caf\xe9 \\u2603\n"


def test_a_full_disk(tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch):
    def full(args: object):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compile, "run", full)
    result = tilewright("compile", "-c", "torch.randn(3) + 1")
    assert (result.code, result.err) == (1, "error: cannot write: No space left on device\n")


@pytest.mark.one_in(3)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("argv", [["--version"], ["--help"], ["compile", "--help"]])
def test_a_full_disk_behind_help(argv: list[str]):
    command = [sys.executable, "-m", "tilewright.tools.cli", *argv]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "error: cannot write: No space left on device\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_the_same_error_for_files_and_stdout(tilewright: Tilewright):
    result = tilewright("compile", "-c", "torch.randn(3) + 1", "-o", "/dev/full")
    says = "error: cannot write '/dev/full': No space left on device\n"
    assert (result.code, result.err) == (1, says)


@pytest.mark.parametrize("name", ["a" * 5000, f"{'a' * 5000}.mlir"])
def test_a_name_that_is_too_long_for_a_file(name: str, tilewright: Tilewright):
    for argv in (["compile", name], ["run", "-c", SOFTMAX, "-o", name], ["tune", name]):
        assert tilewright(*argv).code == 2


def test_a_file_that_may_not_be_opened(tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch):
    def closed(args: object):
        raise PermissionError(13, "Permission denied", "/root/model")

    monkeypatch.setattr(compile, "run", closed)
    result = tilewright("compile", "-c", "torch.randn(3) + 1")
    assert (result.code, result.err) == (2, "error: cannot open '/root/model': Permission denied\n")


def test_a_level_above_the_file(tilewright: Tilewright):
    result = tilewright("compile", write("x.mlir", LOOPS + KERNEL), "--ir", "torch")
    assert (result.code, result.err) == (
        2,
        "error: the module is at loop level already, below torch\n",
    )


@pytest.mark.parametrize("option", ["--inputs", "--against"])
def test_options_for_files_only(option: str, tilewright: Tilewright):
    result = tilewright("run", "-c", SOFTMAX, option, write("x", ""))
    assert (result.code, result.err) == (
        2,
        f"error: {option} goes with a FILE of IR, not with -c {AS_IR}\n",
    )


def test_a_file_with_more_dims_than_arrays_have(tilewright: Tilewright):
    kind = f"tensor<{'x'.join(['1'] * 65)}xf32>"
    text = f"func.func @main(%x: {kind}) -> {kind} {{\n  func.return %x : {kind}\n}}"
    result = tilewright("run", write("x.mlir", text))
    error = "error: a value of 65 dims cannot be interpreted: at most 64 can\n"
    assert (result.code, result.err) == (1, error)


def test_a_file_without_anything_to_run(tilewright: Tilewright):
    path = write("x.mlir", LOOPS.replace("@main", "@other") + KERNEL)
    assert tilewright("run", path).err == "error: the file has no function @main to run\n"


def test_a_file_from_stdin(tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch):
    stdin = io.TextIOWrapper(io.BytesIO((LOOPS + KERNEL).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert "__global__" in tilewright("compile", "-").out


@pytest.mark.parametrize("command", [compile, run])
def test_an_interruption_ends_quietly(
    command: object, tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
):
    def interrupted(args: object):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run", interrupted)
    name = "compile" if command is compile else "run"
    assert tilewright(name, "-c", SOFTMAX) == Result(130, "", "")


# --- The rest


def test_doctor_reports_the_working_parts(tilewright: Tilewright):
    result = tilewright("doctor")
    assert (result.code, result.err) == (0, "")
    found = {line.split("  ")[0]: line for line in result.out.splitlines()}
    assert np.__version__ in found["numpy"]
    assert present_gpu() or "no: NVIDIA's driver finds none" in found["run on a GPU"]
    assert "\x1b" not in result.out


def test_color(tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch):
    assert "\x1b[" in tilewright("doctor", "--color", "always").out
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert "\x1b[" in tilewright("doctor").out
    assert "\x1b[" not in tilewright("doctor", "--color", "never").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in tilewright("doctor").out


@needs_nvrtc
def test_nothing_is_cut_off_on_a_narrow_terminal(
    tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "40")
    run = tilewright("run", "-c", "nn.LayerNorm(7)(torch.randn(3, 7))", "--color", "always").out
    assert "layer_norm" in run
    assert "…" not in run + tilewright("doctor", "--color", "always").out


def test_version_and_help(tilewright: Tilewright):
    assert tilewright("--version").out.startswith("tilewright 0.")
    assert 'tilewright run -c "' in tilewright("run", "--help").out


def test_streams_that_the_shell_closed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["compile", "-"]) == 2
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["compile", "-c", "torch.ones(3) + 1", "--ir", "torch"]) == 0
    assert main(["compile", "no/such/file.mlir"]) == 2


def test_garbage_of_a_process_that_ends_is_not_collected(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    command = ["compile", "--ir", "loop", str(tmp_path / "add.mlir")]
    (tmp_path / "add.mlir").write_text(KERNEL)
    enabled: list[bool] = []

    def forgotten(function: object) -> None:
        assert function is gc.freeze

    monkeypatch.setattr(gc, "freeze", lambda: enabled.append(gc.isenabled()))
    monkeypatch.setattr(atexit, "register", forgotten)
    monkeypatch.setattr(sys, "argv", ["tilewright", *command])
    assert main() == 0
    assert enabled == [False]  # frozen before the collector would see all of the program
    printed = capsys.readouterr().out
    assert main(command) == 0
    assert enabled == [False]  # a process that goes on keeps its collector
    assert gc.isenabled()
    assert capsys.readouterr().out == printed
