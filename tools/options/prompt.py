# SPDX-License-Identifier: Apache-2.0
"""The options that say what a language model is to continue."""

import argparse


def add_prompt(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add them to a command."""
    prompt = parser.add_mutually_exclusive_group(required=required)
    prompt.add_argument("--prompt", metavar="TEXT", help="the text that a MODEL continues")
    prompt.add_argument("--prompt-ids", type=_tokens, metavar="N,N", help="the same, as tokens")


def _tokens(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"'{text}' is no list of tokens such as 1,2,3")
    return [int(part) for part in parts]
