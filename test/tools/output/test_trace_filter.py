# SPDX-License-Identifier: Apache-2.0
"""`--only`: the part of a trace that the user asks for."""

import re
from io import StringIO
from pathlib import Path

import pytest

from tilewright.passes.reporting.trace import Rule
from tilewright.tools.opt_tool import main as opt_tool
from tilewright.tools.output.trace_filter import Only
from tilewright.tools.output.trace_printer import RemarkPrinter

from ..conftest import Tilewright

TWO = "(torch.randn(9, 12) @ torch.randn(12, 40), torch.randn(8, 16).softmax(-1))"
"""Expressions with two kernels: matmul and softmax."""

COPY = """\
loop.kernel @copy(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
  loop.for %i in 1000 {
    %0 = loop.load %x[%i] : memref<1000xf32>
    loop.store %0, %out[%i] : memref<1000xf32>
  }
}
"""


def entries(trace: str) -> list[tuple[str, str]]:
    """Return the rule and the kernel of each rewrite and each remark."""
    found = re.findall(
        r"^(?:>>> (\S+)\n@@ matched at (\S+) @@|--- (\S+) \w+ at (\S+):)", trace, re.MULTILINE
    )
    return [(rule or other, site or at) for rule, site, other, at in found]


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        *(("t:007", True), ("t:007_stage", True), ("stage-inputs", True), ("stage_inputs", True)),
        *(("matmul", True), ("relu_matmul", True), ("t:007@matmul", True), ("@relu", True)),
        *(("t:008", False), ("t:007@softmax", False), ("t:008@matmul", False), ("add", False)),
    ],
)
def test_a_text_is_part_of_a_rule_a_pass_or_a_kernel(text: str, matches: bool):
    stream = StringIO()
    only = Only(RemarkPrinter(stream), [text])
    only.skipped(Rule("t", 7, "stage_inputs"), "relu_matmul", "no reuse")
    assert bool(stream.getvalue()) == matches
    assert bool([*only.warnings()]) != matches


def test_several(tilewright: Tilewright):
    asked = ("--only", "t:001", "--only", "t:007@matmul")
    code, out, err = tilewright("compile", "-c", TWO, "--ir", "tile", "-vv", *asked)
    assert (code, err) == (0, "")
    assert {*entries(out)} == {
        ("t:001_tileify", "matmul"),
        ("t:001_tileify", "softmax"),
        ("t:007_stage_inputs", "matmul"),
    }


def test_a_kernel(tilewright: Tilewright):
    plain = entries(tilewright("compile", "-c", TWO, "--ir", "tile", "-vv").out)
    code, out, err = tilewright("compile", "-c", TWO, "--ir", "tile", "-vv", "--only", "matmul")
    assert (code, err) == (0, "")
    assert entries(out) == [each for each in plain if "matmul" in str(each)]
    assert 0 < len(entries(out)) < len(plain)


def test_remarks(tilewright: Tilewright):
    err = tilewright("compile", "-c", TWO, "-v", "--only", "t:007@softmax").err
    assert {rule for rule, _ in entries(err)} == {"t:007_stage_inputs"}
    assert err.count("\n") == 1


def test_a_filter_without_matches_is_reported_with_all_names(tilewright: Tilewright):
    argv = ("compile", "-c", TWO, "--ir", "tile", "-vv")
    code, out, err = tilewright(*argv, "--only", "mathmul", "--only", "t:001")
    assert code == 0
    assert {rule for rule, _ in entries(out)} == {"t:001_tileify"}
    warning, rules, sites = err.splitlines()
    assert warning == "warning: --only 'mathmul' matches nothing (did you mean matmul?)"
    assert rules.startswith("  rules: ")
    assert " t:001_tileify, " in rules
    assert sites.startswith("  kernels and functions: ")
    assert {"matmul", "softmax"} <= {*sites.partition(": ")[2].split(", ")}


def test_it_goes_with_a_trace(tilewright: Tilewright):
    code, _, err = tilewright("compile", "-c", TWO, "--only", "matmul")
    assert (code, err) == (2, "error: --only filters -v and -vv (add -vv)\n")


def test_opt_tool(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "copy.mlir"
    path.write_text(COPY)
    argv = [str(path), "-p", "tileify,cooperative-reduce,blockify-launch{n=128}"]
    assert opt_tool([*argv, "--trace"]) == 0
    plain = capsys.readouterr()
    everything = ["t:001_tileify", "t:004_cooperative_reduce", "t:005_blockify_launch"]
    assert [rule for rule, _ in entries(plain.err)] == everything
    assert opt_tool([*argv, "--trace", "--only", "t:005"]) == 0
    filtered = capsys.readouterr()
    assert filtered.out == plain.out
    assert [rule for rule, _ in entries(filtered.err)] == ["t:005_blockify_launch"]
    assert opt_tool([*argv, "--remarks", "--only", "cooperative"]) == 0
    assert capsys.readouterr().err.startswith("--- t:004_cooperative_reduce skipped at copy: ")
    assert opt_tool([*argv, "--only", "t:005"]) == 2
    error = "error: --only filters --trace and --remarks (add --trace)\n"
    assert capsys.readouterr().err == error
