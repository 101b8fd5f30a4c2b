# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright doctor`."""

from tilewright.tools.options.command import AddParser, command


def add(add_parser: AddParser) -> None:
    """Add the command `doctor` to the command line."""
    command(add_parser, "doctor", "print what is installed, and what works")
