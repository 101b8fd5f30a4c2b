# SPDX-License-Identifier: Apache-2.0
"""
Settings in `generation_config.json`: the tokens that end a text, and changes to the likeliest
tokens.
"""

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

from tilewright.errors import UsageError, one_line

FILE = "generation_config.json"

_CHANGES_THE_LIKELIEST = {
    "bad_words_ids": None,
    "begin_suppress_tokens": None,
    "diversity_penalty": 0,
    "encoder_no_repeat_ngram_size": 0,
    "encoder_repetition_penalty": 1,
    "exponential_decay_length_penalty": None,
    "forced_bos_token_id": None,
    "forced_eos_token_id": None,
    "guidance_scale": 1,
    "min_length": 0,
    "min_new_tokens": 0,
    "no_repeat_ngram_size": 0,
    "num_beams": 1,
    "penalty_alpha": 0,
    "sequence_bias": None,
    "stop_strings": None,
    "suppress_tokens": None,
    "watermarking_config": None,
}
"""
Settings that make `transformers` generate other tokens, each with the value that has no effect.
"""


_LARGEST = 1e30
"""Largest penalty: beyond it, logits times the penalty may not be finite."""


class GenerationConfig(NamedTuple):
    """Settings that this package follows, and the names of those that it ignores."""

    ends: frozenset[int]
    """Tokens that end a text, none or several."""
    repetition_penalty: float
    """Penalty of `sampling.penalised`; 1 changes nothing."""
    ignored: tuple[str, ...] = ()
    """
    Names of ignored settings that would change the tokens that `transformers` takes for the
    likeliest.
    """


def generation_config_of(config: Any, folder: Path) -> GenerationConfig:
    """
    Return the settings of the model in `folder`; without a file, `config` has the tokens that end a
    text. Raises `UsageError` if the file cannot be read, or has an invalid value.
    """
    source = config.get_text_config()
    if not (folder / FILE).is_file():
        return GenerationConfig(_ends(source, folder), 1.0)
    reader: Any = import_module("transformers").GenerationConfig
    try:
        source = reader.from_pretrained(folder)
    except Exception as error:  # each of its fields has exceptions of its own
        raise UsageError(f"{folder / FILE} cannot be read: {one_line(error)}") from error
    given = {name: getattr(source, name, None) for name in _CHANGES_THE_LIKELIEST}
    ignored = tuple(n for n, v in given.items() if v not in (None, _CHANGES_THE_LIKELIEST[n]))
    return GenerationConfig(_ends(source, folder), _penalty(source, folder), ignored)


def _ends(source: Any, folder: Path) -> frozenset[int]:
    ends: Any = source.eos_token_id
    if ends is None:
        return frozenset()
    tokens = cast(list[Any], ends) if isinstance(ends, list) else [ends]
    if not all(type(token) is int for token in tokens):
        message = f"{folder / FILE} has the eos_token_id {ends!r}"
        raise UsageError(message, remedy="it must be a token's number, a list of numbers, or null")
    return frozenset(tokens)


def _penalty(source: Any, folder: Path) -> float:
    penalty: Any = source.repetition_penalty
    if penalty is None:
        return 1.0
    if type(penalty) not in (int, float) or not 0 < penalty <= _LARGEST:
        message = f"{folder / FILE} has the repetition_penalty {penalty!r}"
        raise UsageError(message, remedy="it must be above 0 and at most 1e30, or null")
    return float(penalty)
