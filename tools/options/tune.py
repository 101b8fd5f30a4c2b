# SPDX-License-Identifier: Apache-2.0
"""The options of `tilewright tune`."""

import argparse
import re

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.database import add_database
from tilewright.tools.options.name_patterns import regex
from tilewright.tools.options.numbers import natural, number_of, seconds, seed
from tilewright.tools.options.program import add_source

EVALUATORS = ("gpu", "model")
SEARCHES = ("mcts", "random", "greedy", "evolution")
"""Those of `tools/tune/searches.py`."""

DEFAULT_BUDGET = 200
"""Schedules of each kernel."""

DEFAULT_PROGRAMS = 8
"""Ways to fuse a program, besides the default."""

_EPILOG = """\
Each kernel is tuned by itself, kernels that are alike once. The planner's schedule comes first; the
best is never slower than that. Every measurement goes into the database at once, also of schedules
that fail: there compile, run, bench and torch.compile find the best. Control-C ends with what was
found so far. The expressions of a suite are code, and are run as that of -c: take suites that you
trust.

  tilewright {} -c "nn.RMSNorm(2048)(torch.randn(1, 32, 2048))" -v --budget 10m
  tilewright {} benchmarks/suite84.json --filter softmax --evaluator model

exit code: 0 if every kernel has a best schedule; 1 if one could not be measured; 130: interrupted
"""
_UNITS = {"s": 1, "m": 60, "h": 3600}


def add(add_parser: AddParser) -> None:
    """Add them to the command line."""
    help = "search for the fastest schedule of each kernel, and remember it"
    parser = command(add_parser, "tune", help, _EPILOG)
    add_source(
        parser, "model.pt2, file.py:NAME, a MODEL, IR at the level loop or above, or a suite.json"
    )
    parser.add_argument(
        "--filter", type=regex, metavar="RE", help="cases of a suite with a match in their name"
    )
    parser.add_argument(
        "--space", action="store_true", help="print the number of schedules, and measure none"
    )
    parser.add_argument(
        "--evaluator",
        choices=EVALUATORS,
        default="gpu",
        help="source of the times of kernels: the GPU, or a model, which needs none",
    )
    parser.add_argument(
        "--shortlist",
        **number_of("schedules"),
        help="with the model: also compile the N best, and rank them by their machine code",
    )
    _add_search(parser)
    help = "the database of measurements; default: the user's own"
    add_database(parser, help, "keep nothing", is_written=True)
    parser.add_argument(
        "--resume", action="store_true", help="measure nothing again that the database knows"
    )
    _add_processes(parser)
    parser.add_argument(
        "--json", metavar="FILE", help="also write all that was found as JSON, - for stdout"
    )
    parser.add_argument(
        "-v", dest="verbose", action="store_true", help="print on stderr the time of each schedule"
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    """Add how schedules are searched for, and for how long."""
    parser.add_argument("--search", choices=SEARCHES, default="mcts", help="default: mcts")
    parser.add_argument(
        "--budget",
        type=budget,
        default=DEFAULT_BUDGET,
        metavar="N|TIME",
        help="schedules of each kernel, or a time for each, as 90s, 10m or 1h; default: 200",
    )
    parser.add_argument(
        "--programs",
        type=natural("number of programs"),
        default=DEFAULT_PROGRAMS,
        metavar="N",
        help="ways to fuse the program that are tried besides the default, 0 for none; default: 8",
    )
    parser.add_argument(
        "--patience",
        **number_of("schedules"),
        help="end after so many schedules that are no better",
    )
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="default: 0")


def _add_processes(parser: argparse.ArgumentParser) -> None:
    """Add where schedules are compiled and measured."""
    parser.add_argument(
        "--scheduler",
        metavar="URL",
        help="measure on the workers of a Dask scheduler, tcp://host:8786 in a network that is "
        "trusted, or tls://host:8786 with the certificates of Dask's configuration",
    )
    parser.add_argument(
        "--jobs",
        **number_of("processes"),
        help="schedules that are compiled at once; default: one for each core",
    )
    parser.add_argument(
        "--limit",
        type=seconds,
        default=180.0,
        metavar="SECONDS",
        help="kill processes that compile or run for longer; default: 180",
    )


def budget(text: str) -> int | float:
    """Return a number of schedules, or seconds as a float."""
    if text.isdecimal() and int(text):
        return int(text)
    if matched := re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text):
        if (time := float(matched[1]) * _UNITS[matched[2]]) > 0:
            return time
    raise argparse.ArgumentTypeError(f"'{text}' is no number of schedules, and no time as 10m")
