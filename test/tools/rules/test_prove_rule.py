# SPDX-License-Identifier: Apache-2.0
"""The command `opt-tool prove-rule`: its verdicts, exit codes and errors."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright.tools.opt_tool import main

FEW = ("--texts", "0", "--matches", "6", "--programs", "600")

RULES = """\
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from tilewright.dialects import prim

class NeedsANumber(RewritePattern):
    def __init__(self, number: int): ...
    def match_and_rewrite(self, op, rewriter): ...

class NoPattern: ...

class NeverMatches(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ScanOp, rewriter: PatternRewriter) -> None: ...

class Raises(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ScanOp, rewriter: PatternRewriter) -> None:
        raise ValueError("seven")

class WrongType(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ScanOp, rewriter: PatternRewriter) -> None:
        rewriter.replace(op, prim.ReduceOp(op.monoid, [*op.inputs], [0]), safe_erase=False)
"""

PDL = """\
pdl.pattern @zero_times : benefit(1) {
  %type = pdl.type
  %x = pdl.operand : %type
  %number = pdl.attribute = 0.0 : f32
  %zero = pdl.operation "prim.constant" {"value" = %number} -> (%type : !pdl.type)
  %z = pdl.result 0 of %zero
  %function = pdl.attribute = #prim.function mul
  %product = pdl.operation "prim.elementwise" (%x, %z : !pdl.value, !pdl.value)
    {"function" = %function} -> (%type : !pdl.type)
  pdl.rewrite %product {
    pdl.replace %product with (%z : !pdl.value)
  }
}
"""


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Path of a file with rules, in the working folder."""
    monkeypatch.chdir(tmp_path)
    Path("rules.py").write_text(RULES)
    return "rules.py"


Errors = Callable[..., str]


@pytest.fixture
def errors(rules: str, capsys: pytest.CaptureFixture[str]) -> Errors:
    """A function that runs the command and returns its error."""

    def run(*args: str) -> str:
        assert main(["prove-rule", *args]) == 2
        return capsys.readouterr().err

    return run


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("none.py:Rule", "error: cannot read 'none.py': No such file or directory\n"),
        ("rules.py:Raise", "error: 'rules.py' has no 'Raise' (did you mean Raises?)\n"),
        ("rules.py:NoPattern", "error: 'rules.py:NoPattern' is not a RewritePattern\n"),
        ("rules.py:NeedsANumber", "error: 'rules.py:NeedsANumber' needs arguments: "),
        ("no.module:Rule", "error: there is no module 'no' (name FILE.py:Pattern, or "),
        ("rules.mlir", "error: there is no module 'rules' (name FILE.py:Pattern, or "),
        ("a-b", "error: 'a-b' is neither a .py file nor a module (name FILE.py:Pattern, or "),
    ],
)
def test_a_name_that_is_no_rule_is_an_error(errors: Errors, name: str, error: str):
    found = errors(name)
    assert found.startswith(error)
    assert found.count("\n") == 1


def test_an_error_in_the_file_has_its_line(errors: Errors):
    Path("broken.py").write_text("import xdsl\nxdsl.nothing()\n")
    assert errors("broken.py:Rule").startswith("broken.py:2: error: AttributeError: ")


def test_a_rule_is_missing(rules: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as leaving:
        main(["prove-rule"])
    assert leaving.value.code == 2
    assert "a RULE or --pdl FILE is missing" in capsys.readouterr().err


def test_a_rule_that_never_matches_is_named(rules: str, capsys: pytest.CaptureFixture[str]):
    assert main(["prove-rule", "rules.py:NeverMatches", *FEW]) == 2
    assert capsys.readouterr().out == (
        "NeverMatches: never matched: it fits none of 0 programs of the tests and 600 random "
        "programs with prim.scan\n"
    )


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Raises", "it raises ValueError at rules.py:17: seven"),
        ("WrongType", "the IR after it is invalid: "),
    ],
)
def test_a_rule_that_fails_is_wrong(
    rules: str, capsys: pytest.CaptureFixture[str], name: str, reason: str
):
    assert main(["prove-rule", f"rules.py:{name}", *FEW, "--first"]) == 1
    assert reason in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("InvalidFunction", "the IR after it is invalid: AttributeError: "),
        ("InPlace", "it changes an op without its rewriter; call rewriter.notify_op_modified(op)"),
    ],
)
def test_a_broken_rule_is_wrong(capsys: pytest.CaptureFixture[str], name: str, reason: str):
    file = Path(__file__).parent / "linted_rules.py"
    assert main(["prove-rule", f"{file}:{name}", *FEW, "--first"]) == 1
    assert reason in capsys.readouterr().out


NATIVE = """\
pdl.pattern : benefit(1) {{
  %t = pdl.type
  %x = pdl.operand : %t
  {constraint}
  %o = pdl.operation "prim.elementwise" (%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %o {rewrite}
}}
"""


@pytest.mark.parametrize(
    ("constraint", "rewrite"),
    [
        ("", 'with "mine"(%x : !pdl.value)'),
        ('pdl.apply_native_constraint "mine"(%x : !pdl.value)', "{ pdl.erase %o }"),
    ],
)
def test_native_functions_of_pdl_are_refused(
    rules: str, capsys: pytest.CaptureFixture[str], constraint: str, rewrite: str
):
    Path("native.mlir").write_text(NATIVE.format(constraint=constraint, rewrite=rewrite))
    assert main(["prove-rule", "--pdl", "native.mlir"]) == 2
    assert 'error: the native function "mine" is not available here' in capsys.readouterr().err


def test_verdicts_have_their_evidence(wrong: str, right: str, capsys: pytest.CaptureFixture[str]):
    rules = f"{wrong}:MaximumOfMinimum", f"{right}:DoubleNegation"
    assert main(["prove-rule", *rules, *FEW, "--first"]) == 1
    refuted, _, kept = capsys.readouterr().out.partition("DoubleNegation: ")
    assert refuted.startswith("MaximumOfMinimum: wrong: 1 of ")
    assert "  before:\n    func.func @main(" in refuted
    assert "  after:\n" in refuted
    assert "\n  %0 = " in refuted
    assert kept == "not refuted: 6 matches in 6 programs, exact for integers (6)\n"


def test_a_rule_of_pdl_is_refuted(rules: str, capsys: pytest.CaptureFixture[str]):
    Path("rule.mlir").write_text(PDL)
    assert main(["prove-rule", "--pdl", "rule.mlir", *FEW, "--first"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("zero_times: wrong: 1 of ")
    assert "It is not refuted as a rule of real numbers" in out


def test_a_rule_of_pdl_is_right_for_integers(rules: str, capsys: pytest.CaptureFixture[str]):
    Path("rule.mlir").write_text(PDL.replace("0.0 : f32", "0 : i32"))
    assert main(["prove-rule", "--pdl", "rule.mlir", *FEW]) == 0
    assert "zero_times: not refuted: 6 matches in " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (PDL.replace("operand ", "operad "), "rule.mlir:3:19: error: Operation pdl.operad is not "),
        (PDL.replace("constant", "constat"), "rule.mlir:5:3: error: there is no op 'prim.constat'"),
        ("func.func private @f()\n", "error: 'rule.mlir' has no pdl.pattern"),
    ],
)
def test_text_that_is_no_pdl_is_an_error(errors: Errors, text: str, error: str):
    Path("rule.mlir").write_text(text)
    assert errors("--pdl", "rule.mlir").startswith(error)


def test_patterns_that_need_arguments_are_left_out(
    rules: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["prove-rule", rules])
    out, err = capsys.readouterr()
    assert "Raises" in out
    assert err.startswith("warning: 'NeedsANumber' needs arguments: ")
    assert "it is left out\n" in err
