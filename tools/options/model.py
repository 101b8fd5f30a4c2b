# SPDX-License-Identifier: Apache-2.0
"""The options of a language model: how much of it, how long, of which dtype."""

import argparse

from tilewright.models.structure import ATTENTIONS, DTYPES
from tilewright.tools.options.numbers import positive

OPTIONS = {
    "seq_len": "--seq-len",
    "layers": "--layers",
    "dtype": "--dtype",
    "attention": "--attention",
    "prompt": "--prompt",
    "prompt_ids": "--prompt-ids",
    "logits": "-o",
}
"""What they are called in arguments and on the command line; None stands for the default."""


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add them to a command."""
    group = parser.add_argument_group("options of a MODEL")
    group.add_argument(
        "--seq-len",
        type=positive("positive number of tokens"),
        metavar="N",
        help="tokens; default: 128, or the most that it takes if they are fewer",
    )
    group.add_argument(
        "--layers",
        type=positive("positive number of layers"),
        metavar="N",
        help="only its first N decoder layers",
    )
    group.add_argument("--dtype", choices=DTYPES, help="of its weights; default: its config's")
    group.add_argument(
        "--attention", choices=ATTENTIONS, help="how attention is written; default: sdpa"
    )
