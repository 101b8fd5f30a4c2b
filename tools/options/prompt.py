# SPDX-License-Identifier: Apache-2.0
"""Options for the prompt of a language model."""

import argparse


def add_prompt(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add `--prompt` and `--prompt-ids`, of which at most one may be given, to a command."""
    prompt = parser.add_mutually_exclusive_group(required=required)
    prompt.add_argument("--prompt", metavar="TEXT", help="text that the MODEL continues")
    prompt.add_argument("--prompt-ids", type=_tokens, metavar="N,N", help="prompt as token numbers")


def _tokens(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is not a list of tokens such as 1,2,3")
    return [int(part) for part in parts]
