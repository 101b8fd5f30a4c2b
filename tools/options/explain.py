# SPDX-License-Identifier: Apache-2.0
"""The options of `tilewright explain`."""

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.program import BARE, add_program


def add(add_parser: AddParser) -> None:
    """Add them to the command line."""
    help = "print how each kernel is scheduled, and why"
    parser = command(add_parser, "explain", help, BARE)
    add_program(parser)
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write all of it as JSON; - is stdout, and the text goes to stderr",
    )
