# SPDX-License-Identifier: Apache-2.0
"""Prompt of a command, and folder of the model that continues it."""

import argparse
from pathlib import Path

from tilewright.errors import UsageError
from tilewright.models.config import FoundModel
from tilewright.models.prompt import Prompt, prompt_of_text, prompt_of_tokens


def weights_folder(found: FoundModel) -> Path:
    """
    Return the folder of the model's weights and tokenizer. Raises `UsageError` if only its config
    is available.
    """
    if found.folder is None:
        raise UsageError(
            f"only the config of '{found.name}' is available, and running needs its weights",
            remedy="name the folder that it was downloaded to",
        )
    return found.folder


def prompt_of(args: argparse.Namespace, folder: Path, vocabulary: int) -> Prompt:
    """
    Return the prompt of `--prompt` or `--prompt-ids`, for the model in `folder` with `vocabulary`
    tokens.
    """
    if args.prompt is not None:
        return prompt_of_text(folder, args.prompt, vocabulary)
    return prompt_of_tokens(folder, args.prompt_ids, vocabulary)
