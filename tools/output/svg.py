# SPDX-License-Identifier: Apache-2.0
"""Pictures of the documentation as SVG text, which is the same in each run."""

from importlib import import_module
from io import StringIO
from typing import Any

BLUE, GRAY = "#dbe7f6", "#5f6b7a"

BOX = {"boxstyle": "round", "facecolor": BLUE, "edgecolor": GRAY}
"""Style of a box around a label."""

ARROW = {"arrowstyle": "->", "color": GRAY, "shrinkA": 11, "shrinkB": 11}
"""Style of an arrow between two boxes."""


def svg_text(figure: Any, salt: str) -> str:
    """Return a figure of matplotlib as SVG; `salt` fixes the identifiers in the text."""
    matplotlib: Any = import_module("matplotlib")
    drawn = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        figure.savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()
