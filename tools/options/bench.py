# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright bench`."""

import argparse

from tilewright.tools.options.backends import add_backends
from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.database import add_database
from tilewright.tools.options.model import add_variant
from tilewright.tools.options.name_patterns import regex
from tilewright.tools.options.numbers import seconds, several
from tilewright.tools.options.precision import add_precision

_EPILOG = """\
Tilewright and PyTorch, eager and compiled, run every case, each as a CUDA graph. Their results are
first compared with float64; then all are timed in turns. Cases that PyTorch wins come first in the
table. No ratio is shown if a result is wrong, a time is impossible, or noise exceeds the
difference. A suite contains Python expressions, which are executed: use only suites that you trust.

  tilewright {} benchmarks/suite84.json --json results.json --plot results.png
  tilewright {} benchmarks/suite84.json --static      without a GPU
  tilewright {} --published benchmarks/kernelbench-level1.json --json estimates.json
  tilewright {} --model qwen2.5-7b --block --seq 32,128

exit code: 0 if every measured case is right, 1 if not. See docs/benchmarking.md.
"""

SHORT = {
    "qwen2.5-7b": "Qwen/Qwen2.5-7B",
    "tinyllama": "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
}
"""Short names of models, mapped to names that `find_model` accepts."""


def add(add_parser: AddParser) -> None:
    """Add the command `bench` and its options to the command line."""
    help = "time the cases of a suite, or a model's decoder block, against PyTorch"
    parser = command(add_parser, "bench", help, _EPILOG)
    parser.add_argument(
        "suite",
        metavar="SUITE",
        nargs="?",
        help="JSON file of cases, for example benchmarks/suite84.json",
    )
    parser.set_defaults(reads={"suite": "file", "model": "short model"})
    _add_block(parser)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--static",
        action="store_true",
        help="print limits on the speed of kernels, computed from their machine code; "
        "needs no GPU and times nothing",
    )
    kinds.add_argument(
        "--published",
        action="store_true",
        help="SUITE is a table of times published for PyTorch: print estimated times beside them, "
        "and ratios; needs no GPU and times nothing",
    )
    names = parser.add_mutually_exclusive_group()
    names.add_argument(
        "--only", metavar="TEXT", default="", help="only cases with TEXT in their name"
    )
    names.add_argument(
        "--filter",
        type=regex,
        metavar="RE",
        help="only cases with a match of the regular expression RE in their name",
    )
    parser.add_argument(
        "--target",
        metavar="ARCH",
        help="GPU architecture for --static and --published; default: sm_90a",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write the results as JSON, - for stdout; cases already in FILE are not measured "
        "again if GPU, versions, sources, schedules and backends are the same",
    )
    add_backends(parser)
    add_precision(parser)
    add_database(parser)
    _add_times(parser)


def _add_times(parser: argparse.ArgumentParser) -> None:
    """Add the options of timed runs."""
    parser.add_argument("--plot", metavar="FILE", help="draw a bar chart: .png, .svg, .pdf")
    parser.add_argument(
        "--limit",
        type=seconds,
        metavar="SECONDS",
        help="time after which a process that compiles or runs is killed; default: 180",
    )
    parser.add_argument(
        "--stop-after",
        type=seconds,
        metavar="SECONDS",
        help="start no further case after this time; repeat the command to continue",
    )
    parser.add_argument(
        "--retry", action="store_true", help="measure again the cases that failed or were wrong"
    )


def _add_block(parser: argparse.ArgumentParser) -> None:
    """Add the options that select a decoder block."""
    group = parser.add_argument_group("a decoder block, instead of a suite")
    group.add_argument(
        "--model",
        metavar="MODEL",
        help="qwen2.5-7b, tinyllama, a folder with a config.json, or ORGANISATION/MODEL",
    )
    group.add_argument(
        "--block", action="store_true", help="measure one decoder layer with random weights"
    )
    group.add_argument(
        "--seq",
        type=several("positive number of tokens"),
        metavar="N,...",
        help="numbers of tokens, a case for each; default: 32,128,512",
    )
    add_variant(group, "float32")
