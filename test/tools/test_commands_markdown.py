# SPDX-License-Identifier: Apache-2.0
"""The reference page of the commands agrees with the parsers."""

from documents import ROOT

from tilewright.tools.cli import command_names
from tilewright.tools.commands_markdown import markdown


def test_the_page_is_up_to_date():
    kept = (ROOT / "docs" / "commands.md").read_text()
    command = "python -m tilewright.tools.commands_markdown docs/commands.md"
    assert kept == markdown(), f"run {command}"


def test_it_has_all_commands_and_options():
    text = markdown()
    for name in command_names():
        assert f"\n## `tilewright {name}`\n" in text
    assert "| `--schedule [KERNEL=]PASSES` | " in text
    assert "| options of a MODEL | meaning |" in text
    assert "## `tilewright db export`" in text
