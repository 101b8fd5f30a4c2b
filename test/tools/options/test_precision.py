# SPDX-License-Identifier: Apache-2.0
"""The option `--matmul-precision` of the commands that compile."""

from pathlib import Path

import pytest
from needs import needs_nvrtc

from tilewright.dialects.precision import WORDS
from tilewright.tools import cli
from tilewright.tools.options.precision import PRECISIONS, precision_argv

from ..conftest import Tilewright

MATMUL = ("-c", "torch.randn(16, 64) @ torch.randn(64, 32)")


def _printed(tilewright: Tilewright, *words: str, source: tuple[str, ...] = MATMUL) -> str:
    result = tilewright("compile", "--ir", "torch", *words, *source)
    assert (result.code, result.err) == (0, "")
    return result.out


def test_the_words_are_those_of_the_ir():
    assert PRECISIONS == WORDS


def test_the_default_is_highest(tilewright: Tilewright):
    default = _printed(tilewright)
    assert default.startswith("builtin.module {")
    assert _printed(tilewright, "--matmul-precision", "highest") == default


@pytest.mark.parametrize("word", ["high", "medium"])
def test_the_module_names_the_precision(tilewright: Tilewright, word: str):
    printed = _printed(tilewright, "--matmul-precision", word)
    head = f'builtin.module attributes {{torch.matmul_precision = "{word}"}} {{'
    assert printed.startswith(head)
    Path("program.mlir").write_text(printed)
    assert _printed(tilewright, source=("program.mlir",)) == printed
    highest = _printed(tilewright, "--matmul-precision", "highest", source=("program.mlir",))
    assert highest == _printed(tilewright)


@pytest.mark.parametrize("command", ["compile", "run", "explain", "tune", "bench", "generate"])
def test_an_unknown_word_is_an_error_that_names_the_words(
    command: str, capsys: pytest.CaptureFixture[str]
):
    assert cli.main([command, "--matmul-precision", "hihg", "x"]) == 2
    assert capsys.readouterr().err.startswith(
        f"tilewright {command}: error: argument --matmul-precision: unknown precision 'hihg' "
        "(known: highest, high, medium)"
    )


def test_a_wrong_word_in_a_file_is_an_error_with_its_place(tilewright: Tilewright):
    text = _printed(tilewright, "--matmul-precision", "high").replace('"high"', '"hi"')
    Path("program.mlir").write_text(text)
    result = tilewright("compile", "program.mlir")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(
        "program.mlir:1:1: error: 'builtin.module': torch.matmul_precision is \"hi\", but has to "
        'be one of "highest", "high", "medium"\n'
    )


def test_ir_below_torch_has_its_precision_already(tilewright: Tilewright):
    loops = tilewright("compile", "--ir", "loop", *MATMUL)
    Path("loops.mlir").write_text(loops.out)
    result = tilewright("compile", "loops.mlir", "--matmul-precision", "high")
    assert (result.code, result.out, result.err) == (
        2,
        "",
        "error: --matmul-precision is for Torch IR, and 'loops.mlir' is at the level loop "
        "(its products have their precision already)\n",
    )


@needs_nvrtc
@pytest.mark.parametrize("word", ["high", "medium"])
def test_results_are_right_in_their_precision(tilewright: Tilewright, word: str):
    result = tilewright("run", "--device", "sim", "--matmul-precision", word, *MATMUL)
    assert (result.code, result.err) == (0, "")
    assert result.out.endswith("\nright\n")


def test_another_process_gets_the_option():
    assert precision_argv(None) == []
    assert precision_argv("high") == ["--matmul-precision", "high"]
