# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright run`."""

import argparse

from tilewright.tools.options.backends import add_backends
from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.numbers import number_of, seed
from tilewright.tools.options.program import PROMPTED, add_program
from tilewright.tools.options.prompt import add_prompt


def add(add_parser: AddParser) -> None:
    """Add the command `run` and its options to the command line."""
    help = "compile a program, run its kernels and compare the results"
    parser = command(add_parser, "run", help, PROMPTED)
    add_program(parser)
    parser.set_defaults(reads={"file": "program", "against": "file", "inputs": "file"})
    add_prompt(parser, required=False)
    parser.add_argument(
        "-o",
        dest="logits",
        metavar="FILE",
        help="write a MODEL's logits to a safetensors file, as the tensor `logits`",
    )
    parser.add_argument(
        "--device",
        choices=("auto", "gpu", "sim"),
        default="auto",
        help="device that runs the kernels; auto: the GPU, or the simulator if there is none",
    )
    parser.add_argument(
        "--blocks",
        **number_of("blocks"),
        help="simulate at most about N blocks of each kernel, spread over its grid",
    )
    parser.add_argument(
        "--matrix-sums",
        choices=("rounded-once", "truncated"),
        help="how tensor cores add in the simulator; truncated: bits are cut off as on an A100; "
        "default: rounded-once",
    )
    _add_judging(parser)
    _add_reports(parser)


def _add_judging(parser: argparse.ArgumentParser) -> None:
    """Add the options for the inputs, and for what results are compared with."""
    inputs = parser.add_mutually_exclusive_group()
    inputs.add_argument(
        "--seed", type=seed, default=0, metavar="N", help="seed of the random inputs; default: 0"
    )
    inputs.add_argument(
        "--inputs", metavar="FILE", help="safetensors file with the inputs of a FILE of IR, by name"
    )
    parser.add_argument(
        "--against", metavar="FILE", help="another file of IR that must compute the same results"
    )
    parser.add_argument(
        "--check",
        nargs="?",
        choices=("results", "each", "end", "exact", "none"),
        default="none",
        const="results",
        help="results: compare a MODEL's logits with those of transformers (other programs are "
        "compared wherever there is a reference); each: also interpret the IR before and after "
        "each pass; end: also interpret it before the first and after the last pass; exact: as "
        "each, with integers, opaque functions and no tolerance",
    )


def _add_reports(parser: argparse.ArgumentParser) -> None:
    """Add the options for reports, timings and profiles."""
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the results as JSON; - is stdout, and the tables then go to stderr",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="also print a report on the machine code of each kernel, as compile --report does",
    )
    parser.add_argument(
        "--bench",
        action="store_true",
        help="also time the program against PyTorch on a GPU, as bench does",
    )
    add_backends(parser)
    parser.add_argument(
        "--profile",
        action="store_true",
        help="also print counters of each kernel from Nsight Compute (ncu), if it is installed",
    )
