# SPDX-License-Identifier: Apache-2.0
"""Options that `opt-tool` has in addition to those of `xdsl-opt`."""

import argparse

from tilewright.tools.checks import EXACT, MODES, PROVE
from tilewright.tools.options.compile import add_only
from tilewright.tools.options.numbers import number_of


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that `xdsl-opt` does not have to the command line of `opt-tool`."""
    parser.add_argument(
        "--pass-pipeline",
        dest="passes",
        metavar="builtin.module(PASSES)",
        help="same as -p, in MLIR's syntax",
    )
    parser.add_argument(
        "--check",
        choices=(*MODES, EXACT, PROVE),
        default="none",
        help="interpret the IR before and after each pass, or the whole pipeline, and compare; "
        "exact: with integers, opaque functions and no tolerance; prove: prove each kernel of Tile "
        "IR after each pass, as `tilewright prove --same` does",
    )
    parser.add_argument(
        "--check-limit",
        **number_of("scalar operations"),
        help="skip the check of a function, with a remark, if it takes more than N scalar "
        "operations; default: 1342177280, some seconds per pass",
    )
    parser.add_argument(
        "--remarks", action="store_true", help="print on stderr what passes skipped, and why"
    )
    parser.add_argument(
        "--trace",
        action="store_true",
        help="print on stderr every rewrite as a diff, and the remarks",
    )
    add_only(parser, "--trace and --remarks")
