# SPDX-License-Identifier: Apache-2.0
"""Options of a language model: its length, number of layers, dtype and attention."""

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
"""
Options on the command line, by their names in the parsed arguments, where None means the default.
"""


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the options of a MODEL to a command."""
    group = parser.add_argument_group("options of a MODEL")
    group.add_argument(
        "--seq-len",
        **number_of("tokens"),
        help="number of tokens, if no prompt is given; default: 128, or the model's maximum if "
        "that is smaller",
    )
    group.add_argument(
        "--layers", **number_of("layers"), help="use only the first N decoder layers"
    )
    add_variant(group, "from its config")


def add_variant(options: Options, dtype: str) -> None:
    """
    Add the options that select a variant of a model; `dtype` names the default dtype in the help.
    """
    options.add_argument("--dtype", choices=DTYPES, help=f"dtype of the weights; default: {dtype}")
    options.add_argument(
        "--attention", choices=ATTENTIONS, help="implementation of attention; default: sdpa"
    )
