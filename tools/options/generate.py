# SPDX-License-Identifier: Apache-2.0
"""The options of `tilewright generate`."""

import argparse

from tilewright.models.structure import DTYPES
from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.database import add_database
from tilewright.tools.options.numbers import number_of, seed
from tilewright.tools.options.program import add_target
from tilewright.tools.options.prompt import add_prompt

DEVICES = ("auto", "gpu", "sim", "interpreter")

_EXAMPLES = """\
A MODEL is a folder with a config.json, safetensors and a tokenizer, as save_pretrained writes it,
or ORGANISATION/MODEL of Hugging Face, downloaded before:
  tilewright {} ./tinyllama --prompt "Once upon a time" --max-new-tokens 40
  tilewright {} ./tinyllama --prompt-ids 1,2,3 --max-new-tokens 8 --temperature 0.7 --top-p 0.9
The likeliest token is taken each time, unless --temperature, --top-k or --top-p asks for draws."""


def add(add_parser: AddParser) -> None:
    """Add them to the command line."""
    help = "continue a text with a language model"
    parser = command(add_parser, "generate", help, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="a folder, or ORGANISATION/MODEL")
    parser.set_defaults(reads={"model": "model"})
    add_prompt(parser, required=True)
    parser.add_argument(
        "--max-new-tokens",
        **number_of("tokens"),
        required=True,
        help="number of tokens to add, unless the text ends before",
    )
    _add_draws(parser)
    parser.add_argument("--dtype", choices=DTYPES, help="type of the weights; default: the model's")
    parser.add_argument(
        "--device",
        choices=DEVICES,
        default="auto",
        help="a GPU, the simulator, or the interpreter; auto takes a GPU if there is one",
    )
    add_target(parser)
    add_database(parser)
    parser.add_argument(
        "-v",
        dest="verbose",
        action="store_true",
        help="print on stderr at the end the time it took, and the programs that ran",
    )


def _add_draws(parser: argparse.ArgumentParser) -> None:
    """Add how tokens are chosen."""
    parser.add_argument(
        "--temperature",
        type=float,
        metavar="T",
        help="draw tokens: above 1 more evenly, below less",
    )
    parser.add_argument("--top-k", type=int, metavar="K", help="draw among the K likeliest tokens")
    parser.add_argument(
        "--top-p", type=float, metavar="P", help="draw among the likeliest that reach P together"
    )
    parser.add_argument(
        "--repetition-penalty",
        type=float,
        metavar="R",
        help="above 1: make tokens that the text has already less likely; default: the model's "
        "generation_config.json, or 1",
    )
    parser.add_argument("--seed", type=seed, metavar="N", help="seed of the draws; default: 0")
