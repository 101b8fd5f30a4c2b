# SPDX-License-Identifier: Apache-2.0
"""
What a checkpoint calls a model's tensors.

A checkpoint of a base model lacks the prefix that the base has in the causal language model, and
one of a larger model may have a prefix too many: GPT-2's on the hub says `wte.weight`, its model
`transformer.wte.weight`. Old checkpoints hold tensors that models now compute or do not use. All
of that is as `transformers` has it (`modeling_utils.py`, `core_model_loading.py`).
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

_FORMER = (r"\.attn\.masked_bias$",)
"""GPT-2's, which `transformers` reports and does not use."""


class Names(NamedTuple):
    """The names of a checkpoint for a model."""

    stored: dict[str, list[str]]
    """For each of the model's names those in the checkpoint, of which there should be one."""
    extra: list[str]
    """The names in the checkpoint that say nothing to the model."""


def match_names(model: Any, stored: Iterable[str]) -> Names:
    """How the names of a checkpoint go with those of a model of `transformers`."""
    own = model.state_dict().keys()
    found = Names({}, [])
    ignored = _ignored(model)
    for name in stored:
        mine = _name_in(own, name, f"{model.base_model_prefix}.")
        if mine in own:
            found.stored.setdefault(mine, []).append(name)
        elif not any(re.search(pattern, mine) for pattern in ignored):
            found.extra.append(name)
    return found


def _name_in(own: Iterable[str], name: str, prefix: str) -> str:
    """`name` as the model has it: as it is, or with or without `prefix`."""
    without = name.removeprefix(prefix)
    return next((n for n in (without, f"{prefix}{name}") if n in own), name)


def _ignored(model: Any) -> list[str]:
    """Patterns of the names that a checkpoint may have, and that are not read."""
    buffers = [name for name, _ in model.named_buffers()]
    patterns = [*(model._keys_to_ignore_on_load_unexpected or ()), *_FORMER]
    if any(name.endswith("rotary_emb.inv_freq") for name in buffers):
        patterns.append(r"rotary_emb\.inv_freq")
    if any(name.endswith("position_ids") for name in buffers):
        patterns.append(r"(^|\.)position_ids$")
    return patterns
