# SPDX-License-Identifier: Apache-2.0
"""The options of commands that compile a program: what, for which GPU, scheduled how."""

import argparse

from tilewright.tools.options.database import add_database
from tilewright.tools.options.model import add_model

EXPRESSION = """\
An EXPR is a PyTorch expression, or statements that end in one; torch, nn, F and math are known:
  tilewright {} -c "torch.nn.RMSNorm(2048)(torch.randn(1, 32, 2048))"
  tilewright {} -c "x = torch.randn(4, 8); F.softmax(x, -1)"
A FILE is model.pt2, which torch.export.save wrote; or file.py:NAME, a module, a function, or what
makes a module, with its arguments as NAME.example_inputs or example_inputs in the file; or IR at
any level, - for the standard input. A MODEL is a causal language model of transformers, by its
folder or as ORGANISATION/MODEL of Hugging Face"""
"""What programs may be, for the end of their help."""

BARE = f"""\
{EXPRESSION}; its weights are not needed:
  tilewright {{}} Qwen/Qwen2.5-7B --seq-len 128 --layers 2"""
"""The epilog of what runs no program."""

PROMPTED = f"""\
{EXPRESSION}, with its weights; it runs on a prompt:
  tilewright {{}} ./tinyllama --prompt "Once upon a time" --check"""
"""The epilog of what runs it."""


def add_source(parser: argparse.ArgumentParser, files: str) -> None:
    """Add which program, and for which GPU, to a command; `files` is what it may come in."""
    add_model(parser)
    program = parser.add_mutually_exclusive_group(required=True)
    program.add_argument("file", metavar="FILE", nargs="?", help=files)
    parser.set_defaults(reads={"file": "program"})
    program.add_argument("-c", dest="expression", metavar="EXPR", help="a PyTorch expression")
    add_target(parser)


def add_target(parser: argparse.ArgumentParser) -> None:
    """Add what to compile for."""
    parser.add_argument(
        "--target", metavar="ARCH", help="GPU architecture; default: the GPU present, else sm_90a"
    )


def add_program(parser: argparse.ArgumentParser) -> None:
    """Add them to a command."""
    add_source(parser, "model.pt2, file.py:NAME, IR, or a MODEL")
    add_database(parser)
    parser.add_argument(
        "--schedule",
        metavar="[KERNEL=]PASSES",
        action="append",
        default=[],
        help="schedule a kernel by these passes, as `explain` prints them; may be repeated",
    )
