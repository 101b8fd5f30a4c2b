# SPDX-License-Identifier: Apache-2.0
"""`--only`: the part of a trace that a person asks for."""

import re
from pathlib import Path

import pytest

from tilewright.tools.opt_tool import main as opt_tool

from .conftest import Tilewright

TWO = "(torch.randn(9, 12) @ torch.randn(12, 40), torch.randn(8, 16).softmax(-1))"
"""Kernels matmul and softmax."""

COPY = """\
loop.kernel @copy(%x: memref<1000xf32>) -> (%out: memref<1000xf32>) {
  loop.for %i in 1000 {
    %0 = loop.load %x[%i] : memref<1000xf32>
    loop.store %0, %out[%i] : memref<1000xf32>
  }
}
"""


def entries(trace: str) -> list[tuple[str, str]]:
    """The rule and the kernel of each rewrite and each remark."""
    found = re.findall(
        r"^(?:>>> (\S+)\n@@ matched at (\S+) @@|--- (\S+) \w+ at (\S+):)", trace, re.MULTILINE
    )
    return [(rule or other, site or at) for rule, site, other, at in found]


@pytest.mark.parametrize(
    ("only", "rules", "sites"),
    [
        (["t:007"], {"t:007_stage_inputs"}, {"matmul", "softmax"}),
        (["stage-inputs"], {"t:007_stage_inputs"}, {"matmul", "softmax"}),
        (["t:007_stage"], {"t:007_stage_inputs"}, {"matmul", "softmax"}),
        (["t:007@matmul"], {"t:007_stage_inputs"}, {"matmul"}),
        (["t:001", "t:007"], {"t:001_tileify", "t:007_stage_inputs"}, {"matmul", "softmax"}),
    ],
)
def test_rules(only: list[str], rules: set[str], sites: set[str], tilewright: Tilewright):
    asked = [word for text in only for word in ("--only", text)]
    code, out, err = tilewright("compile", "-c", TWO, "--ir", "tile", "-vv", *asked)
    assert (code, err) == (0, "")
    assert {rule for rule, _ in entries(out)} == rules
    assert {site for _, site in entries(out)} == sites


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


def test_what_matches_nothing_is_reported_with_what_there_was(tilewright: Tilewright):
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
    assert (code, err) == (2, "error: --only chooses what -v and -vv print (add -vv)\n")


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
    error = "error: --only chooses what --trace and --remarks print (add --trace)\n"
    assert capsys.readouterr().err == error
