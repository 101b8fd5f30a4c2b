# SPDX-License-Identifier: Apache-2.0
"""A `config.json` becomes a config of `transformers`, or an error that says why it does not."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from tilewright.errors import UnsupportedError, UsageError, one_line
from tilewright.models.config_sizes import check_sizes, sizes_of
from tilewright.models.json_object import as_object, read_object

FILE = "config.json"
"""What the config is called in a model's folder."""

FAMILIES: Mapping[str, str] = {
    "llama": "Llama",
    "qwen2": "Qwen2",
    "qwen3": "Qwen3",
    "mistral": "Mistral",
    "gpt2": "GPT-2",
    "gemma": "Gemma",
}
"""The families that are supported: `model_type` in a config, and what people call it."""

_ROTARY = ("rope_parameters", "rope_scaling")
"""Where a config says how positions are embedded; the second is its older name."""

_GROWING = ("dynamic", "longrope")
"""Types of rotary embeddings whose frequencies are not the same for every text."""

_RETURNED: Mapping[str, bool] = {
    "return_dict": True,
    "output_attentions": False,
    "output_hidden_states": False,
}
"""What a model is asked to return: its logits, whatever its config would have it add to them."""


def read_config(path: Path) -> Any:
    """
    Return the config in a file. Its code, if it names some, is not run.

    Raises `UsageError` for what is no config, and `UnsupportedError` for models of other families,
    for those that are no causal language models, for quantised weights, for rotary embeddings that
    depend on how long the text is, and for tokens that attend to later ones.
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
        raise UsageError(f"'{path}' is no config of a model: {one_line(error)}") from error
    _check_family(config.model_type, path)
    check_sizes(sizes_of(config), path)
    _check_heads(config, path)
    _check_causal(config, path)
    for name, value in _RETURNED.items():
        setattr(config, name, value)
    return config


def _check_family(family: Any, path: Path) -> None:
    if not isinstance(family, str):
        raise UsageError(f"'{path}' is no config of a model: it has no model_type")
    if family not in FAMILIES:
        remedy = f"supported are {', '.join(FAMILIES.values())}"
        raise UnsupportedError(f"'{path}' is of a model of the family '{family}'", remedy=remedy)


def _check_head(architectures: Any, path: Path) -> None:
    """Raise unless the model predicts the next token; it may leave unsaid what it does."""
    said, remedy = str(architectures), "supported are ...ForCausalLM and GPT2LMHeadModel"
    if not architectures or re.search(r"(ForCausalLM|LMHeadModel)\b", said):
        return
    if not isinstance(architectures, list):
        says = f"'{path}' is no config of a model: its architectures are {architectures!r}"
        raise UsageError(says, remedy=remedy)
    names = " ".join(re.findall(r"\w+", said))
    raise UnsupportedError(
        f"'{path}' is of a {names}, which is no causal language model", remedy=remedy
    )


def _check_plain(facts: dict[str, Any], path: Path) -> None:
    """Raise if the weights are not stored as they are."""
    if facts.get("quantization_config"):
        remedy = "take the model that it was made of, in float32, bfloat16 or float16"
        raise UnsupportedError(f"'{path}' is of a model with quantised weights", remedy=remedy)


def _check_rotary(facts: dict[str, Any], path: Path) -> None:
    """
    Raise for types of rotary embeddings that `transformers` does not know, and for those whose
    frequencies it computes anew when a text grows longer.
    """
    functions = import_module("transformers.modeling_rope_utils").ROPE_INIT_FUNCTIONS
    known = [kind for kind in ("default", *functions) if kind not in _GROWING]
    for place in _ROTARY:
        rotary = as_object(facts.get(place)) or {}
        check_sizes(rotary, path)
        kind = rotary.get("rope_type") or rotary.get("type") or "default"
        if kind in _GROWING:
            raise UnsupportedError(
                f"'{path}' is of a model with rotary embeddings of the type '{kind}', which depend "
                "on how long the text is"
            )
        if kind not in known:
            raise UsageError(
                f"'{path}' is no config of a model: {place} is of the unknown type '{kind}'",
                remedy=f"known are {', '.join(known)}",
            )


def _check_heads(config: Any, path: Path) -> None:
    """Raise for heads that cannot share keys, or not be rotated: a model would fail on its way."""
    heads = config.num_attention_heads
    shared = getattr(config, "num_key_value_heads", None) or heads
    if heads % shared:
        raise UsageError(
            f"'{path}' is no config of a model: {heads} heads of queries cannot share "
            f"{shared} of keys"
        )
    size = getattr(config, "head_dim", None) or config.hidden_size // heads
    if size % 2 and getattr(config, "rope_parameters", None):
        raise UsageError(
            f"'{path}' is no config of a model: heads of size {size} have no halves to rotate"
        )


def _check_causal(config: Any, path: Path) -> None:
    """Raise for a model of a supported family that was made one of embeddings or of diffusion."""
    looks_back = getattr(config, "is_causal", True)
    if looks_back and not getattr(config, "use_bidirectional_attention", False):
        return
    raise UnsupportedError(f"'{path}' is of a model whose tokens attend to those behind them")
