# SPDX-License-Identifier: Apache-2.0
"""The options of a language model: how much of it, how long, of which dtype."""

import argparse

from tilewright.models.structure import ATTENTIONS, DTYPES
from tilewright.tools.options.command import Options
from tilewright.tools.options.numbers import number_of

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
        **number_of("tokens"),
        help="tokens, where no prompt says how many; default: 128, or the most that it takes if "
        "they are fewer",
    )
    group.add_argument("--layers", **number_of("layers"), help="only its first N decoder layers")
    add_variant(group, "its config's")


def add_variant(options: Options, dtype: str) -> None:
    """Add which variant of it to take; `dtype` is the default one."""
    options.add_argument("--dtype", choices=DTYPES, help=f"type of its weights; default: {dtype}")
    options.add_argument(
        "--attention", choices=ATTENTIONS, help="implementation of attention; default: sdpa"
    )
