# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright fuzz`."""

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.numbers import natural, number_of, seed

SCHEDULES = 2
"""Default number of random schedules for each graph."""

_EPILOG = """\
A graph is a random program of PyTorch. It is captured and lowered for a random target, and each
pass must keep its results. It runs in the simulator with the planner's schedules and with random
legal ones, and its results are compared with PyTorch's. A graph that fails is shrunk, and written
as DIR/fuzz-SEED-NUMBER.py with the command that repeats it. If a pass fails by itself, its IR is
written as .mlir with a RUN line. With --mlir, texts of the tests' IR are mutated: opt-tool must
accept or diagnose each. A graph or mutant depends on its seed and number alone.

exit code: 0 without failures; 1 with failures

  tilewright {} --minutes 10 --jobs 2
  tilewright {} --seed 7 --only 12          the graph 12 of seed 7 again
  tilewright {} --mlir --count 5000
"""


def add(add_parser: AddParser) -> None:
    """Add the command `fuzz` and its options to the command line."""
    help = "check random programs at all levels, with random schedules, against PyTorch"
    parser = command(add_parser, "fuzz", help, _EPILOG)
    parser.set_defaults(forks=True)
    parser.add_argument(
        "--mlir",
        nargs="?",
        choices=("tests", "all"),
        const="tests",
        help="mutate IR in opt-tool, instead of drawing graphs; tests: that of the tests of a "
        "checkout; all: also that of expressions, at each level",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of the draws; default: 0"
    )
    count = parser.add_mutually_exclusive_group()
    count.add_argument(
        "--count",
        **number_of("programs"),
        help="number of graphs or mutants; default: 200, or 1000",
    )
    count.add_argument(
        "--only", type=natural("number"), metavar="NUMBER", help="check this graph or mutant only"
    )
    parser.add_argument(
        "--minutes", **number_of("minutes"), help="stop after this time; default: no limit"
    )
    parser.add_argument(
        "--jobs", **number_of("processes"), default=1, help="number of processes; default: 1"
    )
    parser.add_argument(
        "--schedules",
        type=natural("number of schedules"),
        default=SCHEDULES,
        metavar="N",
        help=f"number of random schedules for each graph; default: {SCHEDULES}",
    )
    parser.add_argument(
        "--keep", metavar="DIR", default="fuzz", help="folder for failures; default: fuzz"
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write the counts and failures as JSON; - is stdout, and the text then goes to "
        "stderr",
    )
