# SPDX-License-Identifier: Apache-2.0
"""Options of the programs on which rewrite rules are tried, and of rules that are PDL text."""

from tilewright.tools.argument_parser import ArgumentParser
from tilewright.tools.options.numbers import natural
from tilewright.tools.rules.limits import Limits


def add_pdl(parser: ArgumentParser) -> None:
    """Add `--pdl`."""
    parser.add_argument(
        "--pdl",
        metavar="FILE",
        action="append",
        default=[],
        help="check the rules of a file of PDL text; may be repeated",
    )


def add_programs(parser: ArgumentParser, default: Limits, of_each: str = "") -> None:
    """Add `--programs` and `--texts`; random programs are drawn for `of_each`."""
    parser.add_argument(
        "--programs",
        type=natural("number of programs"),
        metavar="N",
        default=default.programs,
        help=f"draw at most N random programs{of_each}; default: {default.programs}",
    )
    parser.add_argument(
        "--texts",
        type=natural("number of texts"),
        metavar="N",
        default=default.texts,
        help=f"read at most N texts of the tests; default: {default.texts}",
    )
