# SPDX-License-Identifier: Apache-2.0
"""The runner of RUN lines: the lines it runs, and the mistakes it reports."""

from pathlib import Path

import pytest

from tilewright.tools.run_lines import RunLineError, run_file, run_lines

MODULE = "func.func @f() {\n  func.return\n}\n"
CHECKED = f"// CHECK: func.func @f()\n// CHECK-NEXT: func.return\n{MODULE}"


def run(folder: Path, text: str) -> None:
    """Run the RUN lines of `text`."""
    (folder / "x.mlir").write_text(text)
    run_file(folder / "x.mlir", folder)


@pytest.mark.parametrize(
    "line",
    [
        "opt-tool %s | filecheck %s",
        "cat %s | opt-tool - -p 'cse,dce' | filecheck %s",
        "opt-tool %s -o %t && filecheck %s < %t",
        "opt-tool %s > %t && diff %t %S/x.mlir.expected",
        "opt-tool %s | not filecheck %s --check-prefix=ABSENT",
        "not opt-tool %s -p nonsense 2>&1 | cat - | not filecheck %s",
        "opt-tool %s \\\n// RUN:   | filecheck %s",
    ],
)
def test_lines_that_pass(line: str, tmp_path: Path):
    (tmp_path / "x.mlir.expected").write_text(
        "builtin.module {\n  func.func @f() {\n    func.return\n  }\n}\n\n"
    )
    run(tmp_path, f"// RUN: {line}\n{CHECKED}")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("opt-tool %s -p nonsense", "unknown pass 'nonsense'"),
        ("opt-tool %s -p nonsense | cat -", "unknown pass 'nonsense'"),  # fails in a pipe
        ("not opt-tool %s", "gave exit code 1"),
        ("opt-tool %s | filecheck %s --check-prefix=RUN", "gave exit code"),
        ("cat %s | diff - %S/y.mlir", r"-func.func @f\(\)"),
        ("true && opt-tool %s", "does not know the command 'true'"),
        ("opt-tool %s || opt-tool %s", r"does not know '\|\|'"),
        ("opt-tool %s; opt-tool %s", "does not know ';'"),
        ("opt-tool %s --disable-verify", "changes the whole process"),
        ("opt-tool %s \\", "ends in a backslash"),
    ],
)
def test_lines_that_fail(line: str, complaint: str, tmp_path: Path):
    (tmp_path / "y.mlir").write_text("")
    with pytest.raises(RunLineError, match=complaint):
        run(tmp_path, f"// RUN: {line}\n{MODULE}")


def test_a_wrong_expectation_fails(tmp_path: Path):
    text = f"// RUN: opt-tool %s | filecheck %s\n// CHECK: func.func @g()\n{MODULE}"
    with pytest.raises(RunLineError, match=r'Couldn\'t match "func.func @g\(\)"'):
        run(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("builtin.module {}", "no RUN line"),
        ("// REQUIRES: gpu\n// RUN: opt-tool %s", "does not know REQUIRES:"),
        ("// XFAIL: *\n// RUN: opt-tool %s", "does not know XFAIL:"),
    ],
)
def test_files_that_it_does_not_understand(text: str, complaint: str, tmp_path: Path):
    with pytest.raises(RunLineError, match=complaint):
        run(tmp_path, text)


def test_continuation_lines_are_joined():
    assert list(run_lines("// RUN: a \\\n// RUN:  b\nx\n// RUN: c")) == ["a b", "c"]
