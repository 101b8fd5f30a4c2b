# SPDX-License-Identifier: Apache-2.0
"""The picture of fragments in `docs/` shows the table of matrix instructions."""

import re

import pytest
from documents import ROOT

from tilewright.tools.fragments_picture import picture


def labels(drawn: str) -> list[str]:
    """Return the texts in a picture."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawn)


def test_the_kept_picture_is_up_to_date():
    pytest.importorskip("matplotlib")
    kept = (ROOT / "docs" / "fragments.svg").read_text()
    command = "python -m tilewright.tools.fragments_picture docs/fragments.svg"
    assert labels(kept) == labels(picture()), f"run {command}"
    assert "L31.3" in labels(kept)
