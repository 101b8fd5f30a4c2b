# SPDX-License-Identifier: Apache-2.0
"""
Options of commands that compile a program: the program, its target, its precision and its
schedules.
"""

import argparse

from tilewright.tools.options.database import add_database
from tilewright.tools.options.model import add_model
from tilewright.tools.options.precision import add_precision

EXPRESSION = """\
EXPR is a PyTorch expression, or statements that end in one. torch, nn, F and math are imported:
  tilewright {} -c "torch.nn.RMSNorm(2048)(torch.randn(1, 32, 2048))"
  tilewright {} -c "x = torch.randn(4, 8); F.softmax(x, -1)"
FILE is one of:
  model.pt2       a program that torch.export.save wrote
  file.py:NAME    a module, a function, or a class or function that makes a module; its inputs are
                  NAME.example_inputs, or example_inputs in the file
  any other file  IR at any level; - is stdin
MODEL is a causal language model of transformers: a folder, or ORGANISATION/MODEL of Hugging Face"""
"""Explanation of EXPR, FILE and MODEL, for the end of a command's help."""

BARE = f"""\
{EXPRESSION}.
Its weights are not needed:
  tilewright {{}} Qwen/Qwen2.5-7B --seq-len 128 --layers 2"""
"""End of the help of commands that compile a program without running it."""

PROMPTED = f"""\
{EXPRESSION}.
It needs its weights, and runs on a prompt:
  tilewright {{}} ./tinyllama --prompt "Once upon a time" --check"""
"""End of the help of commands that run a program."""


def add_source(parser: argparse.ArgumentParser, files: str) -> None:
    """
    Add the options for the program, its target and its precision; `files` is the help of FILE.
    """
    add_model(parser)
    program = parser.add_mutually_exclusive_group(required=True)
    program.add_argument("file", metavar="FILE", nargs="?", help=files)
    parser.set_defaults(reads={"file": "program"})
    program.add_argument("-c", dest="expression", metavar="EXPR", help="PyTorch expression")
    add_target(parser)
    add_precision(parser, "highest, or as a file of Torch IR says")


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add `--target`, the GPU architecture to compile for."""
    parser.add_argument(
        "--target",
        metavar="ARCH",
        help="GPU architecture to compile for; default: that of the GPU present, else sm_90a",
    )


def add_program(parser: argparse.ArgumentParser) -> None:
    """Add the options for the program, its target and precision, the database and schedules."""
    add_source(parser, "model.pt2, file.py:NAME, a file of IR, or a MODEL")
    add_database(parser)
    add_schedule(parser, "schedule of a kernel: passes as `explain` prints them; may be repeated")


def add_schedule(parser: argparse.ArgumentParser, help: str) -> None:
    """Add `--schedule`, the schedules of kernels, with its help."""
    parser.add_argument(
        "--schedule", metavar="[KERNEL=]PASSES", action="append", default=[], help=help
    )
