# SPDX-License-Identifier: Apache-2.0
"""Options of `opt-tool lint-rules`."""

import argparse

from tilewright.tools.argument_parser import ArgumentParser
from tilewright.tools.options.rule_programs import add_pdl, add_programs
from tilewright.tools.rules.limits import Limits

LIMITS = Limits(programs=600)
"""Default limits of the programs."""

_DESCRIPTION = """\
Find rewrite rules that never fire, are shadowed by an earlier rule, do not end, or depend on the
order in which they are applied."""

_EPILOG = """\
The patterns of a FILE are rules that are applied together, in their order. Without a FILE, the
rules are those of Tilewright's passes that apply several patterns, and of canonicalize. Programs
are those of the tests in a checkout, and random ones (docs/checking-a-rule.md).

exit code: 0 without findings; 1 with findings"""


def parser() -> ArgumentParser:
    """Return the parser of the command line."""
    found = ArgumentParser(
        prog="opt-tool lint-rules",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    found.add_argument("files", metavar="FILE", nargs="*", help="file of patterns, FILE.py")
    add_pdl(found)
    add_programs(found, LIMITS, " for each file or pass")
    return found
