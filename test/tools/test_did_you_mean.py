# SPDX-License-Identifier: Apache-2.0
"""Misspelt words on the command line: the message suggests the right one."""

from pathlib import Path

import pytest

from tilewright.tools.opt_tool import main as opt_tool

from .conftest import Tilewright

NEARLY = {
    "compil -c x": "tilewright: error: unknown COMMAND 'compil' (did you mean compile?)",
    "--verison": "tilewright: error: unknown option '--verison' (did you mean --version?)",
    "compile -c x --irr loop": (
        "tilewright compile: error: unknown option '--irr' (did you mean --ir?)"
    ),
    "compile --irr=loop -c x": (
        "tilewright compile: error: unknown option '--irr' (did you mean --ir?)"
    ),
    "run --devise sim -c x": (
        "tilewright run: error: unknown option '--devise' (did you mean --device?)"
    ),
    "compile -c x --ir loops": (
        "tilewright compile: error: argument --ir: unknown value 'loops' (did you mean loop?)"
    ),
    "compile -c x --ir ptx": (
        "tilewright compile: error: argument --ir: unknown value 'ptx' "
        "(known: torch, tensor, loop, tile, kernel, cuda)"
    ),
    "compile -c x -w": (
        "tilewright compile: error: unknown option '-w' (tilewright compile --help lists them)"
    ),
    "compile -c torch.ones(2) --target sm_90": (
        "error: unknown target 'sm_90' (did you mean sm_90a? "
        "known: sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120)"
    ),
    "compile -c torch.ones(2) --target SM_90A": (
        "error: unknown target 'SM_90A' (did you mean sm_90a? "
        "known: sm_80, sm_86, sm_89, sm_90a, sm_100a, sm_120)"
    ),
    "run": "tilewright run: error: FILE or -c is required (see tilewright run --help)",
    "doctor some thing": (
        "tilewright: error: unexpected arguments: 'some', 'thing' (see tilewright --help)"
    ),
    "db lss": "tilewright db: error: unknown ACTION 'lss' (did you mean ls?)",
    "db best --jason": "tilewright db best: error: unknown option '--jason' (did you mean --json?)",
    "run -c x --bench --backends eagre": (
        "tilewright run: error: argument --backends: unknown backend 'eagre' (did you mean eager?)"
    ),
    "compile -c torch.ones(9).exp() --schedule tileiffy": (
        "error: the schedule of @exp: unknown pass 'tileiffy' (did you mean tileify?)"
    ),
}


@pytest.mark.parametrize("arguments", NEARLY)
def test_a_word_that_is_nearly_right(arguments: str, tilewright: Tilewright):
    result = tilewright(*arguments.split())
    assert (result.code, result.out) == (2, "")
    assert result.err == NEARLY[arguments] + "\n"


def test_values_and_words_after_two_dashes_are_no_options(tilewright: Tilewright):
    assert tilewright("compile", "-c", "-torch.ones(2)", "--ir", "torch").code == 0
    assert tilewright("compile", "-c-torch.ones(2)", "--ir=torch").code == 0
    assert "cannot read '--irr.mlir'" in tilewright("compile", "--", "--irr.mlir").err


def test_no_arguments_print_help(tilewright: Tilewright):
    result = tilewright()
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("usage: tilewright ")
    assert "  compile  " in result.err


OF_OPT_TOOL = {
    "--chek=each": "opt-tool: error: unknown option '--chek' (did you mean --check?)",
    "--check=eech": (
        "opt-tool: error: argument --check: unknown value 'eech' (did you mean each?)"
    ),
    "-t cud": "opt-tool: error: argument -t/--target: unknown value 'cud' (did you mean cuda?)",
    "-p to-lop": "error: unknown pass 'to-lop' (did you mean to-loop?)",
    "-p blockify-launch{mm=1}": (
        "error: pass 'blockify-launch' has no option 'mm' (did you mean m?)"
    ),
    "-p zzz": "error: unknown pass 'zzz' (opt-tool --help lists them)",
    "x.mlr": "error: unknown file extension '.mlr' (did you mean .mlir? -f mlir reads any file)",
}


@pytest.mark.parametrize("arguments", OF_OPT_TOOL)
def test_a_word_of_opt_tool(arguments: str, capsys: pytest.CaptureFixture[str]):
    try:
        code = opt_tool(arguments.split())
    except SystemExit as left:
        code = left.code
    assert (code, capsys.readouterr().err) == (2, OF_OPT_TOOL[arguments] + "\n")


def test_opt_tool_without_a_target(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        opt_tool(["-t", " "])
    assert "argument -t/--target: a name is missing" in capsys.readouterr().err


IN_A_FILE = {
    "prim.elementwise ex(%x)": "unknown word 'ex' (did you mean exp?)",
    "prim.elementwise zzzzz(%x)": "Expected `add`, `sub`, `mul`, ",
    "prim.elementwse exp(%x)": (
        "Operation prim.elementwse is not registered (did you mean prim.elementwise?)"
    ),
}


@pytest.mark.parametrize("op", IN_A_FILE)
def test_a_word_in_a_file(op: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "x.mlir"
    path.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        f"  %0 = {op} : tensor<4xf32>\n"
        "  func.return %0 : tensor<4xf32>\n}\n"
    )
    assert opt_tool([str(path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{path}:2:")
    assert error.partition("error: ")[2].startswith(IN_A_FILE[op])
