# SPDX-License-Identifier: Apache-2.0
"""
Attention at odd lengths and dimensions, from PyTorch text to a checked run. The weights are
computed once per block, with statistics that the threads of each row share.
"""

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


@pytest.mark.parametrize("expression", [*SHARED, ROWS_OF_NOTHING, ROWS_OF_NAN])
def test_runs_right(expression: str) -> None:
    assert main(["run", "-c", expression, "--target", "sm_90a"]) == 0


def test_weights_are_divided_approximately(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "-c", ROWS_OF_NAN, "--target", "sm_90a"]) == 0
    assert "divide_approximately(expf(" in capsys.readouterr().out


@pytest.mark.parametrize("expression", SHARED[:2])
def test_statistics_are_shared(expression: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "-c", expression, "--ir", "tile", "--target", "sm_90a"]) == 0
    text = capsys.readouterr().out
    assert "tile.share" in text
    *_, contraction = text.split("loop.reduce %ko")
    stages, chunk = contraction.split("%chunk = ")
    assert "math.exp" in stages
    assert "math.exp" not in chunk
