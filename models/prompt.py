# SPDX-License-Identifier: Apache-2.0
"""
Prompts that a model continues, given as text or as token numbers, and conversion of tokens to text.

The tokenizer is the one in the model's folder, with the special tokens that it puts before a text.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from tilewright.errors import UsageError, one_line

_TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.json")
"""
Files of tokenizers: a folder with a tokenizer has one of them. Without any, some families would
make an empty tokenizer.
"""


_PANIC = "PanicException"
"""Name of the exception of a failed Rust library; it derives from `BaseException`."""


@dataclass(frozen=True)
class Prompt:
    """Tokens of a prompt, with the model's tokenizer."""

    tokens: tuple[int, ...]
    tokenizer: Any | None
    """Tokenizer of the model; None if it has none that can be read."""

    def text_of(self, tokens: Sequence[int]) -> str | None:
        """Return tokens as text; None without a tokenizer."""
        if self.tokenizer is None:
            return None
        with _reading(self.tokenizer.name_or_path):
            return self.tokenizer.decode([*tokens])


def prompt_of_text(folder: Path, text: str, vocabulary: int) -> Prompt:
    """
    Return the prompt `text` for the model in `folder`, which has `vocabulary` tokens.

    Raises `UsageError` if the tokenizer is missing, damaged or of another model, or if `text` is
    empty or not UTF-8.
    """
    tokenizer = _tokenizer(folder)
    _check_text(text)
    with _reading(folder):
        tokens: list[int] = tokenizer(text)["input_ids"] if text else []
    return Prompt(_checked(tokens, vocabulary), tokenizer)


def prompt_of_tokens(folder: Path, tokens: Sequence[int], vocabulary: int) -> Prompt:
    """
    Return the prompt `tokens` for the model in `folder`, which has `vocabulary` tokens.

    Raises `UsageError` for numbers that are no tokens.
    """
    checked = _checked(tokens, vocabulary)
    try:
        return Prompt(checked, _tokenizer(folder))
    except UsageError:
        return Prompt(checked, None)  # only output as text would need it


def _check_text(text: str) -> None:
    """
    Raise `UsageError` for bytes of the command line that are not UTF-8: Python reads each as a lone
    surrogate.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        place = f"character {error.start + 1}"
        raise UsageError(f"the prompt is no text: its {place} is not UTF-8") from error


def _checked(tokens: Sequence[int], vocabulary: int) -> tuple[int, ...]:
    if not tokens:
        raise UsageError("the prompt is empty: there is nothing to continue")
    if unknown := [*dict.fromkeys(str(t) for t in tokens if not 0 <= t < vocabulary)]:
        remedy = f"the model's tokens are 0 to {vocabulary - 1}"
        message = f"the prompt has numbers that are no tokens: {', '.join(unknown)}"
        raise UsageError(message, remedy=remedy)
    return tuple(tokens)


def _tokenizer(folder: Path) -> Any:
    if not any((folder / file).exists() for file in _TOKENIZERS):
        remedy = "give the prompt as tokens: --prompt-ids 1,2,3"
        raise UsageError(f"'{folder}' has no tokenizer for --prompt", remedy=remedy)
    auto: Any = import_module("transformers").AutoTokenizer
    with _reading(folder):
        return auto.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


@contextmanager
def _reading(folder: Path | str) -> Generator[None]:
    """Raise `UsageError` for any exception that a damaged tokenizer causes, of whatever library."""
    try:
        yield
    except BaseException as error:
        if not (isinstance(error, Exception) or type(error).__name__ == _PANIC):
            raise
        raise UsageError(f"cannot read the tokenizer in '{folder}': {one_line(error)}") from error
