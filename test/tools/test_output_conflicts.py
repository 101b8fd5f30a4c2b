# SPDX-License-Identifier: Apache-2.0
"""No command overwrites a file that it reads, or one output with another."""

from pathlib import Path

import pytest

from .conftest import Tilewright

IR = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  func.return %x : tensor<4xf32>\n}\n"

OVER = {
    "compile model.py:f -o model.py": "-o would write over 'model.py', which is read",
    "compile a.mlir --json a.mlir": "--json would write over 'a.mlir', which is read",
    "compile a.mlir --db d.sqlite -o d.sqlite": "-o would write over 'd.sqlite', which is read",
    "run a.mlir --against b.mlir --json b.mlir": "--json would write over 'b.mlir', which is read",
    "run link.mlir --json a.mlir": "--json would write over 'link.mlir', which is read",
    "explain a.mlir --json ./a.mlir": "--json would write over 'a.mlir', which is read",
    "tune s.json --json s.json": "--json would write over 's.json', which is read",
    "tune a.mlir --db d.sqlite --json d.sqlite": "--json would write over 'd.sqlite', which is",
    "db export d.sqlite --db d.sqlite": "FILE would write over 'd.sqlite', which is read",
    "compile a.mlir -o b.txt --json link.txt": "-o and --json write the same file 'link.txt'",
}


@pytest.mark.parametrize("arguments", OVER)
def test_an_output_is_no_input(arguments: str, tilewright: Tilewright):
    for name in ("a.mlir", "b.mlir", "model.py", "d.sqlite", "s.json", "b.txt"):
        Path(name).write_text(IR)
    Path("link.mlir").symlink_to("a.mlir")
    Path("link.txt").symlink_to("b.txt")
    result = tilewright(*arguments.split())
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"error: {OVER[arguments]}")
    assert all(Path(name).read_text() == IR for name in ("a.mlir", "model.py", "d.sqlite"))


def test_ir_may_be_lowered_in_place(tilewright: Tilewright):
    Path("a.mlir").write_text(IR)
    assert tilewright("compile", "a.mlir", "--ir", "tensor", "-o", "a.mlir").code == 0
    assert Path("a.mlir").read_text().startswith("builtin.module")
