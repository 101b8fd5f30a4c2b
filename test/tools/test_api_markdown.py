# SPDX-License-Identifier: Apache-2.0
"""The reference page of the Python API agrees with the code."""

from documents import ROOT

import tilewright
from tilewright.dialects import get_all_dialects
from tilewright.tools.api_markdown import markdown


def test_the_page_is_up_to_date():
    kept = (ROOT / "docs" / "python-api.md").read_text()
    command = "python -m tilewright.tools.api_markdown docs/python-api.md"
    assert kept == markdown(), f"run {command}"


def test_it_has_the_api_and_the_ops():
    text = markdown()
    for name in tilewright.__all__:
        assert f"\n### {name}\n" in text
    for op in get_all_dialects()["tile"]().operations:
        assert f"| `{op.__name__}(" in text
    assert "| `.bound_axes()` | " in text
