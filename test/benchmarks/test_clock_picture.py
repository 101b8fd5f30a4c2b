# SPDX-License-Identifier: Apache-2.0
"""The picture of the clock's errors in `docs/` shows the stored rows."""

import re

import clock_picture
import pytest
from clock_error import stored_rows
from documents import ROOT


def points(drawn: str) -> list[tuple[float, float]]:
    """Return the places of the points in a picture."""
    found = re.findall(r'<use xlink:href="#\w+" x="([-\d.]+)" y="([-\d.]+)" style="fill', drawn)
    return [(float(x), float(y)) for x, y in found]


def test_the_kept_picture_is_up_to_date():
    pytest.importorskip("matplotlib")
    kept = points((ROOT / "docs" / "clock-errors.svg").read_text())
    rows = [row for data in clock_picture.TITLES for row in stored_rows(data) if "clock_us" in row]
    assert len(kept) == len(rows)
    command = "python benchmarks/clock_picture.py docs/clock-errors.svg"
    assert kept == [
        (pytest.approx(x, abs=0.1), pytest.approx(y, abs=0.1))
        for x, y in points(clock_picture.picture())
    ], f"run {command}"
