# SPDX-License-Identifier: Apache-2.0
"""The option of commands that measure: whom to compare with."""

import argparse

from tilewright.tools.argument_parser import unknown_value

BACKENDS = ("eager", "compile", "max-autotune")
"""Whom `bench` compares with: those of `tools/bench/contestants.py`, which are PyTorch's."""


def add_backends(parser: argparse.ArgumentParser) -> None:
    """Add it to a command."""
    parser.add_argument(
        "--backends",
        type=_backends,
        metavar="A,B",
        help=f"whom to compare with, of {', '.join(BACKENDS)}; default: all",
    )


def _backends(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name for name in text.split(",") if name))
    if unknown := [name for name in names if name not in BACKENDS]:
        raise argparse.ArgumentTypeError(unknown_value("backend", unknown[0], BACKENDS))
    return names
