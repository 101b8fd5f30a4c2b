# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright simcheck`."""

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.numbers import number_of, seconds, seed

_EPILOG = """\
Each kernel first runs unchanged: its result must be right, and the simulator must report nothing.
Then it runs once with each planted bug. The table lists the planted bugs of each kernel, and how
many were found, by kind: a kind of the simulator's findings, `wrong` results, `unwritten` outputs,
an `endless` run, or `reported` if only the interpreter of Kernel IR reports it. Bugs that change no
result are counted separately, as without effect. Missed bugs and false alarms go to stderr.

exit code: 0 if every bug was found without false alarms; 1 if not; 2 if a source is malformed

  tilewright {} --quick                         some bugs of each kernel
  tilewright {} my/kernels                      your own kernels, written as in docs/simulator.md
  tilewright {} benchmarks/suite84.json --json FILE      the kernels of a suite
  tilewright {} --model tinyllama --mutants 20 --seed 3  the kernels of a model
"""


def add(add_parser: AddParser) -> None:
    """Add the command `simcheck` and its options to the command line."""
    help = "plant bugs in kernels, and check that the simulator finds them"
    parser = command(add_parser, "simcheck", help, _EPILOG)
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="*",
        help="folder of kernels, each NAME.cu with NAME.toml, or NAME.mlir; or SUITE.json, whose "
        "cases are compiled at smaller sizes; default: the kernels of a checkout",
    )
    parser.add_argument(
        "--model",
        metavar="MODEL",
        action="append",
        default=[],
        help="check the kernels of a model that read a prompt and generate a token: qwen2.5-7b, "
        "tinyllama, a folder with a config.json, or ORGANISATION/MODEL; may be repeated",
    )
    parser.add_argument(
        "--only", metavar="TEXT", default="", help="only kernels with TEXT in their name"
    )
    parser.add_argument("--target", metavar="ARCH", help="GPU architecture; default: sm_90a")
    bugs = parser.add_mutually_exclusive_group()
    bugs.add_argument("--quick", action="store_true", help="plant only some bugs in each kernel")
    bugs.add_argument(
        "--mutants",
        **number_of("bugs"),
        help="plant N random bugs in each kernel; default: 8 for suites and models, all for "
        "folders",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of the random bugs; default: 0"
    )
    parser.add_argument(
        "--stop-after",
        type=seconds,
        metavar="SECONDS",
        help="start no further kernel after this time; with --json, repeat the command to continue",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write counts and places as JSON, - for stdout; kernels already in FILE are not "
        "run again if seed, target and sources are the same",
    )
    parser.set_defaults(reads={"sources": "kernels", "model": "short model"})
