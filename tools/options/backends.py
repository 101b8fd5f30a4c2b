# SPDX-License-Identifier: Apache-2.0
"""Option of measuring commands: the PyTorch backends to compare with."""

import argparse

from tilewright.tools.argument_parser import unknown_value

BACKENDS = ("eager", "compile", "max-autotune")
"""Names of the PyTorch backends that `bench` compares with (`tools/bench/contestants.py`)."""


def add_backends(parser: argparse.ArgumentParser) -> None:
    """Add `--backends` to a command."""
    parser.add_argument(
        "--backends",
        type=_backends,
        metavar="A,B",
        help=f"PyTorch backends to compare with, from {', '.join(BACKENDS)}; default: all",
    )


def _backends(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name for name in text.split(",") if name))
    if unknown := [name for name in names if name not in BACKENDS]:
        raise argparse.ArgumentTypeError(unknown_value("backend", unknown[0], BACKENDS))
    return names
