# SPDX-License-Identifier: Apache-2.0
"""
The program that reads a prompt: it fills the cache, and says what may come next.

    tokens (1, length)   the prompt, filled up at its end to the length of its bucket
    last (1)             where the prompt ends
    keys, values         of each layer, written from row 0 on
    -> (vocabulary)      the logits of the token behind the prompt

What fills up the bucket stands behind the prompt, where causal attention does not look.
"""

from typing import Any

import torch

from tilewright.frontend.capture import Captured, capture
from tilewright.models.key_values import Filled, Rows, cache_of, mode_of, rows_for

Tensor = torch.Tensor


class Prefill(torch.nn.Module):
    """The program, of a causal language model of `transformers`."""

    def __init__(self, model: Any):
        super().__init__()
        self.model = model

    def forward(
        self, tokens: Tensor, last: Tensor, keys: list[Tensor], values: list[Tensor]
    ) -> Tensor:
        """Return the logits behind the last token of the prompt, and of no other."""
        cache = cache_of(Filled(rows) for rows in map(Rows, keys, values))
        output = self.model(
            input_ids=tokens, past_key_values=cache, use_cache=True, logits_to_keep=last
        )
        return output.logits[0, 0]


def capture_prefill(model: Any, length: int, capacity: int) -> Captured:
    """Return the program for prompts of the bucket `length`, and a cache of `capacity` rows."""
    rows = rows_for(model, capacity)
    with mode_of(model):
        tokens, last = torch.zeros(1, length, dtype=torch.int64), torch.zeros(1, dtype=torch.int64)
    return capture(Prefill(model), (tokens, last, *map(list, zip(*rows, strict=True))))
