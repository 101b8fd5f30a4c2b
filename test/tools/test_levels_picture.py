# SPDX-License-Identifier: Apache-2.0
"""The picture of the levels in `docs/` shows the compiler's output."""

import re

import pytest
from documents import ROOT

from tilewright.tools.levels_picture import LEVELS, lines_of, picture


def labels(drawn: str) -> list[str]:
    """Return the texts in a picture."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawn)


def test_the_kept_picture_is_up_to_date():
    pytest.importorskip("matplotlib")
    kept = (ROOT / "docs" / "levels.svg").read_text()
    lines = lines_of(ROOT / "examples" / "relu_matmul.mlir")
    command = "python -m tilewright.tools.levels_picture examples/relu_matmul.mlir docs/levels.svg"
    assert labels(kept) == labels(picture(lines)), f"run {command}"
    assert {level.name for level in LEVELS} <= {*labels(kept)}
