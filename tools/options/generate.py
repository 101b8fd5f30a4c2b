# SPDX-License-Identifier: Apache-2.0
"""Options of `tilewright generate`."""

import argparse

from tilewright.models.structure import DTYPES
from tilewright.tools.options.command import AddParser, command
from tilewright.tools.options.database import add_database
from tilewright.tools.options.numbers import number_of, seed
from tilewright.tools.options.precision import add_precision
from tilewright.tools.options.program import add_target
from tilewright.tools.options.prompt import add_prompt

DEVICES = ("auto", "gpu", "sim", "interpreter")

_EXAMPLES = """\
MODEL is a folder with config.json, safetensors and a tokenizer, as save_pretrained writes it, or
ORGANISATION/MODEL of Hugging Face, which must have been downloaded:
  tilewright {} ./tinyllama --prompt "Once upon a time" --max-new-tokens 40
  tilewright {} ./tinyllama --prompt-ids 1,2,3 --max-new-tokens 8 --temperature 0.7 --top-p 0.9
Each step takes the likeliest token, unless --temperature, --top-k or --top-p requests sampling."""


def add(add_parser: AddParser) -> None:
    """Add the command `generate` and its options to the command line."""
    help = "continue a text with a language model"
    parser = command(add_parser, "generate", help, _EXAMPLES)
    parser.add_argument("model", metavar="MODEL", help="folder of a model, or ORGANISATION/MODEL")
    parser.set_defaults(reads={"model": "model"})
    add_prompt(parser, required=True)
    parser.add_argument(
        "--max-new-tokens",
        **number_of("tokens"),
        required=True,
        help="number of tokens to generate; fewer if the model ends the text",
    )
    _add_draws(parser)
    parser.add_argument(
        "--dtype", choices=DTYPES, help="dtype of the weights; default: the model's own"
    )
    parser.add_argument(
        "--device",
        choices=DEVICES,
        default="auto",
        help="device that runs the model; auto: the GPU, or the simulator if there is none",
    )
    add_target(parser)
    add_precision(parser)
    add_database(parser)
    parser.add_argument(
        "-v",
        dest="verbose",
        action="store_true",
        help="at the end, print on stderr the times and the compiled programs",
    )


def _add_draws(parser: argparse.ArgumentParser) -> None:
    """Add the options of sampling."""
    parser.add_argument(
        "--temperature",
        type=float,
        metavar="T",
        help="sampling temperature: values above 1 make the draw more even, below 1 less even",
    )
    parser.add_argument(
        "--top-k", type=int, metavar="K", help="sample only among the K likeliest tokens"
    )
    parser.add_argument(
        "--top-p",
        type=float,
        metavar="P",
        help="sample only among the likeliest tokens whose probabilities add up to P",
    )
    parser.add_argument(
        "--repetition-penalty",
        type=float,
        metavar="R",
        help="a value above 1 makes tokens less likely that are already in the text; default: from "
        "the model's generation_config.json, else 1",
    )
    parser.add_argument("--seed", type=seed, metavar="N", help="seed of the sampling; default: 0")
