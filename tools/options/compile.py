# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright compile`."""

import argparse

from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.program import BARE, add_program

LEVELS = ("torch", "tensor", "loop", "tile", "kernel", "cuda")


def add(add_parser: AddParser) -> None:
    """Add the command `compile` and its options to the command line."""
    help = "compile a program, and print its IR at a level or its CUDA source"
    parser = command(add_parser, "compile", help, BARE)
    parser.set_defaults(uncollected=True)
    add_program(parser)
    parser.add_argument(
        "--ir", choices=LEVELS, default="cuda", help="level to print; default: cuda"
    )
    parser.add_argument(
        "--print-debuginfo",
        action="store_true",
        help="print the IR with source locations, from which comments in CUDA text take the names "
        "of PyTorch's operators",
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
    """Add `--only`, the filter of traces; `options` names the options that print traces."""
    parser.add_argument(
        "--only",
        metavar="TEXT",
        action="append",
        default=[],
        help=f"limit {options} to rules, passes and kernels with TEXT in their name, for example "
        "t:007, stage-inputs or matmul; t:007@matmul is a rule at a kernel; may be repeated",
    )


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options for output files and reports."""
    parser.add_argument(
        "-o",
        dest="output",
        metavar="FILE",
        help="output file, - for stdout; for a MODEL an output folder, unless it ends in .cu",
    )
    parser.add_argument(
        "--plan",
        metavar="FILE",
        help="also write the launch plan, as .txt, .md (Mermaid) or .dot (Graphviz); "
        "- prints it instead of the IR",
    )
    parser.add_argument(
        "--host",
        action="store_true",
        help="write a complete CUDA program to -o FILE.cu, and its data to FILE.bin; its main runs "
        "and times the kernels, and compares the results",
    )
    parser.add_argument(
        "--report",
        action="store_true",
        help="print a report on the machine code of each kernel instead of the IR",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write that report as JSON; - is stdout, and text then goes to stderr",
    )
    parser.add_argument(
        "--prove",
        action="store_true",
        help="with --report or --json, also prove each kernel with z3, as `tilewright prove` does; "
        "the JSON has the certificates",
    )
