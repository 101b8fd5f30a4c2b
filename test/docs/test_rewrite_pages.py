# SPDX-License-Identifier: Apache-2.0
"""The pages of the rewrites agree with the docstrings of the passes."""

import pytest
from documents import ROOT

from tilewright.tools.pass_pages import pages

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str):
    written = (ROOT / "docs" / "rewrites" / name).read_text()
    assert written == PAGES[name], "run python -m tilewright.tools.pass_pages docs/rewrites"


def test_there_is_no_other_page():
    assert {path.name for path in (ROOT / "docs" / "rewrites").iterdir()} == set(PAGES)
