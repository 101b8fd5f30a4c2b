# SPDX-License-Identifier: Apache-2.0
"""The options of `tilewright compile`."""

import argparse

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.program import BARE, add_program

LEVELS = ("torch", "tensor", "loop", "tile", "kernel", "cuda")


def add(add_parser: AddParser) -> None:
    """Add them to the command line."""
    help = "print the IR of a program at a level, or its CUDA source"
    parser = command(add_parser, "compile", help, BARE)
    add_program(parser)
    parser.add_argument("--ir", choices=LEVELS, default="cuda", help="the level; default: cuda")
    parser.add_argument(
        "--print-debuginfo",
        action="store_true",
        help="print the IR with locations: comments of the CUDA text that is made of it keep the "
        "names of PyTorch's operators",
    )
    _add_outputs(parser)
    parser.add_argument(
        "-v",
        dest="verbosity",
        action="count",
        default=0,
        help="print on stderr what passes skipped, and why; -vv prints every rewrite before the IR",
    )
    add_only(parser, "-v and -vv")


def add_only(parser: argparse.ArgumentParser, options: str) -> None:
    """Add the filter of traces; `options` are those that print them."""
    parser.add_argument(
        "--only",
        metavar="TEXT",
        action="append",
        default=[],
        help=f"limit {options} to rules, passes and kernels with TEXT in their name, as t:007, "
        "stage-inputs or matmul; t:007@matmul is a rule at a kernel; may be repeated",
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add what is written where."""
    parser.add_argument(
        "-o",
        dest="output",
        metavar="FILE",
        help="write to a file, - for stdout; for a MODEL to a folder, unless it ends in .cu",
    )
    parser.add_argument(
        "--plan",
        metavar="FILE",
        help="also write the launch plan: .txt, .md (Mermaid), .dot (Graphviz); "
        "- prints it in the place of the IR",
    )
    parser.add_argument(
        "--host",
        action="store_true",
        help="write a whole CUDA program to -o FILE.cu, whose main runs and times the kernels and "
        "compares the results; its data goes to FILE.bin",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="print a report on the machine code of each kernel, in the place of the IR",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write that report to a file as JSON; - is stdout, and text goes to stderr",
    )
