# SPDX-License-Identifier: Apache-2.0
"""The tokens that end a text."""

from importlib import import_module
from pathlib import Path
from typing import Any, cast

from tilewright.errors import UsageError, one_line

FILE = "generation_config.json"


def ends_of(config: Any, folder: Path) -> frozenset[int]:
    """
    The tokens behind which a model is done, none or several: those of the generation config in its
    folder, or else of its config. Raises `UsageError` if that cannot be read.
    """
    source = config.get_text_config()
    if (folder / FILE).is_file():
        generation_config: Any = import_module("transformers").GenerationConfig
        try:
            source = generation_config.from_pretrained(folder)
        except Exception as error:  # each of its fields has exceptions of its own
            raise UsageError(f"{folder / FILE} cannot be read: {one_line(error)}") from error
    ends: Any = source.eos_token_id
    if ends is None:
        return frozenset()
    tokens = cast(list[Any], ends) if isinstance(ends, list) else [ends]
    if not all(type(token) is int for token in tokens):
        says = f"{folder / FILE} says that eos_token_id is {ends!r}"
        raise UsageError(says, remedy="it is a token's number, a list of them, or null")
    return frozenset(tokens)
