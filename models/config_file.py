# SPDX-License-Identifier: Apache-2.0
"""
Conversion of a `config.json` into a config of `transformers`, with an error for models that are not
supported.
"""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from tilewright.errors import UnsupportedError, UsageError, one_line
from tilewright.models.config_sizes import check_sizes, sizes_of
from tilewright.models.json_object import as_object, read_object

FILE = "config.json"
"""Name of the config in a model's folder."""

FAMILIES: Mapping[str, str] = {
    "llama": "Llama",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
    "mistral": "Mistral",
    "gpt2": "GPT-2",
    "gemma": "Gemma",
}
"""Usual names of the supported families, by `model_type` in a config."""

_ROTARY = ("rope_parameters", "rope_scaling")
"""Names of the fields of a config that describe rotary embeddings; the second is the older name."""

_GROWING = ("dynamic", "longrope")
"""Names of the types of rotary embeddings whose frequencies depend on the length of the text."""

_RETURNED: Mapping[str, bool] = {
    "return_dict": True,
    "output_attentions": False,
    "output_hidden_states": False,
}
"""
Values of settings with which a model returns its logits only, by the settings' names in a config.
"""


def read_config(path: Path) -> Any:
    """
    Return the config in a file. Code that the config names is not run.

    Raises `UsageError` if the file is no config. Raises `UnsupportedError` for other families,
    models that are no causal language models, quantised weights, rotary embeddings that depend on
    the length of the text, and tokens that attend to later ones.
    """
    facts = read_object(path)
    _check_family(facts.get("model_type"), path)
    _check_head(facts.get("architectures"), path)
    _check_plain(facts, path)
    check_sizes(facts, path)
    _check_rotary(facts, path)
    read: Any = import_module("transformers").AutoConfig.from_pretrained
    try:
        config = read(path, trust_remote_code=False)
    except Exception as error:  # each config class has exceptions of its own
        raise UsageError(f"'{path}' is not a model's config: {one_line(error)}") from error
    _check_family(config.model_type, path)
    check_sizes(sizes_of(config), path)
    _check_heads(config, path)
    _check_causal(config, path)
    for name, value in _RETURNED.items():
        setattr(config, name, value)
    return config


def _check_family(family: Any, path: Path) -> None:
    if not isinstance(family, str):
        raise UsageError(f"'{path}' is not a model's config: it has no model_type")
    if family not in FAMILIES:
        remedy = f"supported are {', '.join(FAMILIES.values())}"
        message = f"'{path}' describes a model of the family '{family}'"
        raise UnsupportedError(message, remedy=remedy)


def _check_head(architectures: Any, path: Path) -> None:
    """
    Raise an error unless the model predicts the next token, or its config names no architecture.

    The error is an `UnsupportedError`, or a `UsageError` if `architectures` is not a list.
    """
    text, remedy = str(architectures), "supported are ...ForCausalLM and GPT2LMHeadModel"
    if not architectures or re.search(r"(ForCausalLM|LMHeadModel)\b", text):
        return
    if not isinstance(architectures, list):
        message = f"'{path}' is not a model's config: its architectures are {architectures!r}"
        raise UsageError(message, remedy=remedy)
    names = " ".join(re.findall(r"\w+", text))
    raise UnsupportedError(
        f"'{path}' describes a {names}, which is not a causal language model", remedy=remedy
    )


def _check_plain(facts: dict[str, Any], path: Path) -> None:
    """Raise `UnsupportedError` if the weights are quantised."""
    if facts.get("quantization_config"):
        remedy = "use the original model, in float32, bfloat16 or float16"
        raise UnsupportedError(f"'{path}' describes a model with quantised weights", remedy=remedy)


def _check_rotary(facts: dict[str, Any], path: Path) -> None:
    """
    Raise an error for types of rotary embeddings that `transformers` does not know, and for types
    whose frequencies it computes anew when a text grows.
    """
    functions = import_module("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS
    known = [kind for kind in ("default", *functions) if kind not in _GROWING]
    for place in _ROTARY:
        rotary = as_object(facts.get(place)) or {}
        check_sizes(rotary, path)
        kind = rotary.get("rope_type") or rotary.get("type") or "default"
        if kind in _GROWING:
            raise UnsupportedError(
                f"'{path}' describes a model with rotary embeddings of the type '{kind}', which "
                "depend on the length of the text"
            )
        if kind not in known:
            raise UsageError(
                f"'{path}' is not a model's config: {place} is of the unknown type '{kind}'",
                remedy=f"known are {', '.join(known)}",
            )


def _check_heads(config: Any, path: Path) -> None:
    """
    Raise `UsageError` if query heads cannot share key heads evenly, or if heads of odd size are to
    be rotated. The model would fail later.
    """
    heads = config.num_attention_heads
    shared = getattr(config, "num_key_value_heads", None) or heads
    if heads % shared:
        raise UsageError(
            f"'{path}' is not a model's config: {heads} query heads cannot share {shared} key heads"
        )
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    if size % 2 and getattr(config, "rope_parameters", None):
        raise UsageError(
            f"'{path}' is not a model's config: heads of odd size {size} cannot be rotated"
        )


def _check_causal(config: Any, path: Path) -> None:
    """
    Raise `UnsupportedError` for a model of a supported family that was made for embeddings or
    diffusion: its tokens attend to later ones.
    """
    looks_back = getattr(config, "is_causal", True)
    if looks_back and not getattr(config, "use_bidirectional_attention", False):
        return
    raise UnsupportedError(f"'{path}' describes a model whose tokens attend to later tokens")
