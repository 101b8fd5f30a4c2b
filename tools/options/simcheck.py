# SPDX-License-Identifier: Apache-2.0
"""The options of `tilewright simcheck`."""

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.numbers import number_of, seconds, seed

_EPILOG = """\
Each kernel is run as it is, when nothing may be found and its result is right, and then with each
bug. The table has the bugs planted in it, how many were found, and as what: a kind of finding,
`wrong` results, outputs left `unwritten`, an `endless` run, or `reported` by the interpreter of
Kernel IR alone. Mutants that change no result are counted apart, as without effect. What was
missed, or found without cause, is listed on stderr.

exit code: 0 if all was found and nothing else; 1 if not; 2 for sources that cannot be understood

  tilewright {} --quick                         some bugs of each kernel
  tilewright {} my/kernels                      your own; docs/simulator.md says how to write them
  tilewright {} benchmarks/suite84.json --json FILE      the kernels of a suite
  tilewright {} --model tinyllama --mutants 20 --seed 3  those of a model
"""


def add(add_parser: AddParser) -> None:
    """Add them to the command line."""
    help = "plant bugs in kernels, and see that the simulator finds them"
    parser = command(add_parser, "simcheck", help, _EPILOG)
    parser.add_argument(
        "sources",
        metavar="SOURCE",
        nargs="*",
        help="a folder of NAME.cu with NAME.toml, and NAME.mlir; or SUITE.json, whose kernels are "
        "taken as the planner makes them, at smaller sizes; default: the kernels of a checkout",
    )
    parser.add_argument(
        "--model",
        metavar="MODEL",
        action="append",
        default=[],
        help="the kernels of a model that read a prompt and add a token: qwen2.5-7b, tinyllama, a "
        "folder with a config.json, or ORGANISATION/MODEL; may be given again",
    )
    parser.add_argument(
        "--only", metavar="TEXT", default="", help="kernels with TEXT in their name"
    )
    parser.add_argument("--target", metavar="ARCH", help="GPU architecture; default: sm_90a")
    bugs = parser.add_mutually_exclusive_group()
    bugs.add_argument("--quick", action="store_true", help="some bugs of each kernel only")
    bugs.add_argument(
        "--mutants",
        **number_of("bugs"),
        help="plant N bugs in each kernel, drawn at random; default: 8 for suites and models, all "
        "for folders",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="of what is drawn; default: 0"
    )
    parser.add_argument(
        "--stop-after",
        type=seconds,
        metavar="SECONDS",
        help="begin no kernel after so long; the same command with --json goes on from there",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write counts and places, - for stdout; kernels that are in FILE already are not "
        "run again, if seed, target and sources are the same",
    )
    parser.set_defaults(reads={"sources": "kernels", "model": "short model"})
