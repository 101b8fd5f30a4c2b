# SPDX-License-Identifier: Apache-2.0
"""The options of `tilewright bench`."""

import argparse

from tilewright.tools.options.backends import add_backends
from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.database import add_database
from tilewright.tools.options.model import add_variant
from tilewright.tools.options.name_patterns import regex
from tilewright.tools.options.numbers import seconds, several

_EPILOG = """\
Every case is computed by Tilewright and by PyTorch, eager and compiled, each as a CUDA graph. First
results are compared with float64, then all are timed in turns. Losses come first in the table. No
ratio is shown where a result is wrong, a time is not possible, or noise exceeds the difference. The
expressions of a suite are code, which is run: take suites that you trust.

  tilewright {} benchmarks/suite84.json --json results.json --plot results.png
  tilewright {} benchmarks/suite84.json --static      without a GPU
  tilewright {} --model qwen2.5-7b --block --seq 32,128

exit code: 0 if all that was measured is right, 1 if not; docs/benchmarking.md says more
"""

SHORT = {
    "qwen2.5-7b": "Qwen/Qwen2.5-7B",
    "tinyllama": "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
}
"""Short names of models, and what `find_model` takes."""


def add(add_parser: AddParser) -> None:
    """Add them to the command line."""
    help = "measure the cases of a suite, or a model's decoder block, against PyTorch"
    parser = command(add_parser, "bench", help, _EPILOG)
    parser.add_argument(
        "suite",
        metavar="SUITE",
        nargs="?",
        help="cases, as benchmarks/suite84.json has them",
    )
    parser.set_defaults(reads={"suite": "file", "model": "short model"})
    _add_block(parser)
    parser.add_argument(
        "--static",
        action="store_true",
        help="print limits on the speed of kernels, from their machine code; "
        "no GPU is needed, and nothing is timed",
    )
    names = parser.add_mutually_exclusive_group()
    names.add_argument("--only", metavar="TEXT", default="", help="cases with TEXT in their name")
    names.add_argument(
        "--filter", type=regex, metavar="RE", help="cases whose name has a match of RE in it"
    )
    parser.add_argument("--target", metavar="ARCH", help="with --static; default: sm_90a")
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="also write all figures, - for stdout; times that are in FILE already are not taken "
        "again, if they are of the same GPU, versions, sources, schedules and backends",
    )
    add_backends(parser)
    add_database(parser)
    _add_times(parser)


def _add_times(parser: argparse.ArgumentParser) -> None:
    """Add those of what is timed."""
    parser.add_argument("--plot", metavar="FILE", help="draw a bar chart: .png, .svg or .pdf")
    parser.add_argument(
        "--limit",
        type=seconds,
        metavar="SECONDS",
        help="kill processes that compile or run for longer; default: 180",
    )
    parser.add_argument(
        "--stop-after",
        type=seconds,
        metavar="SECONDS",
        help="begin no case after so long; the same command goes on from there",
    )
    parser.add_argument(
        "--retry", action="store_true", help="also measure again what gave nothing, or was wrong"
    )


def _add_block(parser: argparse.ArgumentParser) -> None:
    """Add those of a decoder block."""
    group = parser.add_argument_group("a decoder block, in the place of a suite")
    group.add_argument(
        "--model",
        metavar="MODEL",
        help="qwen2.5-7b, tinyllama, a folder with a config.json, or ORGANISATION/MODEL",
    )
    group.add_argument(
        "--block", action="store_true", help="one decoder layer, with random weights"
    )
    group.add_argument(
        "--seq",
        type=several("positive number of tokens"),
        metavar="N,...",
        help="tokens, of each number a case; default: 32,128,512",
    )
    add_variant(group, "float32")
