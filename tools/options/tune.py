# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright tune`."""

import argparse
import re

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.database import add_database
from tilewright.tools.options.name_patterns import regex
from tilewright.tools.options.numbers import natural, number_of, seconds, seed
from tilewright.tools.options.program import add_schedule, add_source

EVALUATORS = ("gpu", "model")
SEARCHES = ("mcts", "random", "greedy", "evolution")
"""Names of the searches in `tools/tune/searches.py`."""

DEFAULT_BUDGET = 200
"""Number of schedules that are tried for each kernel by default."""

DEFAULT_PROGRAMS = 8
"""Number of fusions of a program that are tried by default, besides the default fusion."""

_EPILOG = """\
Each kernel is tuned separately, and equal kernels are tuned once. The planner's schedule is
measured first, so the best schedule is never slower. Every measurement goes into the database at
once, even if the schedule fails. compile, run, bench and torch.compile look up the best schedule
there. Control-C stops the search and keeps the measurements so far. A suite contains Python
expressions, which are executed: use only suites that you trust.

  tilewright {} -c "nn.RMSNorm(2048)(torch.randn(1, 32, 2048))" -v --budget 10m
  tilewright {} benchmarks/suite84.json --filter softmax --evaluator model

exit code: 0 if every kernel has a best schedule; 1 if one could not be measured; 130: interrupted
"""
_UNITS = {"s": 1, "m": 60, "h": 3600}


def add(add_parser: AddParser) -> None:
    """Add the command `tune` and its options to the command line."""
    help = "search for the fastest schedule of each kernel, and store it in a database"
    parser = command(add_parser, "tune", help, _EPILOG)
    add_source(
        parser, "model.pt2, file.py:NAME, a MODEL, IR at the level loop or above, or a suite.json"
    )
    parser.add_argument(
        "--filter",
        type=regex,
        metavar="RE",
        help="only cases of a suite with a match of the regular expression RE in their name",
    )
    help = (
        "steps and options that all schedules of a kernel have: plan-schedules, and passes as "
        "`explain` prints them; may be repeated"
    )
    add_schedule(parser, help)
    parser.add_argument(
        "--space",
        action="store_true",
        help="print the number of possible schedules, and measure nothing",
    )
    parser.add_argument(
        "--evaluator",
        choices=EVALUATORS,
        default="gpu",
        help="measure kernels on a GPU, or estimate their times with a model; default: gpu",
    )
    parser.add_argument(
        "--shortlist",
        **number_of("schedules"),
        help="with --evaluator model: compile the N best, and rank them by their machine code",
    )
    _add_search(parser)
    help = "tuning database to write; default: the user's own"
    add_database(parser, help, "store no measurements", is_written=True)
    parser.add_argument(
        "--resume",
        action="store_true",
        help="do not measure schedules again that the database already has",
    )
    _add_processes(parser)
    parser.add_argument(
        "--json", metavar="FILE", help="also write the results as JSON, - for stdout"
    )
    parser.add_argument(
        "-v", dest="verbose", action="store_true", help="print on stderr the time of each schedule"
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options for the search and its budget."""
    parser.add_argument(
        "--search", choices=SEARCHES, default="mcts", help="search algorithm; default: mcts"
    )
    parser.add_argument(
        "--budget",
        type=budget,
        default=DEFAULT_BUDGET,
        metavar="N|TIME",
        help="number of schedules per kernel, or time per kernel: 90s, 10m, 1h; default: 200",
    )
    parser.add_argument(
        "--programs",
        type=natural("number of programs"),
        default=DEFAULT_PROGRAMS,
        metavar="N",
        help="number of alternative fusions of the program to try, 0 for none; default: 8",
    )
    parser.add_argument(
        "--patience",
        **number_of("schedules"),
        help="stop after N schedules without improvement",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of the search; default: 0"
    )


def _add_processes(parser: argparse.ArgumentParser) -> None:
    """Add the options for the processes that compile and measure schedules."""
    parser.add_argument(
        "--scheduler",
        metavar="URL",
        help="measure on the workers of a Dask scheduler: tcp://host:8786 in a trusted network, or "
        "tls://host:8786 with the certificates of Dask's configuration",
    )
    parser.add_argument(
        "--jobs",
        **number_of("processes"),
        help="number of schedules compiled in parallel; default: the number of cores",
    )
    parser.add_argument(
        "--limit",
        type=seconds,
        default=180.0,
        metavar="SECONDS",
        help="time after which a process that compiles or runs is killed; default: 180",
    )


def budget(text: str) -> int | float:
    """Return a number of schedules as an int, or a time in seconds as a float."""
    if text.isdecimal() and int(text):
        return int(text)
    if matched := re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text):
        if (time := float(matched[1]) * _UNITS[matched[2]]) > 0:
            return time
    raise argparse.ArgumentTypeError(
        f"'{text}' is not a number of schedules, nor a time such as 10m"
    )
