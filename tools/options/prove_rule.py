# SPDX-License-Identifier: Apache-2.0
"""Options of `opt-tool prove-rule`."""

import argparse

from tilewright.tools.argument_parser import ArgumentParser
from tilewright.tools.options.numbers import number_of
from tilewright.tools.options.rule_programs import add_pdl, add_programs
from tilewright.tools.rules.limits import Limits

_DESCRIPTION = """\
Search programs that a rewrite rule matches, apply it once, and compare both sides: with exact
numbers, ordinary floats, and adversarial ones (NaN, infinities, zeros, the largest)."""

_EPILOG = """\
A RULE is FILE.py:Pattern, package.module:Pattern, or FILE.py for all patterns that the file
defines. A pattern is a class without arguments, or an instance. Programs are those of the tests in
a checkout, and random ones around the op that the pattern matches. This is testing: a rule is not
refuted, rather than proved (docs/checking-a-rule.md).

exit code: 0 if no rule is refuted; 1 if a rule is wrong; 2 if a rule never matched"""


def parser() -> ArgumentParser:
    """Return the parser of the command line."""
    default = Limits()
    found = ArgumentParser(
        prog="opt-tool prove-rule",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    found.add_argument("rules", metavar="RULE", nargs="*", help="pattern, or file of patterns")
    add_pdl(found)
    found.add_argument(
        "--real",
        action="store_true",
        help="compare functions of real numbers: only ordinary floats where the result is finite, "
        "and exact numbers",
    )
    found.add_argument(
        "--first",
        action="store_true",
        help="stop at the first counterexample; no condition is proposed",
    )
    found.add_argument(
        "--matches",
        **number_of("matches"),
        default=default.matches,
        help=f"compare N matches of each rule; default: {default.matches}",
    )
    add_programs(found, default)
    return found
