# SPDX-License-Identifier: Apache-2.0
"""The tokens that end a text."""

from importlib import import_module
from pathlib import Path
from typing import Any

from tilewright.errors import UsageError

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
        except (OSError, ValueError, TypeError) as error:
            raise UsageError(f"{folder / FILE} cannot be read: {error}") from error
    ends: Any = source.eos_token_id
    if ends is None:
        return frozenset()
    return frozenset([ends] if isinstance(ends, int) else ends)
