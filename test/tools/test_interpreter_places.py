# SPDX-License-Identifier: Apache-2.0
"""Errors of the interpreters on a file: `file:line:col`, from `run` and from `opt-tool --check`."""

from pathlib import Path

import pytest
from needs import needs_nvrtc

from tilewright.tools import cli, opt_tool

KERNEL = """\
loop.kernel @exp(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.load %x[%i] : memref<8xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%i] : memref<8xf32>
  }
}
"""

MISTAKES = {
    "out of bounds": (
        KERNEL.replace("%x[%i]", "%x[%i + 1]"),
        ":3:5: error: {}@exp: '%0 = loop.load %x[%i + 1] : memref<8xf32>': subscript 0 of %x is 8",
    ),
    "uninitialised": (
        KERNEL.replace("%out[%i]", "%out[%i] where [3 - %i]"),
        ":1:1: error: {}@exp: 'loop.kernel @exp(%x: memref<8xf32>) -> (%out: memref<8xf32>) {{': "
        "nothing writes element [4] of %out",
    ),
}


@needs_nvrtc
@pytest.mark.parametrize("mistake", MISTAKES)
def test_run_names_the_place(mistake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text, expected = MISTAKES[mistake]
    path = tmp_path / "exp.mlir"
    path.write_text(text)
    assert cli.main(["run", str(path)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}{expected.format('')}")


@pytest.mark.parametrize("mistake", MISTAKES)
def test_checks_name_the_place(mistake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    text, expected = MISTAKES[mistake]
    path = tmp_path / "exp.mlir"
    path.write_text(text)
    assert opt_tool.main([str(path), "-p", "tileify", "--check=each"]) == 1
    before = "before pass 'tileify' the program is wrong: "
    assert capsys.readouterr().err.startswith(f"{path}{expected.format(before)}")


def test_the_place_stays_with_an_op_that_passes_move(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "exp.mlir"
    path.write_text(KERNEL)
    assert opt_tool.main([str(path), "-p", "to-tile,to-kernel", "--print-debuginfo"]) == 0
    printed = capsys.readouterr().out
    assert f'loc("loop.load %x"("{path}":3:5))' in printed
    assert f': f32 loc("math.exp"("{path}":4:5))' in printed


def test_a_location_in_the_text_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "exp.mlir"
    path.write_text(KERNEL.replace("%0 : f32", '%0 : f32 loc("exp"("model.py":7:0))'))
    assert opt_tool.main([str(path), "--print-debuginfo"]) == 0
    printed = capsys.readouterr().out
    assert 'math.exp %0 : f32 loc("exp"("model.py":7:0))' in printed
    assert f'loop.load %x[%i] : memref<8xf32> loc("{path}":3:5)' in printed


def test_arguments_that_do_not_fit_name_the_function(tmp_path: Path):
    from tilewright.errors import UsageError
    from tilewright.interpreters import interpret
    from tilewright.tools.input.mlir_source import read_module

    path = tmp_path / "exp.mlir"
    path.write_text(f"\n{KERNEL}")
    with pytest.raises(UsageError) as caught:
        interpret(read_module(str(path)), [1.0], function="exp")
    assert str(caught.value) == f"{path}:2:1: argument 0 of @exp has shape (1,), expected (8,)"
