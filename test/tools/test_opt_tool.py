# SPDX-License-Identifier: Apache-2.0
"""opt-tool with wrong input, with wrong options and with passes that fail."""

import contextlib
import io
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from tilewright.errors import UnsupportedError
from tilewright.interpreters.check import CheckReport
from tilewright.tools.opt_tool import OptTool, main

GOOD = """\
func.func @f(%a: i32, %b: i32) -> i32 {
  %sum = arith.addi %a, %b : i32
  %1 = arith.addi %sum, %b : i32
  func.return %1 : i32
}
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A function that writes a text to the input file x.mlir in the working folder."""
    monkeypatch.chdir(tmp_path)

    def write(text: str) -> str:
        Path("x.mlir").write_text(text)
        return "x.mlir"

    return write


# An input, and the beginning of opt-tool's error.
ILL_FORMED = {
    "undefined value": (
        "func.func @f(%a: i32) {\n  %0 = arith.addi %a, %b : i32\n  func.return\n}\n",
        "x.mlir:2:23: error: %b is used but never defined\n"
        "  %0 = arith.addi %a, %b : i32\n"
        "                      ^^\n",
    ),
    "unknown operation": (
        "func.func @f(%a: i32) {\n  %0 = arith.adi %a, %a : i32\n  func.return\n}\n",
        "x.mlir:2:18: error: Operation arith.adi is not registered"
        " (did you mean arith.andi or arith.addi?)\n"
        "  %0 = arith.adi %a, %a : i32\n"
        "                 ^^\n",
    ),
    "syntax": (
        "func.func @f(%a: i32] {\n}\n",
        "x.mlir:1:21: error: ')' expected\nfunc.func @f(%a: i32] {\n                    ^\n",
    ),
    "the end of the input": (
        'func.func @f() {\n  "test.op"() : () -> ()\n\n',
        "x.mlir:2:25: error: ",
    ),
    "ill-typed operation, after a tab": (
        "func.func @f(%a: i32) {\n"
        '\t%0 = "arith.addi"(%a, %a) : (i32, i32) -> i64\n'
        "  func.return\n"
        "}\n",
        "x.mlir:2:2: error: 'arith.addi': result 'result' at position 0 does not verify:"
        " attribute i32 expected from variable 'T', but got i64\n"
        '\t%0 = "arith.addi"(%a, %a) : (i32, i32) -> i64\n'
        "\t^\n",
    ),
    "a type that does not verify": (
        '%0 = "test.op"() : () -> complex<index>\n',
        "x.mlir:1:39: error: Complex type must be parameterized by an integer or float type!\n",
    ),
    "use before definition": (
        '"test.op"(%0) : (i32) -> ()\n%0 = "test.op"() : () -> i32\n',
        "x.mlir:1:1: error: 'test.op': operand #0 is not defined before this use\n",
    ),
    "a symbol that is defined twice": (
        "func.func private @f()\nfunc.func private @g()\nfunc.func private @f()\n",
        "x.mlir:3:1: error: 'func.func': Redefinition of symbol \"f\"\n",
    ),
    "block name": (
        "func.func @f() {\n^0:\n  func.return\n}\n",
        "x.mlir:2:3: error: Invalid Block name format `0`.",
    ),
    "a string without an end": (
        f'"test.op"() {{x = "{"x" * 100}}} : () -> ()\n',
        "x.mlir:1:18: error: End of file reached before closing string literal.\n",
    ),
    "empty": ("\n", "x.mlir:1:1: error: the input is empty\n"),
}


@pytest.mark.parametrize("case", ILL_FORMED)
def test_ill_formed_input_is_placed(case: str, source: Any, capsys: pytest.CaptureFixture[str]):
    text, expected = ILL_FORMED[case]
    assert main([source(text)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(expected)


def test_a_long_line_is_shown_around_the_place(source: Any, capsys: pytest.CaptureFixture[str]):
    values = ", ".join(["1"] * 5000)
    text = f'"test.op"() {{x = [{values}]}} : () -> nope\n'
    assert main([source(text)]) == 2
    _, line, caret = capsys.readouterr().err.splitlines()
    assert len(line) == 120
    assert line[caret.index("^") :].startswith("nope")


def test_split_input_is_placed_in_the_whole_file(source: Any, capsys: pytest.CaptureFixture[str]):
    ill_typed = '%0 = "arith.constant"() <{value = 1 : i32}> : () -> i64\n'
    assert main([source(f"{GOOD}// -----\n{ill_typed}"), "--split-input-file"]) == 2
    assert capsys.readouterr().err.startswith("x.mlir:7:1: error: 'arith.constant':")


WRONG_USAGE = {
    "-p dcee": "error: unknown pass 'dcee' (did you mean dce?)\n",
    "-p dce{x=1}": "error: pass 'dce' has no option 'x' (it has: none)\n",
    "--pass-pipeline=builtin.module(func.func(dce))": (
        "error: cannot nest passes in 'func.func': all passes run on builtin.module\n"
    ),
    "-p dce,,cse": "pass-pipeline:1:5: error: Expected pass name here\ndce,,cse\n    ^\n",
    "-t mlir{x=1}": "error: target 'mlir' has no option 'x'",
    "-o no/such/folder": "error: cannot write 'no/such/folder': No such file or directory\n",
}


@pytest.mark.parametrize("arguments", WRONG_USAGE)
def test_wrong_usage_is_named(arguments: str, source: Any, capsys: pytest.CaptureFixture[str]):
    assert main([source(GOOD), *arguments.split()]) == 2
    assert capsys.readouterr().err.startswith(WRONG_USAGE[arguments])


@pytest.mark.parametrize("arguments", ["-t cuad", "--no-such-option", "--check=sometimes"])
def test_errors_of_argparse_are_one_line(
    arguments: str, source: Any, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit, match="2"):
        main([source(GOOD), *arguments.split()])
    assert re.fullmatch("opt-tool: error: .*\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("missing.mlir", None, "cannot read 'missing.mlir': No such file or directory"),
        (".", None, "cannot read '.': Is a directory"),
        ("b.mlir", b"\x7fELF\xff\xfe", "cannot read 'b.mlir': it is not text"),
        ("z.mlir", b"a\0b", "cannot read 'z.mlir': it is not text"),
        ("x.py", b"pass", "unknown file extension '.py' (-f mlir reads any file)"),
    ],
)
def test_unreadable_input(
    name: str, content: bytes | None, complaint: str, source: Any, capsys: Any
):
    if content is not None:
        Path(name).write_bytes(content)
    assert main([name]) == 2
    assert capsys.readouterr().err == f"error: {complaint}\n"


@dataclass(frozen=True)
class BreaksPass(ModulePass):
    """Pass that fails in the way that its option names."""

    name = "breaks"
    how: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        add = next(op for op in op.walk() if isinstance(op, AddiOp))
        match self.how:
            case "fails":
                raise PassFailedException("no anchor\nhere")
            case "refuses":
                raise UnsupportedError("cannot lower this", where="m.py:3:1", remedy="try less")
            case "bug":
                raise KeyError("oops")
            case "order":
                user = next(iter(add.result.uses)).operation
                user.detach()
                Rewriter.insert_op(user, InsertPoint.before(add))
            case _:
                add.attributes["touched"] = add.result.type


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch):
    """Register the pass above in opt-tool."""
    register = OptTool.register_all_passes

    def with_breaks(tool: OptTool) -> None:
        register(tool)
        tool.register_pass("breaks", lambda: BreaksPass)

    monkeypatch.setattr(OptTool, "register_all_passes", with_breaks)


@pytest.mark.usefixtures("breaks")
@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ("fails", "error: pass 'breaks': no anchor here\n"),
        ("refuses", "m.py:3:1: error: pass 'breaks': cannot lower this (try less)\n"),
        (
            "order",
            "x.mlir:3:3: error: after pass 'breaks': 'arith.addi': operand #0 (%sum) is not defined"
            " before this use\n",
        ),
    ],
)
def test_a_failing_pass_is_named(how: str, complaint: str, source: Any, capsys: Any):
    assert main([source(GOOD), "-p", f'cse,breaks{{how="{how}"}},dce']) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(complaint)


@pytest.mark.usefixtures("breaks")
def test_a_bug_shows_where_it_is_and_asks_for_a_report(source: Any, capsys: Any):
    assert main([source(GOOD), "-p", 'breaks{how="bug"}']) == 1
    err = capsys.readouterr().err
    assert "KeyError: 'oops'\nin pass 'breaks'\n" in err
    assert "please report it" in err


def test_a_failure_keeps_the_output_file(source: Any):
    path = source(GOOD.replace("%1 :", "%2 :"))
    assert main([path, "-o", path]) == 2
    assert "%2" in Path(path).read_text()


def test_output_may_replace_input(source: Any):
    path = source(GOOD)
    assert main([path, "-o", path, "--print-op-generic"]) == 0
    assert '"arith.addi"' in Path(path).read_text()


def test_other_output_goes_to_stderr(source: Any, capsys: Any):
    assert main([source(GOOD), "-p", "cse,dce", "--print-between-passes", "--time-passes"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("builtin.module {\n")
    assert re.match(r"Pass cse took [\d.]+ seconds\nIR after cse:\nbuiltin.module {", err)
    assert "IR after dce" not in err


def test_expected_diagnostics_are_no_failure(source: Any, capsys: Any):
    path = source('%0 = "arith.constant"() <{value = 1 : i32}> : () -> i64\n')
    assert main([path, "--verify-diagnostics"]) == 0
    assert capsys.readouterr().out.startswith("x.mlir:1:1: error: 'arith.constant':")
    path = source("func.func\n")
    assert main([path, "--parsing-diagnostics"]) == 0
    assert capsys.readouterr().out.startswith("x.mlir:1:10: error: expect symbol name\n")


@pytest.mark.parametrize(
    ("when", "checked"),
    [("each", ["canonicalize", "dce"]), ("end", ["canonicalize,dce"]), ("none", [])],
)
def test_check_compares_before_and_after(
    when: str, checked: list[str], source: Any, monkeypatch: pytest.MonkeyPatch, capsys: Any
):
    seen: list[str] = []

    def check_pass(before: ModuleOp, after: ModuleOp, name: str, **_: Any) -> CheckReport:
        assert before is not after
        seen.append(name)
        return CheckReport((), ("@f was not run",))

    monkeypatch.setattr("tilewright.interpreters.check.check_pass", check_pass)
    assert main([source(GOOD), "-p", "canonicalize,dce", f"--check={when}"]) == 0
    assert seen == checked
    remarks = [f"remark: check of '{name}': @f was not run" for name in checked]
    assert capsys.readouterr().err.splitlines() == remarks


@given(data=st.data())
def test_no_edit_of_the_input_is_a_traceback(data: st.DataObject, tmp_path_factory: Any):
    start = data.draw(st.integers(0, len(GOOD)))
    end = data.draw(st.integers(start, min(start + 8, len(GOOD))))
    pieces = [*'%@#!^(){}[]<>,:="-01', "i32", "tensor<", "->", "loc(", "^bb0", "0x"]
    edit = "".join(data.draw(st.lists(st.sampled_from(pieces), max_size=3)))
    path = tmp_path_factory.getbasetemp() / "edited.mlir"
    path.write_text(GOOD[:start] + edit + GOOD[end:])
    with contextlib.redirect_stderr(io.StringIO()) as err:
        code = main([str(path), "-o", str(path)])
    assert code in (0, 2)
    assert bool(code) == ("error: " in err.getvalue())


@pytest.mark.one_in(2)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("letters", [1, 99999])
def test_a_full_disk_behind_stdout(letters: int, tmp_path: Path):
    """A long text fails while it is written, a short one when the stream is closed."""
    (tmp_path / "in.mlir").write_text(f"func.func private @{'f' * letters}()\n")
    command = [sys.executable, "-m", "tilewright.tools.opt_tool", str(tmp_path / "in.mlir")]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "error: cannot write: No space left on device\n")


def test_streams_that_the_shell_closed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], source: Any
):
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["-"]) == 2
    assert capsys.readouterr().err == "<stdin>:1:1: error: the input is empty\n"
    monkeypatch.setattr(sys, "stdout", None)
    assert main([source("func.func private @f()\n")]) == 0


# Failures of xDSL's own targets and passes are errors that name them, without a traceback.
OF_XDSL = {
    "-t arm-asm": "error: xDSL's target 'arm-asm' cannot print this IR: AssertionError: "
    "FuncOp(func.func private @f() -> ())\n",
    "-t mps": (
        "error: xDSL's target 'mps' cannot print this IR: "
        "NotImplementedError: MPS backend not yet implemented\n"
    ),
    '-p mlir-opt{executable="none"}': (
        "error: pass 'mlir-opt' of xDSL: ValueError: none is not available\n"
    ),
}


@pytest.mark.parametrize("options", OF_XDSL)
def test_failures_of_xdsls_own(options: str, source: Any, capsys: pytest.CaptureFixture[str]):
    assert main([source("func.func private @f()\n"), *options.split()]) == 1
    assert capsys.readouterr().err == OF_XDSL[options]


def test_a_target_whose_package_is_missing(
    source: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    monkeypatch.delitem(sys.modules, "xdsl.targets.llvm", raising=False)
    monkeypatch.delitem(sys.modules, "xdsl.backend.llvm.convert", raising=False)
    assert main([source("func.func private @f()\n"), "-t", "llvm"]) == 1
    err = capsys.readouterr().err
    assert re.fullmatch(r"error: the target 'llvm' needs the Python package llvmlite.*\n", err)


def test_a_warning_of_a_target_is_one_line(source: Any, capsys: pytest.CaptureFixture[str]):
    main([source("func.func private @f()\n"), "-t", "csl"])
    assert capsys.readouterr().err.startswith("warning: Expected all top-level operations to be")


def test_an_error_of_xdsl_does_not_print_the_module(
    source: Any, capsys: pytest.CaptureFixture[str]
):
    functions = "".join(f"func.func private @f{number}()\n" for number in range(100))
    assert main([source(functions), "-p", "transform-interpreter"]) == 1
    err = capsys.readouterr().err
    assert len(err) < 250
    assert err.startswith("error: pass 'transform-interpreter': ModuleOp(")
    assert err.endswith("with name: __transform_main\n")
