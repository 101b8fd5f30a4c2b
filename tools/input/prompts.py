# SPDX-License-Identifier: Apache-2.0
"""The prompt that a command is given, and the folder of the model that continues it."""

import argparse
from pathlib import Path

from tilewright.errors import UsageError
from tilewright.models.config import FoundModel
from tilewright.models.prompt import Prompt, prompt_of_text, prompt_of_tokens


def weights_folder(found: FoundModel) -> Path:
    """Where a model's weights and tokenizer lie. `UsageError` if only its config is known."""
    if found.folder is None:
        raise UsageError(
            f"of '{found.name}' only the config is here: nothing runs without weights",
            remedy="give the folder that it was downloaded to",
        )
    return found.folder


def prompt_of(args: argparse.Namespace, folder: Path, vocabulary: int) -> Prompt:
    """What `--prompt` or `--prompt-ids` says, for the model in `folder` with so many tokens."""
    if args.prompt is not None:
        return prompt_of_text(folder, args.prompt, vocabulary)
    return prompt_of_tokens(folder, args.prompt_ids, vocabulary)
