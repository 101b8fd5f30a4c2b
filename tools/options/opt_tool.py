# SPDX-License-Identifier: Apache-2.0
"""The options of `opt-tool` that `xdsl-opt` does not have."""

import argparse

from tilewright.tools.checks import MODES
from tilewright.tools.options.compile import add_only
from tilewright.tools.options.numbers import number_of


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add them to the command line."""
    parser.add_argument(
        "--pass-pipeline",
        dest="passes",
        metavar="builtin.module(PASSES)",
        help="the same as -p, in MLIR's spelling",
    )
    parser.add_argument(
        "--check",
        choices=MODES,
        default="none",
        help="interpret the IR before and after each pass, or at both ends, and compare",
    )
    parser.add_argument(
        "--check-limit",
        **number_of("scalar operations"),
        help="leave functions unchecked that take more than N scalar operations, with a remark; "
        "default: 1342177280, some seconds a pass",
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
