# SPDX-License-Identifier: Apache-2.0
"""
Numbers of a model's config, with the largest value that each may have.

A `config.json` may ask for 1e9 layers, and `transformers` would begin to make the modules. The
limits are several times the sizes of the largest models (Llama 3.1 405B: 126 layers of 16384).
Larger numbers are therefore mistakes.
"""

from collections.abc import Iterable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from tilewright.errors import UsageError

_SIZES: Mapping[str, int] = {
    **dict.fromkeys(("num_hidden_layers", "n_layer", "max_window_layers"), 1_000),
    **dict.fromkeys(("hidden_size", "n_embd"), 131_072),
    **dict.fromkeys(("num_attention_heads", "n_head", "num_key_value_heads", "head_dim"), 4_096),
    **dict.fromkeys(("intermediate_size", "n_inner"), 1_048_576),
    "vocab_size": 8_388_608,
    **dict.fromkeys(("max_position_embeddings", "n_positions", "sliding_window"), 1_073_741_824),
}
"""
Largest value of each size in a config, by its names in the families. Sizes are whole numbers above
0.
"""

_ZERO = ("max_window_layers",)
"""Names of the sizes that may be 0."""

_OPTIONAL = ("num_key_value_heads", "head_dim", "n_inner", "sliding_window", "max_window_layers")
"""Names of the sizes that may be null: the model has no use for them, or computes them."""

_FACTORS = ("rope_theta", "factor", "rms_norm_eps", "layer_norm_epsilon")
"""Names of numbers above 0 that need not be whole."""


def check_sizes(facts: Mapping[str, Any], path: Path) -> None:
    """
    Raise `UsageError` with all numbers of a config that are not between their least and largest
    value. Any number may be absent.
    """
    problems = [*_problems(facts)]
    if problems:
        raise UsageError(f"'{path}' is not a model's config: {', '.join(problems)}")


def sizes_of(config: Any) -> dict[str, Any]:
    """Return the sizes and factors that a config of `transformers` has."""
    return {name: getattr(config, name) for name in (*_SIZES, *_FACTORS) if hasattr(config, name)}


def _problems(facts: Mapping[str, Any]) -> Iterable[str]:
    for name, most in _SIZES.items():
        value, least = facts.get(name, 1), 0 if name in _ZERO else 1
        if value is None and name in _OPTIONAL:
            continue
        if type(value) is not int or not least <= value <= most:
            yield f"{name} is {_shown(value)}, but must be {least} to {most}"
    for name in _FACTORS:
        value = facts.get(name, 1.0)
        if value is not None and (type(value) not in (int, float) or not 0 < value < inf):
            yield f"{name} is {_shown(value)}, but must be a number above 0"


def _shown(value: Any) -> str:
    """Return the text of a value, shortened if it is long."""
    text = "null" if value is None else repr(value)
    return text if len(text) <= 24 else f"{text[:16]}... ({len(text)} characters)"
