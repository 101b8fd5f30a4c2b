# SPDX-License-Identifier: Apache-2.0
"""
Program that reads a prompt: it fills the cache, and returns the logits of the next token.

    tokens (1, length)   the prompt, padded at its end to the length of its bucket
    last (1)             the position of the prompt's last token
    keys, values         of each layer, written from row 0 on
    -> (vocabulary)      the logits of the token after the prompt

The padding comes after the prompt, where causal attention does not look.
"""

from typing import Any

import torch

from tilewright.frontend.capture import Captured, capture
from tilewright.models.key_values import Filled, Rows, cache_of, mode_of, rows_for

Tensor = torch.Tensor


class Prefill(torch.nn.Module):
    """Module of the program, made from a causal language model of `transformers`."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(
        self, tokens: Tensor, last: Tensor, keys: list[Tensor], values: list[Tensor]
    ) -> Tensor:
        """Return the logits of the token after the prompt, and of no other token."""
        cache = cache_of(Filled(rows) for rows in map(Rows, keys, values))
        output = self.model(
            input_ids=tokens, past_key_values=cache, use_cache=True, logits_to_keep=last
        )
        return output.logits[0, 0]


def capture_prefill(model: Any, length: int, capacity: int) -> Captured:
    """
    Return the captured program for prompts of the bucket `length`, and a cache of `capacity` rows.
    """
    rows = rows_for(model, capacity)
    with mode_of(model):
        tokens, last = torch.zeros(1, length, dtype=torch.int64), torch.zeros(1, dtype=torch.int64)
    return capture(Prefill(model), (tokens, last, *map(list, zip(*rows, strict=True))))
