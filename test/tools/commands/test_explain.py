# SPDX-License-Identifier: Apache-2.0
"""`tilewright explain`: the text of each kind of kernel, which fits on one screen."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest
from needs import needs_nvdisasm, needs_nvrtc

from tilewright.codegen.report.disassemble import NvdisasmUnavailable
from tilewright.dialects.schedule import parse_spec_list
from tilewright.passes.driver.pipelines import to_tile
from tilewright.tools import cli

from ..conftest import Tilewright

MATMUL = "torch.randn(70, 333) @ torch.randn(333, 50)"
RMS_NORM = "F.rms_norm(torch.randn(32, 2048), (2048,), torch.randn(2048))"
POINTWISE = "F.silu(torch.randn(100, 37)) * 2"
ATTENTION = "q = torch.randn(1, 2, 20, 16); F.scaled_dot_product_attention(q, q, q, is_causal=True)"
TWO = "torch.log_softmax(torch.randn(40, 64), -1) @ torch.randn(64, 40)"
EXPRESSIONS = (MATMUL, RMS_NORM, POINTWISE, ATTENTION, TWO)

SCREEN = 50
"""Most lines of a kernel's explanation, so that it fits on a screen."""

PASSES = [spec.name for spec in parse_spec_list(to_tile())][1:]


def explained(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """Return the output of `explain`, which must succeed."""
    code = cli.main(["explain", *argv])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    return out


def paragraphs(text: str) -> list[list[str]]:
    """Return the lines of each kernel."""
    return [paragraph.splitlines() for paragraph in text.strip().split("\n\n")]


def steps(lines: list[str]) -> dict[str, str]:
    """Return the text of each pass, by its name."""
    found = re.findall(r"^  t:\d{3}     ([\w-]+)(.*(?:\n {12}.*)?)", "\n".join(lines), re.M)
    return dict(found)


def test_a_single_element(capsys: pytest.CaptureFixture[str]) -> None:
    lines = explained(capsys, "-c", "torch.randn(1, 1) @ torch.randn(1, 1)").splitlines()
    assert lines[1] == "  schedule  tileify,mark-unroll{limit=16}"
    assert lines[2] == "  problem   one element"
    assert lines[3].startswith("  decided   one thread does it: ")
    assert lines[4].startswith("  t:001")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_the_explanation_of_every_kernel(
    capsys: pytest.CaptureFixture[str], expression: str
) -> None:
    kernels = paragraphs(explained(capsys, "-c", expression, "--target", "sm_90a"))
    assert len(kernels) == (2 if expression == TWO else 1)
    for name, schedule, *rest in kernels:
        assert re.fullmatch(r"\w+", name)
        assert 10 < len(rest) < SCREEN
        pipeline = schedule.removeprefix("  schedule  ")
        texts = steps(rest)
        assert {*texts} <= {*PASSES}
        # Passes in the schedule were applied, with these options; all others have a reason against
        # them.
        done = {spec.name for spec in parse_spec_list(pipeline)}
        for step, text in texts.items():
            assert text.startswith(": no, ") == (step not in done), (step, text)
            assert step not in done or f"{step}{text.splitlines()[0]}" in pipeline


@pytest.mark.parametrize("expression", ["torch.randn(0, 5).sum(-1)", "x = torch.randn(3); x"])
def test_a_program_without_kernels(capsys: pytest.CaptureFixture[str], expression: str) -> None:
    assert explained(capsys, "-c", expression) == "no kernels: nothing is computed\n"


def test_a_matmul_lists_the_schedules_it_weighed(capsys: pytest.CaptureFixture[str]) -> None:
    (lines,) = paragraphs(explained(capsys, "-c", MATMUL, "--target", "sm_90a"))
    assert lines[0] == "matmul"
    assert lines[2] == "  problem   m 70, n 50, k 333"
    model = (
        r"tile \d+x\d+, \d+x\d+ a thread; bk \d+, split \d+( by \w+)?, \d slots: (\S+) us by the .*"
    )
    weighed = [re.fullmatch(rf"  (decided  |instead  |         ) {model}", ln) for ln in lines[3:8]]
    assert all(weighed)
    seconds = [float(match[3]) for match in weighed if match is not None]
    assert len(seconds) == 5
    # Among schedules that are nearly as fast, another reason decides.
    assert seconds[0] <= 1.1 * min(seconds)
    texts = steps(lines)
    assert re.search(r"\{.*\}\n {12}.*smem \d+ -> \d+ B", texts["stage-inputs"])
    assert "rows of the tensor are 1332 bytes, not a multiple of 16" in texts["tma-copy"]
    assert texts["cooperative-reduce"] == ": no, its axes are bound already"


def test_a_row_kernel_gives_reasons_against_other_passes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (lines,) = paragraphs(explained(capsys, "-c", RMS_NORM, "--target", "sm_90a"))
    texts = steps(lines)
    assert texts["cooperative-reduce"].startswith("{threads=2048 rows=1 row=registers}\n")
    assert "accessed 1 MiB -> 768 KiB" in texts["cooperative-reduce"]
    assert texts["chunk-matmul-k"].startswith(": no, no contraction")
    assert texts["stage-inputs"] == ": no, a block reads nothing more than once"


def test_an_elementwise_kernel_has_blocks_of_256_threads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (lines,) = paragraphs(explained(capsys, "-c", POINTWISE, "--target", "sm_90a"))
    assert steps(lines)["blockify-launch"].startswith("{n=256}\n")


def test_a_pinned_option_is_weighed_with_its_choices(capsys: pytest.CaptureFixture[str]) -> None:
    pins = "plan-schedules,chunk-matmul-k{bk=8}"
    out = explained(capsys, "-c", MATMUL, "--target", "sm_90a", "--schedule", pins)
    weighed = [line for line in out.splitlines() if "by the planner's model" in line]
    assert len(weighed) > 1
    assert all("; bk 8," in line for line in weighed)


def test_a_replaced_option_has_no_times_of_choices(capsys: pytest.CaptureFixture[str]) -> None:
    pins = "plan-schedules,chunk-matmul-k{bk=128}"
    out = explained(capsys, "-c", MATMUL, "--target", "sm_90a", "--schedule", pins)
    assert "chunk-matmul-k{bk=128}" in out
    assert "by the planner's model" not in out


def test_steps_that_change_nothing_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    (lines,) = paragraphs(explained(capsys, "-c", MATMUL, "--target", "sm_90a"))
    schedule = lines[1].partition("schedule")[2]
    done = [spec.name for spec in parse_spec_list(schedule.strip())]
    assert [name for name in done if name not in steps(lines)] == []


def test_a_target_without_tma_is_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    expression = "torch.randn(64, 64) @ torch.randn(64, 64)"
    (lines,) = paragraphs(explained(capsys, "-c", expression, "--target", "sm_80"))
    assert steps(lines)["tma-copy"] == ": no, sm_80 has no tensor memory accelerator"


@pytest.mark.parametrize("level", ["tile", "kernel"])
def test_a_scheduled_kernel_has_its_schedule_and_figures(
    tilewright: Tilewright, level: str
) -> None:
    assert tilewright("compile", "-c", MATMUL, "--ir", level, "-o", "scheduled.mlir").code == 0
    fresh = tilewright("explain", "-c", MATMUL).out.splitlines()
    code, out, err = tilewright("explain", "scheduled.mlir", "--json", "explained.json")
    assert (code, err) == (0, "wrote explained.json\n")
    name, schedule, figures, scheduled = out.rstrip().splitlines()
    assert [name, schedule] == fresh[:2]
    assert scheduled.startswith("  weighed   nothing: the kernel is already scheduled")
    assert re.match(r"  figures   global 169.8 KiB, .*smem \d+ B, .*blocks 40, threads 32", figures)
    (entry,) = json.loads(Path("explained.json").read_text())["kernels"]
    assert f"  figures   {entry['figures']}" == figures
    assert (entry["weighed"], entry["steps"]) == ([], [])


def test_a_launch_beside_loop_nests_is_not_weighed(tilewright: Tilewright) -> None:
    nest = "loop.for %i in 100 {\n"
    launch = "tile.launch (%i = block 100 row) {\n"
    copy = """
      %0 = loop.load %x[%i] : memref<100xf32>
      loop.store %0, %out[%i] : memref<100xf32>
    }"""
    ends = "(%x: memref<100xf32>) -> (%out: memref<100xf32>)"
    kernels = [f"loop.kernel @{n} {ends} {{ {op} {copy} }}" for n, op in zip("ab", (nest, launch))]
    Path("both.mlir").write_text("\n".join(kernels))
    code, out, err = tilewright("explain", "both.mlir")
    assert (code, err) == (0, "")
    a, b = paragraphs(out)
    assert "  problem   100 elements of 8 B to move, up to 4 at once" in a
    assert not any(line.startswith(("  problem", "  decided")) for line in b)
    assert "plan-schedules: no, it is a launch already" in "\n".join(b)


def test_a_schedule_written_by_hand_is_none(tilewright: Tilewright) -> None:
    kernel = """
    loop.kernel @one(%x: memref<1xf32>) -> (%out: memref<1xf32>) {
      tile.launch (%i = block 1 row) {
        %0 = loop.load %x[%i] : memref<1xf32>
        loop.store %0, %out[%i] : memref<1xf32>
      }
    }
    """
    Path("one.mlir").write_text(kernel)
    assert "  schedule  none\n  figures   global 8 B" in tilewright("explain", "one.mlir").out


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["nowhere.mlir"], "cannot read 'nowhere.mlir'"),
        (["-c", "torch.randn(3", "--target", "sm_90a"], "not a Python expression"),
        (["-c", RMS_NORM, "--target", "sm_1"], "unknown target 'sm_1'"),
    ],
)
def test_mistakes(tilewright: Tilewright, argv: list[str], complaint: str) -> None:
    code, out, err = tilewright("explain", *argv)
    assert (code, out) == (2, "")
    assert re.match("(<-c>:1:12: )?error: ", err)
    assert complaint in err


@needs_nvrtc
@needs_nvdisasm
def test_where_warps_wait_and_what_would_have_to_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "explanation.json"
    assert cli.main(["explain", "-c", RMS_NORM, "--clock", "--json", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    (found,) = json.loads(path.read_text())["kernels"]
    clock = found["clock"]
    place = lines.index(f"  clock     {clock['us']:.1f} us by the clock")
    first = clock["advice"][0]
    share = f"{100 * first['share']:.0f} %"
    at = f" (line {first['line']})" if first["line"] else ""
    assert lines[place + 1] == f"{'':<12}{first['wait']} {share}{at}: {first['text']}"
    # 32 rows cannot fill an H100: one block computes at least one row.
    assert "32 blocks leave some of 132 SMs idle" in first["text"]


def test_the_clock_is_not_there_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert "by the clock" not in explained(capsys, "-c", RMS_NORM)


@needs_nvrtc
@needs_nvdisasm
def test_kernels_that_join_parts_have_a_paragraph(capsys: pytest.CaptureFixture[str]) -> None:
    schedule = (
        "tileify,chunk-matmul-k{bk=16},split-matmul-k{factor=2 join=workspace},"
        "blockify-launch{m=16 n=16},mark-unroll"
    )
    argv = ("-c", MATMUL, "--schedule", schedule, "--clock")
    first, *others = paragraphs(explained(capsys, *argv))
    # Two kernels are launched instead of the one that was scheduled.
    assert first[0] == "matmul"
    assert not [line for line in first if line.endswith("us by the clock")]
    assert [lines[0] for lines in others] == ["matmul_partials", "matmul_join"]
    for lines in others:
        assert [line for line in lines if line.endswith("us by the clock")]


@needs_nvrtc
def test_without_a_disassembler_the_clock_is_refused(
    monkeypatch: pytest.MonkeyPatch, tilewright: Tilewright
) -> None:
    def none(_: bytes) -> str:
        raise NvdisasmUnavailable("a test has none")

    report = import_module("tilewright.codegen.report.static_report")
    monkeypatch.setattr(report, "disassemble_each", none)
    code, out, err = tilewright("explain", "-c", RMS_NORM, "--clock")
    assert (code, out) == (2, "")
    assert "--clock: instructions are those of PTX, and there is no clock: " in err
    assert "a test has none" in err
