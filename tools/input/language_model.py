# SPDX-License-Identifier: Apache-2.0
"""
A language model on the command line: a folder with a `config.json`, or `ORGANISATION/MODEL`.

What `transformers` knows of it is loaded only for one.
"""

import argparse
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from tilewright.errors import UsageError
from tilewright.models.config import FoundModel, find_model
from tilewright.tools.input.sources import names_model
from tilewright.tools.options.model import OPTIONS
from tilewright.tools.output.progress import Say, silent

DEFAULT_LENGTH = 128
"""Tokens, of a model that takes so many."""


@dataclass(frozen=True)
class LanguageModel:
    """A model as the command line asks for it."""

    found: FoundModel
    structure: Any
    """Its modules, of fake tensors."""
    attention: str
    length: int
    """Tokens of the sequence."""

    @property
    def program(self) -> Any:
        """It on a whole sequence: a `tilewright.frontend.expression.Expression`."""
        whole_sequence = import_module("tilewright.models.whole").whole_sequence
        return whole_sequence(self.structure, self.length)


def is_model(args: argparse.Namespace) -> bool:
    """
    Whether the program is a language model.

    Raises `UsageError` if it is none, but an option of models is given.
    """
    if args.file is not None and names_model(args.file):
        return True
    for option, spelled in OPTIONS.items():
        if getattr(args, option, None) is not None:
            remedy = "a folder with a config.json, or ORGANISATION/MODEL of Hugging Face"
            raise UsageError(f"{spelled} goes with a MODEL only", remedy=remedy)
    return False


def language_model(args: argparse.Namespace, say: Say = silent) -> LanguageModel:
    """The model that the arguments name."""
    say("config")
    found = find_model(args.file)
    say("structure")
    attention = args.attention or "sdpa"
    structure = import_module("tilewright.models.structure").build(
        found.config, dtype=args.dtype, attention=attention, layers=args.layers
    )
    length = args.seq_len or min(DEFAULT_LENGTH, found.config.max_position_embeddings)
    return LanguageModel(found, structure, attention, length)
