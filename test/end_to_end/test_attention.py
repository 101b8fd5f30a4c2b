# SPDX-License-Identifier: Apache-2.0
"""
Attention at odd lengths and dimensions, from PyTorch text to a checked run. It is one kernel, whose
blocks compute each weight once. Products of other weights with a sum of rows are here, too: their
threads share the statistics of each row.
"""

import re

import pytest

from tilewright.tools.cli import main

_QKV = "q = torch.randn(1, 4, 37, 20); k, v = (torch.randn(1, 2, 45, 20) for _ in range(2)); "
_SAME = "q = torch.randn(1, 3, 37, 20); k, v = (torch.randn(1, 3, 45, 20) for _ in range(2)); "
_HALVES = "q, k, v = (torch.randn(1, 3, 37, 12, dtype=torch.{}) for _ in range(3)); "
_SDPA = "F.scaled_dot_product_attention"

SHARED = [
    _QKV + f"{_SDPA}(q, k, v, is_causal=True, enable_gqa=True)",
    _SAME + "F.softmax(q @ k.transpose(-2, -1) * 0.2 + torch.full((37, 45), -1e9).triu(1), -1) @ v",
    _HALVES.format("float16") + f"{_SDPA}(q, k, v)",
    _HALVES.format("bfloat16") + f"{_SDPA}(q, k, v, is_causal=True)",
]
ROWS_OF_NOTHING = (
    _QKV + "mask = torch.ones(37, 45, dtype=torch.bool); mask[3] = False; mask[20:] = False; "
    f"{_SDPA}(q, k, v, mask, enable_gqa=True)"
)
ROWS_OF_NAN = (  # the largest score of the last three rows is -inf, which -inf less is NaN
    _SAME + "mask = torch.full((37, 45), -math.inf).tril(10); "
    "F.softmax(q @ k.transpose(-2, -1) * 0.2 + mask, -1) @ v"
)
CLEANED = (  # a select of values under a mask that hides them: not one of them is NaN
    "keep = torch.arange(32) < 20; v = torch.randn(1, 1, 32, 16); v[..., 20:, :] = torch.nan; "
    "q, k = torch.randn(1, 1, 8, 16), torch.randn(1, 1, 32, 16); "
    f"{_SDPA}(q, k, torch.where(keep[:, None], v, 0.0), keep[None, :].expand(8, 32))"
)
NOT_ROUNDED = (  # the program multiplies float32 weights, whatever the type of the values
    _HALVES.format("bfloat16") + "F.softmax(q.float() @ k.float().mT, -1) @ v.float()"
)
SINKS = (  # a number of each head is one more score of its rows, and has no value
    _SAME + "s = torch.cat([q @ k.mT * 0.2, torch.randn(3).view(1, 3, 1, 1).expand(1, 3, 37, 1)], "
    "-1); F.softmax(s, -1)[..., :-1] @ v"
)
MEANS = (  # weights that are no softmax, because no maximum is subtracted
    "s, v = torch.randn(3, 37, 45), torch.randn(3, 45, 20); w = torch.exp(s); "
    "(w / w.sum(-1, keepdim=True).clamp(min=1)) @ v"
)

OTHERS = [ROWS_OF_NOTHING, ROWS_OF_NAN, CLEANED, NOT_ROUNDED, SINKS, MEANS]


@pytest.mark.one_in(6)
@pytest.mark.parametrize("expression", [*SHARED, *OTHERS])
def test_runs_right(expression: str) -> None:
    assert main(["run", "-c", expression, "--target", "sm_90a"]) == 0


def wide(rows: int, depth: int, keys: int, columns: int, dtype: str) -> str:
    """Return the text of attention whose heads have `depth` elements, and values `columns`."""
    sizes = f"({rows}, {depth}), ({keys}, {depth}), ({keys}, {columns})"
    make = f"(torch.randn(1, 2, *size, dtype=torch.{dtype}) for size in ({sizes}))"
    return f"q, k, v = {make}; {_SDPA}(q, k, v, is_causal=True)"


def test_wide_heads_run_right(capsys: pytest.CaptureFixture[str]) -> None:
    """Several warps share the columns of a row, and its weights through shared memory."""
    expression = wide(9, 33, 24, 257, "float16")
    assert main(["run", "-c", expression, "--target", "sm_90a"]) == 0
    assert "%wn = warp 4 n" in tile_ir(expression, capsys)


@pytest.mark.parametrize(
    "expression",
    [
        wide(37, 320, 40, 320, "bfloat16"),  # two blocks of 160 columns
        wide(9, 40, 21, 1030, "bfloat16"),
        wide(20, 257, 24, 257, "float32"),
        wide(5, 320, 40, 320, "float32"),
        wide(5, 576, 17, 512, "float16"),
        wide(20, 40, 30, 300, "float32"),
    ],
)
@pytest.mark.usefixtures("every_case")
def test_other_wide_heads_run_right(expression: str) -> None:
    assert main(["run", "-c", expression, "--target", "sm_90a"]) == 0
    assert main(["run", "-c", expression, "--target", "sm_80"]) == 0


def test_a_row_has_one_reciprocal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "-c", MEANS, "--target", "sm_90a"]) == 0
    text = capsys.readouterr().out
    assert text.count("1.0f / ") == 1
    assert "divide_approximately" not in text


def tile_ir(expression: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the Tile IR of the only kernel of an expression."""
    assert main(["compile", "-c", expression, "--ir", "tile", "--target", "sm_90a"]) == 0
    _, kernel = capsys.readouterr().out.split("loop.kernel")
    return kernel


def test_statistics_are_shared(capsys: pytest.CaptureFixture[str]) -> None:
    text = tile_ir(MEANS, capsys)
    assert "cooperative-reduce" in text
    statistics, contraction = text.split("loop.reduce %ko")
    assert "tile.combine" in statistics
    assert "tile.share" in statistics
    stages, chunk = contraction.split("%chunk = ")
    assert "math.exp" in stages
    assert "math.exp" not in chunk


@pytest.mark.one_in(3)
@pytest.mark.parametrize("expression", [*SHARED, ROWS_OF_NAN])
def test_attention_computes_each_weight_once(
    expression: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """
    Threads combine the statistics of a chunk and share its weights. The sums of the products are
    divided once, with correct rounding.
    """
    _, loop = tile_ir(expression, capsys).split("loop.reduce %ko")
    statistics, products = loop.split("tile.share")
    assert re.findall(r"tile\.combine .* with (max|add)", statistics) == ["max", "add"]
    assert statistics.count("math.exp") == 1
    assert "math.exp" not in products
    _, epilogue = products.rsplit("loop.yield", 1)
    assert loop.count("arith.divf") == epilogue.count("arith.divf") == 1
    assert "afn" not in epilogue


def test_weights_are_rounded_where_the_program_rounds_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "arith.truncf %weight" not in tile_ir(NOT_ROUNDED, capsys)
    assert "arith.truncf %weight" in tile_ir(SHARED[-1], capsys)
